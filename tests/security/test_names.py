import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.charts.save import drawn, write_charts, write_svg
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.coherence.ontology import Ontology
from tacit.files import file_name
from tacit.probes.parts.details import graph_files
from tacit.probes.parts.figures import FIGURES
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.runs.workflow import folders_of
from tacit.sources.drawings import Drawing

EVIL = (
    "../../outside",
    "/etc/outside",
    "..\\outside",
    "C:\\outside",
    "CON",
    "nul.txt",
    "a\0b",
    "a\nb\x1b[31m",
    "..",
    ".",
    "x" * 400,
    "字" * 400,
    "\u202egpj.exe",
)


@given(st.text() | st.sampled_from(EVIL))
def test_any_words_give_a_name_that_is_one_harmless_file_s(words: str) -> None:
    """On any file system: no folders, no devices, no control characters, not too long."""
    name = file_name(words)
    assert re.fullmatch(r"[\w.-]{1,101}", name)
    assert len(name.encode()) <= 201
    assert name.strip(".") == name
    assert len(Path("folder", name).parts) == 2
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", name)


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("gpt2", "Llama-3.1-8B_Instruct", "café"):
        assert file_name(name) == name
    assert file_name("EleutherAI/pythia-160m") == "EleutherAI-pythia-160m"


@pytest.mark.parametrize("models", [EVIL, ("..", "."), ("CON", "con"), ("a/b", "a:b", "a-b")])
def test_the_folders_of_models_lie_in_the_run_s_folder(
    tmp_path: Path, models: Sequence[str]
) -> None:
    """Each has its own, directly in it, on file systems without case too."""
    out = tmp_path / "out"
    places = [folder for folder in folders_of(models, out).values() if folder]
    assert all(place.parent == out for place in places)
    assert len({place.name.casefold() for place in places}) == len(models)
    for place in places:
        place.mkdir(parents=True)
        assert place.resolve().parent == out.resolve()


def test_the_graphs_of_things_lie_in_the_figures_folder(tmp_path: Path) -> None:
    things = (*EVIL[:8], "EGG", "egg")
    drawings = [
        Drawing(thing, annotator, ("yolk", "shell"), (("yolk", "inside", "shell"),))
        for thing, annotator in zip(things, [*EVIL[:8], "me", "me"], strict=True)
    ]
    ontology = Ontology.load("parts")
    probe = PartsProbe(drawings, ontology, Template.load("plain"))
    findings = probe.measure_beliefs(probe.questions.with_columns(pl.lit(0.7).alias("p_true")))
    folder = tmp_path / "a" / "figures"
    shown = Shown({"m": findings}, {}, HOUSE)
    written = write_charts(FIGURES, shown, folder, ("svg",))
    for name, graph in graph_files(shown, ontology, things).items():
        written += write_svg(drawn(graph, shown.colours), folder / name, ("svg",))
    graphs = [path for path in written if path.name.startswith("parts_graph")]
    assert len({path.name.casefold() for path in graphs}) == len(drawings)
    assert {path.parent for path in written} == {folder}
    assert all(re.fullmatch(r"[\w.-]+", path.name) for path in written)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
