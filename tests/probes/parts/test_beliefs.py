"""Beliefs from scores, from votes and from files."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from pathlib import Path

import polars as pl
import pytest

from tacit.errors import DataError
from tacit.models.fake import FakeModel
from tacit.probes.base import Answered, Answers
from tacit.probes.parts.beliefs import answers_in, scored, voted
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import TOO_LONG, AnswerScore, Prompt, Scores, ScoringKind, Votes
from tacit.sources.drawings import demo_drawings
from tacit.tables import write_table
from tests.in_order import answers_of, measured_in_order
from tests.probes.parts.measured import belief_of

PEACH = PartsProbe.read(demo_drawings(), ["peach"])
ONE = replace(PEACH, drawings=PEACH.drawings[:1])
GPT3 = {"True": log(0.3), "yes": log(0.1), "1": log(0.05), "FALSE": log(0.1), "wrong": log(0.05)}


@pytest.mark.parametrize(
    ("preset", "known", "expected"),
    [
        ("plain", {"True": log(0.3), "False": log(0.1)}, 0.75),
        ("plain", {"True": -1.0, "False": -1.0}, 0.5),
        ("plain", {"True": -1000.0, "False": 0.0}, 0.0),
        ("plain", {"True": 0.0, "False": -1000.0}, 1.0),
        ("plain", {"False": -1.0}, None),
        ("plain", {"True": -1.0}, None),
        ("gpt3", GPT3, 0.45 / 0.6),
        ("gpt3", {"True": -1.0}, 1.0),
        ("gpt3", {"no": -1.0}, 0.0),
        ("gpt3", {}, None),
    ],
)
def test_a_belief_is_the_share_of_true(
    preset: str, known: dict[str, float], expected: float | None
) -> None:
    """P(True)/(P(True) + P(False)), without overflow; missing where either is missing."""
    found = belief_of(Template.load(preset), known)
    assert found == (expected if expected is None else pytest.approx(expected))


def test_the_probability_of_both_answers_is_reported() -> None:
    """Its median over the questions, computed by hand; a caution if it is small."""
    sides: dict[str, list[float]] = {"True": [], "False": []}

    def score(prompt: Prompt, answer: str) -> float:
        sides[answer].append(-20 - len(prompt.text) / 100 - (answer == "True"))
        return sides[answer][-1]

    findings = ONE.measure(answers_of(ONE, FakeModel(score)))
    masses = [exp(t) + exp(f) for t, f in zip(*sides.values(), strict=True)]
    assert findings.summary["answer_probability"] == pytest.approx(statistics.median(masses))
    assert "Caution: the answers, with" in str(PartsProbe.block(findings))
    probable = findings.with_summary(answer_probability=0.01)
    assert "Caution: the answers, with" not in str(PartsProbe.block(probable))


def test_missing_scores_have_no_probability_of_both_answers() -> None:
    model = FakeModel(lambda _, answer: None if answer == "True" else -1.0)
    findings = ONE.measure(answers_of(ONE, model))
    assert findings.summary["answer_probability"] is None


@pytest.mark.parametrize(("preset", "filled"), [("gpt3", False), ("gpt3-paper", True)])
def test_what_was_not_offered_is_missing_or_filled_in(preset: str, *, filled: bool) -> None:
    """It is left out of the accuracy, or counts as 0.5, which is judged false."""
    probe = replace(ONE, template=Template.load(preset))
    offered = {"True": log(0.4), "no": log(0.1)}
    unoffered = ["surround" in prompt.text for prompt in probe.prompts]
    scores = [
        Scores(tuple(AnswerScore(a, None if no else offered.get(a), 1) for a in prompt.answers))
        for no, prompt in zip(unoffered, probe.prompts, strict=True)
    ]
    findings = measured_in_order(probe, scores)
    n = sum(unoffered)
    expected = (0, n) if filled else (n, 0)
    assert (findings.summary["missing"], findings.summary["filled"]) == expected
    beliefs = {0.8, 0.5} if filled else {0.8}
    assert {round(p, 9) for p in findings.questions["p_true"].drop_nulls()} == beliefs
    accuracy = findings.tables["accuracy"].row(0, named=True)
    missing = 0 if filled else sum("surround" in name for name in probe.gold["relation"])
    assert (accuracy["n"], accuracy["missing"]) == (probe.gold.height - missing, missing)


def frame_of(probe: PartsProbe, answers: Sequence[Scores | Votes]) -> pl.DataFrame:
    return Answers({"questions": Answered(probe.questions, answers)}).frame("questions")


@pytest.mark.parametrize("preset", ["plain", "macaw", "gpt3", "gpt3-paper"])
def test_a_skipped_prompt_has_no_belief_in_any_preset(preset: str) -> None:
    """It was not asked, so that nothing is filled in and no answer counts as improbable."""
    probe = replace(ONE, template=Template.load(preset))
    scores = [ScoringKind().missing(prompt, TOO_LONG) for prompt in probe.prompts]
    scores[0] = Scores(tuple(AnswerScore(a, -1.0, 1) for a in probe.prompts[0].answers))
    found = scored(frame_of(probe, scores), probe.template)
    assert found["p_true"].drop_nulls().len() == 1
    assert not found["filled"].any()


def some(number: int) -> Votes:
    """Other votes for each question; every fifth has no reply that could be read."""
    if number % 5 == 0:
        return Votes({"True": 0, "False": 0}, unparsed=10, truncated=number % 3)
    return Votes({"True": number % 7, "False": 3}, unparsed=2)


def test_a_belief_is_the_share_of_true_among_what_could_be_read() -> None:
    """Missing where nothing could be read; findings are those of the shares as beliefs."""
    votes = [some(number) for number in range(len(ONE.prompts))]
    found = measured_in_order(ONE, votes)
    shares = pl.Series("p_true", [each.share("True") for each in votes], pl.Float64)
    for row, of in zip(found.questions.to_dicts(), votes, strict=True):
        yes, no = of.counts["True"], of.counts["False"]
        assert row["p_true"] == (yes / (yes + no) if yes + no else None)
        assert (row["votes_true"], row["votes_false"]) == (yes, no)
        assert (row["unparsed"], row["truncated"]) == (of.unparsed, of.truncated)
        assert row["filled"] is False
    expected = ONE.measure_beliefs(ONE.questions.with_columns(shares))
    for name, table in expected.tables.items():
        assert found.tables[name].equals(table), name
    assert "answer_probability" not in expected.summary
    assert found.summary["missing"] == shares.null_count()
    assert found.summary["votes"] == {
        "replies": sum(each.parsed + each.unparsed for each in votes),
        "unparsed": sum(each.unparsed for each in votes),
        "truncated": sum(each.truncated for each in votes),
    }


@pytest.mark.parametrize("preset", ["gpt3", "gpt3-paper"])
def test_all_words_of_a_side_count_and_nothing_is_filled_in(preset: str) -> None:
    """Also where the template puts one half in the place of a missing belief."""
    probe = replace(ONE, template=Template.load(preset))
    none = dict.fromkeys(probe.prompts[0].answers, 0)
    votes = [Votes({**none, "yes": 2, "TRUE": 1, "no": 1}), Votes(none, unparsed=4)]
    votes += [Votes({**none, "f": 1})] * (len(probe.prompts) - 2)
    found = voted(frame_of(probe, votes), probe.template)
    assert found["p_true"].to_list()[:3] == [0.75, None, 0.0]


def written(folder: Path, text: str, groups: str = "thing") -> Path:
    path = folder / "beliefs.tsv"
    path.write_text(f"{groups}\tsubject\trelation\tobject\tp_true\n{text}", encoding="utf-8")
    return path


def read(path: Path) -> pl.DataFrame:
    return answers_in(path, PEACH.statements, PEACH.ontology)


def test_beliefs_of_a_file_are_taken_and_the_rest_is_missing(tmp_path: Path) -> None:
    """In the order of the questions; what is empty is missing too."""
    path = written(tmp_path, "peach\tskin\tsurrounds\tflesh\t0.8\npeach\tstone\tinside\tflesh\t\n")
    answers = read(path)
    assert answers.drop("p_true").equals(PEACH.questions)
    known = answers.filter(answers["p_true"].is_not_null())
    assert known.rows() == [("peach", "skin", "surrounds", "flesh", 0.8)]


def test_each_drawing_may_have_beliefs_of_its_own(tmp_path: Path) -> None:
    """With a column annotator, as in a run's own beliefs, answers are those of each drawing."""
    path, statements = tmp_path / "beliefs.parquet", PEACH.statements
    own = pl.col("annotator") == PEACH.drawings[0].annotator

    def answers(p: pl.Expr, rows: pl.DataFrame = statements) -> pl.DataFrame:
        write_table(rows.with_columns(p_true=p), path)
        return read(path)

    alike = answers(pl.lit(0.25))
    assert alike.drop("p_true").equals(PEACH.questions)
    assert set(alike["p_true"]) == {0.25}
    p = pl.when(own).then(0.75).otherwise(0.25)
    assert answers(p).equals(statements.with_columns(p_true=p))
    lone = statements.with_columns(p_true=pl.when(own).then(0.75))
    assert answers(pl.lit(0.75), statements.filter(own)).equals(lone)


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
        (
            "thing\tperson",
            "peach\ta\tskin\tsurrounds\tflesh\t0.8\npeach\tb\tskin\tsurrounds\tflesh\t0.7\n",
            "two different beliefs .*: peach, skin",
        ),
    ],
)
def test_a_file_that_answers_nothing_or_twice_is_refused(
    tmp_path: Path, groups: str, row: str, problem: str
) -> None:
    """A missing belief is one thing, the wrong file another."""
    with pytest.raises(DataError, match=problem):
        read(written(tmp_path, row, groups))


def test_things_that_nobody_drew_are_asked_about_all_the_same(tmp_path: Path) -> None:
    """Every ordered pair of their parts; there is no gold. One part leaves nothing to ask."""
    path = tmp_path / "mine.tsv"
    path.write_text("Everyday thing\tParts\nkettle\tlid, spout, lid\n", encoding="utf-8")
    probe = PartsProbe.read(path)
    assert [drawing.parts for drawing in probe.drawings] == [("lid", "spout")]
    assert probe.questions.height == 2 * 14
    assert probe.gold.is_empty()
    path.write_text("Everyday thing\tParts\nstone\tstone\n", encoding="utf-8")
    with pytest.raises(DataError, match="no questions to ask"):
        PartsProbe.read(path)
