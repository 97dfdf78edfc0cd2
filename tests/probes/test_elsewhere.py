from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.errors import DataError
from tacit.probes.parts.elsewhere import answers_in
from tacit.probes.parts.probe import PartsProbe
from tacit.sources.drawings import demo_drawings, is_things, read_things, undrawn
from tacit.tables import write_table

if TYPE_CHECKING:
    from pathlib import Path

PROBE = PartsProbe.read(demo_drawings(), ["peach"])


def written(folder: Path, text: str) -> Path:
    """A file of beliefs."""
    path = folder / "beliefs.tsv"
    path.write_text(f"thing\tsubject\trelation\tobject\tp_true\n{text}", encoding="utf-8")
    return path


def test_beliefs_of_a_file_are_taken_and_the_rest_is_missing(tmp_path: Path) -> None:
    """In the order of the questions; what is empty is missing too."""
    path = written(tmp_path, "peach\tskin\tsurrounds\tflesh\t0.8\npeach\tstone\tinside\tflesh\t\n")
    answers = answers_in(path, PROBE.questions, PROBE.ontology)
    assert answers.drop("p_true").equals(PROBE.questions)
    known = answers.filter(answers["p_true"].is_not_null())
    assert known.rows() == [("peach", "skin", "surrounds", "flesh", 0.8)]


def test_every_drawing_may_give_its_own_row(tmp_path: Path) -> None:
    """With a column annotator, as a run's own beliefs have it."""
    import polars as pl

    rows = PROBE.statements.with_columns(pl.lit(0.25).alias("p_true"))
    write_table(rows, tmp_path / "beliefs.parquet")
    answers = answers_in(tmp_path / "beliefs.parquet", PROBE.questions, PROBE.ontology)
    assert answers["p_true"].to_list() == [0.25] * PROBE.questions.height


def test_two_beliefs_about_one_question_are_refused(tmp_path: Path) -> None:
    """Where the drawings' rows differ."""
    path = tmp_path / "beliefs.tsv"
    path.write_text(
        "thing\tannotator\tsubject\trelation\tobject\tp_true\n"
        "peach\ta\tskin\tsurrounds\tflesh\t0.8\npeach\tb\tskin\tsurrounds\tflesh\t0.7\n",
        encoding="utf-8",
    )
    with pytest.raises(DataError, match="two beliefs about one question: peach, skin"):
        answers_in(path, PROBE.questions, PROBE.ontology)


def test_a_file_that_answers_nothing_is_refused(tmp_path: Path) -> None:
    """A missing belief is one thing, the wrong file another."""
    path = written(tmp_path, "plum\tskin\tsurrounds\tflesh\t0.8\n")
    with pytest.raises(DataError, match="answers none of the questions"):
        answers_in(path, PROBE.questions, PROBE.ontology)


def test_a_file_of_empty_beliefs_is_refused(tmp_path: Path) -> None:
    """It says nothing of any question."""
    path = written(tmp_path, "peach\tskin\tsurrounds\tflesh\t\n")
    with pytest.raises(DataError, match="p_true is empty"):
        answers_in(path, PROBE.questions, PROBE.ontology)


def test_a_file_without_things_is_refused(tmp_path: Path) -> None:
    """The parts must be parts of something."""
    path = tmp_path / "beliefs.csv"
    path.write_text("subject,relation,object,p_true\nskin,surrounds,flesh,0.8\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column thing"):
        answers_in(path, PROBE.questions, PROBE.ontology)


def test_things_that_nobody_drew_are_asked_about_all_the_same(tmp_path: Path) -> None:
    """Every ordered pair of their parts; there is no gold."""
    path = tmp_path / "mine.tsv"
    path.write_text("Everyday thing\tParts\nkettle\tlid, spout, lid\n", encoding="utf-8")
    probe = PartsProbe.read(path)
    assert [drawing.parts for drawing in probe.drawings] == [("lid", "spout")]
    assert probe.questions.height == 2 * 14
    assert probe.gold.is_empty()


def test_a_folder_of_things_alone_has_no_drawings(tmp_path: Path) -> None:
    """One with annotations has."""
    (tmp_path / "things.tsv").write_text("Everyday thing\tParts\ncup\thandle, rim\n")
    assert is_things(tmp_path)
    assert [drawing.thing for drawing in undrawn(tmp_path)] == ["cup"]
    assert not is_things(demo_drawings())
    assert set(read_things(demo_drawings())) == {"lantern", "peach", "watering can"}


def test_a_thing_with_one_part_leaves_nothing_to_ask(tmp_path: Path) -> None:
    """Which is said."""
    path = tmp_path / "mine.tsv"
    path.write_text("Everyday thing\tParts\nstone\tstone\n", encoding="utf-8")
    with pytest.raises(DataError, match="nothing to ask"):
        PartsProbe.read(path)
