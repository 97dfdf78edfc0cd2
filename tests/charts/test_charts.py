"""How figures call models, what they say and how they look, and their export to files."""

from collections.abc import Mapping
from importlib import import_module
from inspect import getmembers, isfunction
from pathlib import Path

import altair as alt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.charts.figures import Text
from tacit.charts.panels import bounds
from tacit.charts.save import FORMATS, check_formats, drawn, write_svg
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE, PALETTES, SHAPES, Palette, mixed, palette_of, series
from tacit.errors import RequestError, WorkError
from tacit.findings.findings import Findings

OPT = {"x/opt-125m": 125_000_000, "x/opt-1.3b": 1_300_000_000}
SIZES: dict[str, int | None] = {"y/gpt2": 124_000_000, "server": None, **OPT}


def shown(*names: str, sizes: Mapping[str, int | None] | None = None) -> Shown:
    """Models of these names without findings."""
    return Shown({name: Findings(pl.DataFrame(), {}) for name in names}, sizes or {}, HOUSE)


def test_a_model_is_called_by_the_end_of_its_name() -> None:
    """When that tells all apart; where sizes are known, the smallest comes first."""
    assert list(shown("a/two", "b/one/").labels.values()) == ["two", "one"]
    assert list(shown("a/one", "b/one").labels.values()) == ["a/one", "b/one"]
    assert list(shown("http://host/v1").labels.values()) == ["http://host/v1"]
    by_size = shown(*reversed(OPT), "y/gpt2", sizes=SIZES)
    assert list(by_size.labels.values()) == ["gpt2", "opt-125m", "opt-1.3b"]


def test_two_sizes_make_an_axis() -> None:
    """Not one, nor the same twice, nor where one is not known; an unknown family is its own."""
    assert shown(*OPT, sizes=OPT).by_size
    for sizes in ({}, {"a": 5}, {"a": 5, "b": 5}, {"a": 5, "b": 0}):
        assert not shown("a", "b", sizes=sizes).by_size
    assert not shown("server", *OPT, sizes=SIZES).by_size
    models = Shown(shown(*OPT, "y/gpt2").found, {}, HOUSE, {"x/opt-125m": "opt", "y/gpt2": "opt"})
    assert models.families == {"opt-125m": "opt", "opt-1.3b": "opt-1.3b", "gpt2": "opt"}


def test_a_clipped_chart_gives_the_same_bytes(tmp_path: Path) -> None:
    """The converter numbers clip paths through the life of the process; we do not."""
    table = pl.DataFrame({"x": [1, 2], "y": [3, 4]})
    chart = alt.vconcat(alt.Chart(table).mark_line(clip=True).encode(x="x", y="y")).to_dict()
    svg = drawn(chart, HOUSE)
    assert svg == drawn(chart, HOUSE)
    assert 'id="clip0"' in svg
    assert "url(#clip0)" in svg
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    files = write_svg(svg, tmp_path / "x", FORMATS)
    assert [begins[file.suffix] == file.read_bytes()[:4] for file in files] == [True] * 3


def test_an_unknown_format_or_palette_is_refused() -> None:
    with pytest.raises(RequestError, match="gif; expected svg, png, pdf"):
        check_formats(["svg", "gif"])
    with pytest.raises(RequestError, match="no palette 'pink'"):
        palette_of("pink")


def test_a_figure_that_is_no_svg_is_an_error(tmp_path: Path) -> None:
    """The converter's exception is translated, and names the file."""
    with pytest.raises(WorkError, match=r"x\.png"):
        write_svg("<svg", tmp_path / "x", ["png"])


def test_a_line_of_a_caption_without_a_value_is_left_out() -> None:
    """A placeholder that the figure does not name is an error."""
    text = Text("title", "reading", ("n = {n}", "fixed", "not drawn: {left}"))
    assert list(text.filled({"n": 3, "left": None})) == ["n = 3", "fixed"]
    with pytest.raises(KeyError):
        list(text.filled({"n": 3}))


@pytest.mark.parametrize("probe", ["parts", "consistency", "assumptions"])
def test_every_figure_has_its_texts(probe: str) -> None:
    """And every text a function of its name."""
    module = import_module(f"tacit.probes.{probe}.figures")
    assert [module.FIGURES[name].name for name in module.FIGURES] == list(module.FIGURES)
    functions = getmembers(module, isfunction)
    drawing = {name for name, of in functions if of.__annotations__.get("return") == "Drawn | None"}
    public = {name for name in drawing if not name.startswith("_")}
    assert public | {"size_of_models"} == set(module.FIGURES)


@given(st.lists(st.one_of(st.none(), st.floats(-1, 1)), max_size=6))
def test_an_axis_holds_its_values(values: list[float | None]) -> None:
    low, high = bounds(values)
    assert -1 <= low < high <= 1
    assert all(low <= value <= high for value in values if value is not None)


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return sum(share * each for share, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_words_have_contrast(palette: Palette) -> None:
    """Every colour that words are written in has a contrast with white of 3.5, ink and grey 4.5."""
    for colour in (palette.ink, palette.muted):
        assert 1.05 / (luminance(colour) + 0.05) > 4.5
    for colour in palette.faults:
        assert 1.05 / (luminance(colour) + 0.05) > 3.5
    for hue in (palette.before, palette.after["paper"], palette.after["log-odds"]):
        assert (luminance(mixed(hue, 1)) + 0.05) / (luminance(palette.ink) + 0.05) > 4.5
        assert mixed(hue, 7) == mixed(hue, 1)
        assert mixed(hue, 0) == "#ffffff"


def test_series_differ_in_hue_shape_or_dash() -> None:
    """In hue and shape up to eight; also when there are more of them than hues."""
    for palette in PALETTES.values():
        assert len({*palette.series}) == len({*SHAPES}) == len(palette.series) == 8
    looks = [
        (one.hue, one.shape, one.dash) for one in series(map(str, range(12)), PALETTES["house"])
    ]
    assert len(set(looks)) == 12
