"""Export of charts to files."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl
import pytest

from tacit.charts.save import FORMATS, check_formats, drawn, write_svg
from tacit.charts.theme import HOUSE, palette_of
from tacit.errors import RequestError, WorkError


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
