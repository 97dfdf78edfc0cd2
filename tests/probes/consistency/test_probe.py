"""A whole run, prompt by prompt and fact by fact."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.probe import ConsistencyProbe
from tests.probes.consistency import asking_by_hand as asking
from tests.probes.consistency.asking_by_hand import (
    PAIRS,
    Case,
    Dice,
    Fact,
    Reply,
    Taken,
    measured,
    probe_of,
)
from tests.probes.consistency.run_by_hand import (
    CASES,
    SILENT,
    Run,
    accuracies,
    both,
    exact,
    figures,
    is_right,
    knows,
    knows_other,
    mean,
)

SAYS = Dice(5, SILENT)


def answer(question: str, reply: Reply) -> list[object]:
    winner = reply.winner
    spoken = [None] * 3 if winner is None else [winner.meta, winner.pair, winner.word]
    return [question, reply.margin, reply.tied, *spoken]


def test_the_answers_about_each_fact_of_a_run(run: Run) -> None:
    """With the margin, and the meta-prompt, pair and word that won; facts first."""
    facts, links = (run.found.tables[name] for name in ("facts", "links"))
    assert [row[1:] for row in facts.iter_rows()] == [*map(tuple, run.facts)]
    of = links.join(facts, on="fact", maintain_order="left").select("anchor", *Fact._fields)
    assert of.rows() == [(case.anchor.id, *fact) for case in run.cases for fact in case.facts]
    expected = [
        [at, "yes", *answer(fact.question, run.replies[fact.question]), knows(fact, run.replies)]
        for at, fact in enumerate(run.facts)
    ] + [
        [at, "no", *answer(fact.other, run.replies[fact.other]), knows_other(fact, run.replies)]
        for at, fact in enumerate(run.facts)
        if fact.other is not None
    ]
    names = ("question", "margin", "tied", "meta", "pair", "word", "right")
    found = run.found.tables["fact_answers"].select("fact", "expected", *names)
    assert [list(row) for row in found.iter_rows()] == expected


def taken(row: dict[str, Any], case: Case, of: Taken) -> bool:
    meta, pair = of.winner or (None, None)
    found = [row[name] for name in ("choice", "right", "tied", "margin", "meta", "pair")]
    return found == [of.choice, is_right(case, of), of.tied, of.margin, meta, pair]


def test_each_anchor_of_a_run(run: Run) -> None:
    """Its background score, what it was answered with and by which variant, and whether right."""
    scores = run.background(run.replies)
    for row, case, score, of in zip(
        run.rows("anchors"), run.cases, scores, run.counting, strict=True
    ):
        anchor = case.anchor
        assert anchor.answer is not None
        assert (row["anchor"], row["question"]) == (anchor.id, anchor.question)
        assert row["answer"] == anchor.choices[anchor.answer]
        assert (row["facts"], row["concept"]) == (len(case.facts), anchor.concept)
        assert row["cluster"] == (anchor.concept or "anchor no concept")
        assert row["background_score"] == (None if score is None else float(score))
        own, other = accuracies(case.facts, run.replies)
        assert row["positive_accuracy"] == (None if own is None else float(own))
        assert row["negative_accuracy"] == (None if other is None else float(other))
        sides = ([by(fact, run.replies) for fact in case.facts] for by in (knows, knows_other))
        counts = [len(side) - side.count(None) for side in sides]
        assert [row["positives"], row["negatives"]] == counts
        assert taken(row, case, of)
    # The other way to answer has a table, and changes nothing of the first.
    assert ("other_answers" in run.found.tables) == (len(run.anchoring) > 1)
    for way in run.anchoring[1:]:
        for row, case, of in zip(run.rows("other_answers"), run.cases, run.taken[way], strict=True):
            assert (row["anchor"], row["method"]) == (case.anchor.id, way)
            assert taken(row, case, of)


def test_every_score_of_every_question_and_choice(run: Run) -> None:
    """84 for each distinct question, 70 in the arXiv version, null where there is no score.

    23 of each choice, 22 in the arXiv version; none when only verifying was asked for.
    """
    rows = run.found.questions.to_dicts()
    assert len(rows) == len(run.scores) * 14 * run.metas
    found = {(r["question"], r["meta"], r["pair"], r["word"]): r["logprob"] for r in rows}
    assert found == {
        (text, one.meta, one.pair, one.word): value
        for text, scores in run.scores.items()
        for one, value in scores.items()
    }
    rows = run.rows("choices")
    variants = 0 if "choice" not in run.anchoring else 22 if run.metas == 5 else 23
    assert len(rows) == variants * sum(len(case.anchor.choices) for case in run.cases)
    assert 2 not in {row["meta"] for row in rows}
    for row in rows:
        assert row["bytes"] == len(row["choice"].encode())
        value = row["logprob"]
        assert row["per_byte"] == (None if value is None else value / row["bytes"])
        if (row["anchor"], row["meta"]) == ("three facts", 1):
            assert value == run.says("Where does a dog live?", row["choice"])


def test_the_counts_of_a_run(run: Run) -> None:
    """What was asked, what was left out, why, and how often a figure rests on a tie.

    24 prompts for each distinct question and verified choice, 23 for each anchor's choices, in the
    arXiv version 23 and 22; the choices also behind an empty question.
    """
    variants = 23 if run.metas == 5 else 24
    choices = [len(case.anchor.choices) for case in run.cases]
    prompts = variants * len(run.scores)
    prompts += 2 * (variants - 1) * len(choices) if "choice" in run.anchoring else 0
    prompts += variants * sum(choices) if "verify" in run.anchoring else 0
    replies = run.replies.values()
    own = [knows(fact, run.replies) for fact in run.facts]
    other = [knows_other(fact, run.replies) for fact in run.facts if fact.other is not None]
    expected = {
        "prompts": prompts,
        "anchors": 12,
        "without_facts": 1,
        "without_background_score": 2,
        "without_answer": 1,
        "tied_anchors": sum(one.tied for one in run.counting),
        "facts": len(run.facts),
        "without_negative": len(own) - len(other),
        "questions": len(run.scores),
        "missing_questions": sum(reply.positive is None for reply in replies),
        "tied_questions": sum(reply.tied for reply in replies),
        "inputs": 14 * run.metas * len(run.scores),
        "inputs_without_score": sum([*of.values()].count(None) for of in run.scores.values()),
        "facts_without_answer": own.count(None),
        "negatives_without_answer": other.count(None),
        "without_margin": 0,
    }
    assert {name: run.found.summary[name] for name in expected} == expected
    assert len(run.probe.prompts) == prompts


def test_the_background_scores_of_a_run(run: Run) -> None:
    """Each relation's over its distinct facts, then the mean over the relations (Figure 4a)."""
    means = []
    for row in run.rows("background_by_relation"):
        facts = [fact for fact in run.facts if fact.relation == row["relation"]]
        own, other = accuracies(facts, run.replies)
        means.append(both(own, other))
        assert row["facts"] == len(facts)
        assert row["positive_accuracy"] == (None if own is None else float(own))
        assert row["negative_accuracy"] == (None if other is None else float(other))
        assert row["background_score"] == exact(means[-1])
    (score,) = run.rows("background_score")
    there = [float(one) for one in means if one is not None]
    assert score["relations"] == len(there)
    assert score["value"] == exact(mean(means))
    low, high = stats.t.interval(0.95, len(there) - 1, np.mean(there), stats.sem(there))
    assert score["value_low"] == pytest.approx(max(0, low))
    assert score["value_high"] == pytest.approx(min(1, high))
    # The anchor accuracy is over all answered anchors, and over those that have a fact (Figure 4b).
    pairs = zip(run.cases, run.right, strict=True)
    answered = [(case, right) for case, right in pairs if right is not None]
    able = [right for case, right in answered if case.facts]
    for row, right in zip(
        run.rows("anchor_accuracy"), ([right for _, right in answered], able), strict=True
    ):
        assert row["n"] == len(right)
        assert row["value"] == sum(right) / len(right)
        assert row["value_low"] <= row["value"] <= row["value_high"]


@pytest.mark.parametrize(
    ("meta", "pair", "fast"), [(6, "Yes/No", False), (4, "On/Off", False), (4, "On/Off", True)]
)
def test_a_single_variant_is_asked_alone(meta: int, pair: str, *, fast: bool) -> None:
    """Yes/no questions in one prompt with two words; the choices, too, if the run is fast."""
    single: dict[str, Any] = {"answering": "single", "meta": meta, "pair": pair}
    probe = probe_of(CASES, anchors="choice,verify", fast=fast, **single)
    variants = 1 if fast else 23
    assert {name: len(group.requests) for name, group in probe.requests().items()} == {
        "background": len(probe.asked.texts),
        "choice": variants * len(CASES),
        "prior": variants * len(CASES),
        "verify": sum(len(case.anchor.choices) for case in CASES),
    }
    every = {one.text for one in probe_of(CASES).prompts}
    asked = probe.prompts[: len(probe.asked.texts)]
    assert {prompt.answers for prompt in asked} == {tuple(pair.split("/"))}
    assert {prompt.text for prompt in asked} <= every
    found = measured(probe, SAYS)
    assert set(found.tables["background_variants"]["preset"]) == {"single"}
    assert ("fast" in found.summary) == fast


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"version": "arxiv", "meta": 6, "pair": "Yes/No"}, "no meta-prompt 6"),
        ({"meta": 1, "pair": "Yes/Off"}, "no label pair Yes/Off"),
        ({"meta": 1}, "--pair"),
        ({"pair": "Yes/No"}, "--meta"),
        ({"answering": "max", "meta": 1}, "--meta"),
        ({"meta": 2, "pair": "Yes/No", "fast": True}, "asks for a truth value"),
    ],
)
def test_a_variant_that_does_not_exist_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        probe_of(CASES, **{"answering": "single", **options})


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    """Facts that cannot be worded, a knowledge base without a fact about any question."""
    questions = tmp_path / "questions.csv"
    questions.write_text("id,question,choices,answer\np,Where?,a|b,a\nq,Where?,a|b,\n")
    with pytest.raises(RequestError, match=r"1 question has no correct answer \(the first is q\)"):
        ConsistencyProbe.of(ConsistencyOptions(questions, tmp_path / "none.kb"))
    strange = tuple(Fact("a", relation, "b") for relation in ("Smells", "IsA", "Fears", "Smells"))
    with pytest.raises(RequestError, match="no template for Fears, Smells: add templates with"):
        probe_of([Case(CASES[0].anchor, strange)])
    with pytest.raises(RequestError, match=r"no question has a background fact .* --length 2"):
        probe_of([Case(case.anchor) for case in CASES]).background.check_facts()


@pytest.fixture(scope="module")
def base() -> Findings:
    return measured(probe_of(CASES[:8]), SAYS)


@pytest.mark.parametrize("cases", [CASES[7::-1], CASES[5:8] + CASES[:5]])
def test_the_order_of_the_anchors_changes_no_figure(base: Findings, cases: Sequence[Case]) -> None:
    found = measured(probe_of(cases), SAYS)
    for name in (
        *("consistency", "consistency_by_relation", "background_by_relation"),
        *("relevance", "background_variants"),
    ):
        for one, two in zip(found.tables[name].rows(), base.tables[name].rows(), strict=True):
            assert one == pytest.approx(two, abs=1e-12)
    assert found.tables["anchors"].sort("anchor").equals(base.tables["anchors"].sort("anchor"))


def check(run: Run, replies: Mapping[str, Reply], *way: object) -> dict[str, Any]:
    """The row of a preset, a meta-prompt and a pair is that of these replies."""
    sides = [accuracies(case.facts, replies) for case in run.cases]
    scored = [(own, other) for own, other in sides if own is not None and other is not None]
    of_pairs = figures(run.pairs(replies))
    (row,) = [
        row
        for row in run.rows("background_variants")
        if (row.pop("preset"), row.pop("meta"), row.pop("pair")) == way
    ]
    assert row == {
        "n": len(scored),
        "positive_accuracy": exact(mean(own for own, _ in scored)),
        "negative_accuracy": exact(mean(other for _, other in scored)),
        "background_score": exact(mean(both(*sides) for sides in scored)),
        **{name: of_pairs[name] for name in ("consistency", "chance", "lift")},
        "missing": sum(reply.positive is None for reply in replies.values()),
        "tied": sum(reply.tied for reply in replies.values()),
    }
    return row


def test_every_way_to_answer_as_by_hand(run: Run) -> None:
    """All inputs by maximum and by count, and 42 single ones, 35 in the arXiv version."""
    rows = run.rows("background_variants")
    together = ["max", "count", "calibrated"]
    assert [row["preset"] for row in rows] == together + ["single"] * 7 * run.metas
    for preset, by in (("max", asking.by_max), ("count", asking.by_count)):
        replies = {text: by(scores) for text, scores in run.scores.items()}
        row = check(run, replies, preset, None, None)
        if preset == run.answering:
            main = run.rows("consistency")[0]
            assert all(main[name] == row[name] for name in ("consistency", "chance", "lift"))
    for meta in range(1, run.metas + 1):
        for pair in ("/".join(words) for words in PAIRS[::3]):
            replies = {
                text: asking.by_single(scores, meta, pair) for text, scores in run.scores.items()
            }
            check(run, replies, "single", meta, pair)


def test_the_preset_calibrated() -> None:
    """Each input's mean subtracted; of scores none of which are equal."""
    run = Run(CASES, Dice(11, SILENT, 10**12))
    tables = asking.calibrated(run.scores)
    replies = {text: asking.by_max(scores) for text, scores in tables.items()}
    row = check(run, replies, "calibrated", None, None)
    assert row != check(run, run.replies, "max", None, None)
