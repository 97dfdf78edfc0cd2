from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import RequestError
from tacit.knowledge.background import Counts
from tacit.probes.consistency.answers import Method
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.reading import Reading
from tacit.sources.anchors import Anchor
from tests.probes.consistency import figures_by_hand as figures
from tests.probes.consistency.asking_by_hand import POSITIVE, Case, Dice, Fact, measured, probe_of
from tests.probes.consistency.run_by_hand import (
    CASES,
    SILENT,
    Run,
    accuracies,
    knows,
    knows_other,
)

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import polars as pl

    from tacit.findings.findings import Findings
    from tests.probes.consistency.asking_by_hand import Says

WORDS = POSITIVE | {"No", "False", "Wrong", "Incorrect", "Negative", "Fail", "Off"}


def yes_and_no(known: set[str], taken: dict[str, str]) -> Says:
    """A model that says yes to some questions, and takes a choice for each anchor's question."""

    def says(text: str, answer: str) -> float:
        if answer in WORDS:
            return 0.0 if (answer in POSITIVE) == any(one in text for one in known) else -9.0
        return 0.0 if any(one in text and answer == taken[one] for one in taken) else -99.0

    return says


def test_what_is_asked(run: Run) -> None:
    """24 prompts for each distinct question and verified choice, 23 for each anchor's choices.

    In the arXiv version 23 and 22.
    """
    variants = 23 if run.metas == 5 else 24
    choices = [len(case.anchor.choices) for case in run.cases]
    expected = variants * len(run.scores)
    # Each choice also behind an empty question.
    expected += 2 * (variants - 1) * len(choices) if "choice" in run.anchoring else 0
    expected += variants * sum(choices) if "verify" in run.anchoring else 0
    assert len(run.probe.prompts) == expected == run.found.summary["prompts"]
    assert sum(len(p.answers) for p in run.probe.prompts[:variants]) == 14 * run.metas


def test_the_counts_of_a_run(run: Run) -> None:
    """What was left out, why, and how often a figure rests on a tie."""
    summary = run.found.summary
    right, scores = run.right, run.background(run.replies)
    able = [bool(case.facts) for case in run.cases]
    replies = run.replies.values()
    anchor_inputs = [
        run.says(prompt.text, answer)
        for name in ("choice", "verify")
        if name in run.anchoring
        for prompt in run.probe.questions.prompts[name]
        for answer in prompt.answers
    ]
    expected = {
        "anchors": 12,
        "without_facts": 1,
        "without_background_score": sum(
            score is None and some for score, some in zip(scores, able, strict=True)
        ),
        "without_answer": sum(one is None for one in right),
        "tied_anchors": sum(taken.tied for taken in run.counting),
        "repeated_choices": 0,
        "facts": len(run.facts),
        "without_negative": sum(fact.negative is None for fact in run.facts),
        "questions": len(run.scores),
        "missing_questions": sum(reply.positive is None for reply in replies),
        "tied_questions": sum(reply.tied for reply in replies),
        "inputs": 14 * run.metas * len(run.scores),
        "inputs_of_several_tokens": 0,
        "inputs_without_score": sum(
            value is None for scores in run.scores.values() for value in scores.values()
        ),
        "facts_without_answer": sum(knows(fact, run.replies) is None for fact in run.facts),
        "negatives_without_answer": sum(
            fact.other is not None and knows_other(fact, run.replies) is None for fact in run.facts
        ),
        "without_margin": 0,
        "anchor_inputs": len(anchor_inputs),
        "anchor_inputs_without_score": anchor_inputs.count(None),
    }
    assert {name: summary[name] for name in expected} == expected
    assert summary["without_background_score"] == 2
    assert summary["without_answer"] == 1


def test_the_background_scores_of_a_run(run: Run) -> None:
    """Each relation's over its distinct facts, then the mean over the relations (Figure 4a)."""
    means = []
    for row in run.rows("background_by_relation"):
        facts = [fact for fact in run.facts if fact.relation == row["relation"]]
        own, other = accuracies(facts, run.replies)
        both = figures.both(own, other)
        means.append(both)
        assert row["facts"] == len(facts)
        assert row["positive_accuracy"] == (None if own is None else float(own))
        assert row["negative_accuracy"] == (None if other is None else float(other))
        assert row["background_score"] == (None if both is None else pytest.approx(float(both)))
    mean = figures.mean(means)
    assert mean is not None
    (score,) = run.rows("background_score")
    assert score["relations"] == len([one for one in means if one is not None])
    assert score["value"] == pytest.approx(float(mean))
    assert score["value_low"] < score["value"] < score["value_high"]


def test_the_anchor_accuracy_of_a_run(run: Run) -> None:
    """Over all answered anchors, and over those that have a fact (Figure 4b)."""
    every, able = run.rows("anchor_accuracy")
    answered = [
        (case, right) for case, right in zip(run.cases, run.right, strict=True) if right is not None
    ]
    for row, of, right in (
        (every, "all", [right for _, right in answered]),
        (able, "with facts", [right for case, right in answered if case.facts]),
    ):
        assert (row["of"], row["n"]) == (of, len(right))
        assert row["value"] == sum(right) / len(right)
        assert row["value_low"] <= row["value"] <= row["value_high"]


SOME = [
    Case(
        Anchor(f"q{at}", f"What is thing {at} for?", ("this", "that", "it"), at % 3, f"c{at // 2}"),
        tuple(
            Fact(f"thing {at}", relation, f"part {k}", f"sky {k}" if k != 1 else None)
            for k, relation in enumerate(("IsA", "HasA", "RelatedTo")[: 1 + at % 3])
        ),
    )
    for at in range(10)
]
TAKEN = {case.anchor.question: "that" for case in SOME}


def test_a_model_that_always_says_yes() -> None:
    """Every background score is exactly a half, and consistency is its chance level."""
    found = measured(probe_of(SOME), lambda _, answer: -1.0 * (answer not in POSITIVE))
    anchors = found.tables["anchors"]
    assert anchors["background_score"].to_list() == [0.5] * 10
    assert anchors["positive_accuracy"].to_list() == [1.0] * 10
    (row,) = found.tables["consistency"].to_dicts()
    assert 0 < row["right"] < row["n"] == 10
    assert row["consistency"] == pytest.approx(row["accuracy"])
    assert row["chance"] == pytest.approx(row["accuracy"])
    assert row["lift"] == pytest.approx(0, abs=1e-12)
    assert (row["auroc"], row["p_value"]) == (0.5, 1.0)


def test_a_model_that_knows_what_it_answers_right() -> None:
    """The facts of the anchors that it gets right, and no others: consistency is 1."""
    mine = [case for case in SOME if case.anchor.answer == 1]
    known = {fact.question for case in mine for fact in case.facts}
    found = measured(probe_of(SOME), yes_and_no(known, TAKEN))
    (row,) = found.tables["consistency"].to_dicts()
    assert (row["n"], row["right"]) == (10, len(mine))
    assert (row["consistency"], row["lift"], row["auroc"]) == (1, 1, 1)
    anchors = found.tables["anchors"]
    assert anchors["background_score"].to_list() == [1.0 if case in mine else 0.5 for case in SOME]
    for relation in found.tables["consistency_by_relation"].to_dicts():
        assert relation["consistency"] == (1 if relation["right"] else None)
    relevance = found.tables["relevance"].row(0, named=True)
    assert (relevance["given_right"], relevance["given_wrong"]) == (1, 0)


@pytest.mark.parametrize(("meta", "pair"), [(6, ("Yes", "No")), (4, ("On", "Off"))])
@pytest.mark.parametrize("fast", [False, True])
def test_a_single_variant_is_asked_alone(meta: int, pair: tuple[str, str], *, fast: bool) -> None:
    """Yes/no questions in one prompt with two words; the choices, too, if the run is fast."""
    reading = Reading(Method("single", meta, pair), ("choice", "verify"), fast)
    probe = probe_of(CASES, reading=reading)
    groups = {name: len(group.requests) for name, group in probe.requests().items()}
    variants = 1 if fast else 23
    assert groups == {
        "background": len(probe.asked.questions),
        "choice": variants * len(CASES),
        "prior": variants * len(CASES),
        "verify": sum(len(case.anchor.choices) for case in CASES),
    }
    every = probe_of(CASES).questions.prompts["background"]
    for prompt in probe.questions.prompts["background"]:
        assert prompt.answers == pair
        assert prompt.text in {one.text for one in every}
    found = measured(probe, SAYS)
    found.check(ConsistencyProbe.tables.values())
    assert set(found.tables["background_variants"]["preset"]) == {"single"}
    assert ("fast" in found.summary) == fast


def test_a_fast_run_cannot_score_choices_after_a_question_of_truth() -> None:
    """The second meta-prompt asks whether something is true."""
    with pytest.raises(RequestError, match="--meta"):
        probe_of(CASES, reading=Reading(Method("single", 2, ("Yes", "No")), fast=True))


def test_another_reading_is_its_row_of_the_ways() -> None:
    """Of the same prompts; the main result is what a run by the paper's method says of it."""
    probe, other = (probe_of(CASES, reading=Reading(Method(one))) for one in ("max", "count"))
    assert list(other.prompts) == list(probe.prompts)
    found = measured(other, SAYS)
    row = measured(probe, SAYS).tables["background_variants"].row(1, named=True)
    assert row["preset"] == "count"
    for name in ("consistency", "lift"):
        assert row[name] == found.tables["consistency"][name].item()
    assert row["missing"] == found.summary["missing_questions"]


def test_a_model_without_scores() -> None:
    """Everything is missing, nothing is invented."""
    found = measured(probe_of(CASES), lambda _text, _answer: None)
    summary = found.summary
    assert summary["missing_questions"] == summary["questions"]
    assert summary["without_answer"] == summary["anchors"] == 12
    assert summary["tied_questions"] == summary["tied_anchors"] == 0
    assert found.tables["consistency"]["consistency"].item() is None
    assert found.tables["background_score"].select("relations", "value").row(0) == (0, None)
    assert found.tables["relevance"]["relevance"][0] is None
    assert found.tables["anchor_accuracy"]["value"].to_list() == [None, None]


def test_a_relation_without_a_template_is_refused() -> None:
    """All of them, and what to do."""
    strange = tuple(Fact("a", relation, "b") for relation in ("Smells", "IsA", "Fears", "Smells"))
    with pytest.raises(RequestError, match="no template for Fears, Smells: add templates with"):
        probe_of([Case(CASES[0].anchor, strange)])


def test_anchors_without_an_answer_are_refused(tmp_path: Path) -> None:
    """The first is named, before the knowledge base is read."""
    row = {"question": "Where?", "choices": ["a", "b"]}
    rows = [{**row, "id": name, "answer": answer} for name, answer in (("p", "a"), ("q", None))]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(RequestError, match=r"1 question has no correct answer \(the first is q\)"):
        ConsistencyProbe.of(ConsistencyOptions(questions, tmp_path / "none.kb"))


def test_anchors_without_any_fact_are_refused() -> None:
    """There would be nothing to ask; what to try is said."""
    with pytest.raises(RequestError, match=r"no question has a background fact .* --length 2"):
        probe_of([Case(case.anchor) for case in CASES]).background.check_facts()


@pytest.mark.parametrize(
    ("version", "method", "problem"),
    [
        ("arxiv", Method("single", 6, ("Yes", "No")), "no meta-prompt 6"),
        ("review", Method("single", 1, ("Yes", "Off")), "no label pair Yes/Off"),
        ("draft", Method(), "unknown paper version 'draft'; expected one of"),
    ],
)
def test_what_cannot_be_read_is_refused_before_it_is_asked(
    version: str, method: Method, problem: str
) -> None:
    """A meta-prompt or pair that the version has not, and a version that is none."""
    with pytest.raises(RequestError, match=problem):
        probe_of(CASES, version, Reading(method))


SAYS = Dice(5, SILENT)


@pytest.fixture(scope="module")
def base() -> Findings:
    return measured(probe_of(CASES[:8]), SAYS)


def by_name(rows: list[dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    return {row[name]: row for row in rows}


def same(one: pl.DataFrame, two: pl.DataFrame) -> None:
    for a, b in zip(one.rows(), two.rows(), strict=True):
        assert a == pytest.approx(b, abs=1e-12)


@settings(max_examples=4, deadline=None)
@given(cases=st.permutations(CASES[:8]))
def test_the_order_of_the_anchors_changes_no_figure(base: Findings, cases: list[Case]) -> None:
    """Nor an interval."""
    found = measured(probe_of(cases), SAYS)
    for name in (
        *("consistency", "consistency_by_relation", "background_by_relation"),
        *("relevance", "background_variants"),
    ):
        same(found.tables[name], base.tables[name])
    mine, first = (by_name(each.tables["anchors"].to_dicts(), "anchor") for each in (found, base))
    assert mine == first


def test_the_counts_of_the_extraction_are_in_the_summary() -> None:
    """Those that the background brings; of a background by hand there are none."""
    counts = Counts(9, 2, 12, 7, 1, None, 0, 0, 50, 40, 10)
    probe = probe_of(CASES)
    assert "question_facts" not in measured(probe, Dice(0)).summary
    counted = replace(probe, background=replace(probe.background, counts=counts))
    summary = measured(counted, Dice(0)).summary
    assert {name: summary[name] for name in asdict(counts)} == asdict(counts)
