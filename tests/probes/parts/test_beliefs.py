from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tacit.errors import DataError
from tacit.probes.parts.beliefs import answers_in
from tacit.probes.parts.probe import PartsProbe
from tacit.sources.drawings import demo_drawings
from tacit.tables import write_table

PROBE = PartsProbe.read(demo_drawings(), ["peach"])


def written(folder: Path, text: str, groups: str = "thing") -> Path:
    path = folder / "beliefs.tsv"
    path.write_text(f"{groups}\tsubject\trelation\tobject\tp_true\n{text}", encoding="utf-8")
    return path


def test_beliefs_of_a_file_are_taken_and_the_rest_is_missing(tmp_path: Path) -> None:
    """In the order of the questions; what is empty is missing too."""
    path = written(tmp_path, "peach\tskin\tsurrounds\tflesh\t0.8\npeach\tstone\tinside\tflesh\t\n")
    answers = answers_in(path, PROBE.statements, PROBE.ontology)
    assert answers.drop("p_true").equals(PROBE.questions)
    known = answers.filter(answers["p_true"].is_not_null())
    assert known.rows() == [("peach", "skin", "surrounds", "flesh", 0.8)]


def own_rows(folder: Path, p: Callable[[str], float | None]) -> Path:
    """A file with a row for each statement of each drawing; p is of the annotator."""
    beliefs = [p(row[1]) for row in PROBE.statements.iter_rows()]
    path = folder / "beliefs.parquet"
    write_table(PROBE.statements.with_columns(p_true=pl.Series(beliefs, dtype=pl.Float64)), path)
    return path


def test_drawings_that_agree_share_their_questions(tmp_path: Path) -> None:
    """With a column annotator, as a run's own beliefs have it, each question counts once."""
    answers = answers_in(own_rows(tmp_path, lambda _: 0.25), PROBE.statements, PROBE.ontology)
    assert answers.drop("p_true").equals(PROBE.questions)
    assert answers["p_true"].to_list() == [0.25] * PROBE.questions.height


def test_each_drawing_may_have_beliefs_of_its_own(tmp_path: Path) -> None:
    """Where the drawings' rows differ, the answers are those of each drawing."""
    first = PROBE.drawings[0].annotator
    path = own_rows(tmp_path, lambda annotator: 0.75 if annotator == first else 0.25)
    answers = answers_in(path, PROBE.statements, PROBE.ontology)
    assert answers.drop("p_true").equals(PROBE.statements)
    by_annotator = answers.group_by("annotator").agg(pl.col("p_true").unique())
    assert all(p == [0.75 if name == first else 0.25] for name, p in by_annotator.iter_rows())


def test_a_drawing_without_a_row_has_no_belief(tmp_path: Path) -> None:
    """What one annotator's rows say is not taken for another's."""
    first = PROBE.drawings[0].annotator
    rows = PROBE.statements.filter(pl.col("annotator") == first)
    write_table(rows.with_columns(p_true=pl.lit(0.75)), tmp_path / "beliefs.csv")
    answers = answers_in(tmp_path / "beliefs.csv", PROBE.statements, PROBE.ontology)
    known = answers.filter(pl.col("p_true").is_not_null())
    assert known["annotator"].unique().to_list() == [first]
    assert known.height == rows.height


def test_two_beliefs_about_one_question_are_refused(tmp_path: Path) -> None:
    """Without a column annotator, rows of two groups that differ cannot both be taken."""
    rows = "\ta\tskin\tsurrounds\tflesh\t0.8\npeach\tb\tskin\tsurrounds\tflesh\t0.7\n"
    path = written(tmp_path, f"peach{rows}", "thing\tperson")
    with pytest.raises(DataError, match=r"two different beliefs .*: peach, skin"):
        answers_in(path, PROBE.statements, PROBE.ontology)


@pytest.mark.parametrize(
    ("groups", "row", "problem"),
    [
        ("thing", "plum\tskin\tsurrounds\tflesh\t0.8\n", "matches none of the questions"),
        ("thing", "peach\tskin\tsurrounds\tflesh\t\n", "p_true is empty"),
        (
            "thing\tannotator",
            "peach\tnobody\tskin\tsurrounds\tflesh\t0.8\n",
            "write things, annotators and parts",
        ),
    ],
)
def test_a_file_that_answers_nothing_is_refused(
    tmp_path: Path, groups: str, row: str, problem: str
) -> None:
    """A missing belief is one thing, the wrong file another."""
    with pytest.raises(DataError, match=problem):
        answers_in(written(tmp_path, row, groups), PROBE.statements, PROBE.ontology)


def test_things_that_nobody_drew_are_asked_about_all_the_same(tmp_path: Path) -> None:
    """Every ordered pair of their parts; there is no gold."""
    path = tmp_path / "mine.tsv"
    path.write_text("Everyday thing\tParts\nkettle\tlid, spout, lid\n", encoding="utf-8")
    probe = PartsProbe.read(path)
    assert [drawing.parts for drawing in probe.drawings] == [("lid", "spout")]
    assert probe.questions.height == 2 * 14
    assert probe.gold.is_empty()


def test_a_thing_with_one_part_leaves_nothing_to_ask(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("Everyday thing\tParts\nstone\tstone\n", encoding="utf-8")
    with pytest.raises(DataError, match="no questions to ask"):
        PartsProbe.read(path)
