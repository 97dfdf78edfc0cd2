"""How often a model says yes, its verdict, and what its headline announces."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from tacit.findings.verdict import Verdict
from tacit.probes.consistency.background import answered, background_answers
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.sources.anchors import Anchor
from tacit.statistics import Bootstrap
from tests.probes.consistency.asking_by_hand import (
    POSITIVE,
    Case,
    Fact,
    measured,
    probe_of,
)

if TYPE_CHECKING:
    from tacit.findings.findings import Findings
    from tests.probes.consistency.asking_by_hand import Says
    from tests.probes.consistency.run_by_hand import Run

QUESTIONS = [
    Case(
        Anchor(f"q{at}", f"What is thing {at} for?", ("this", "that"), at % 2, f"c{at // 2}"),
        tuple(Fact(f"thing {at}", "IsA", f"kind {k}", f"sky {k}") for k in range(1 + at % 3)),
    )
    for at in range(80)
]


def _drawn(*of: str) -> float:
    return random.Random("".join(of)).random()  # noqa: S311 - nothing is secret


def model(known: int, right: int, yes: float = 0.5) -> Says:
    """A model that knows a part of 80 questions' facts, and answers a part of the questions.

    ``yes`` is the share of the other background questions that it answers with yes.
    """

    def says(text: str, answer: str) -> float:
        at = int(text.partition("thing ")[2].partition(" ")[0] or 0)
        noise = _drawn(text, answer)
        if answer in {"this", "that"}:
            correct = ("this", "that")[at % 2]
            return -noise - float((answer == correct) != (at < right))
        asked = (text.partition("Question: ")[2] or text).partition("?")[0]
        said = "sky" not in text if at < known else _drawn(asked) < yes
        return -noise / 8 - float((answer in POSITIVE) != said)

    return says


def found(says: Says) -> Findings:
    return measured(probe_of(QUESTIONS), says)


def test_the_figures_are_those_of_sklearn(run: Run) -> None:
    """Over the distinct questions that the model answered."""
    rows = [
        (gold, run.replies[q])
        for gold, q in questions_of(run)
        if run.replies[q].positive is not None
    ]
    gold = [one for one, _ in rows]
    yes = [bool(reply.positive) for _, reply in rows]
    (row,) = run.rows("background_answers")
    assert (row["n"], row["facts"]) == (len(rows), sum(gold))
    assert row["yes"] == pytest.approx(np.mean(yes))
    assert row["yes_facts"] == pytest.approx(
        np.mean([y for y, g in zip(yes, gold, strict=True) if g])
    )
    assert row["yes_negatives"] == pytest.approx(
        np.mean([y for y, g in zip(yes, gold, strict=True) if not g])
    )
    margins = [float(reply.margin or 0) for _, reply in rows]
    assert row["auroc"] == pytest.approx(roc_auc_score(gold, margins))
    assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, yes))
    assert row["auroc_low"] < row["auroc"] < row["auroc_high"]


def questions_of(run: Run) -> list[tuple[bool, str]]:
    both = [(True, fact.question) for fact in run.facts]
    both += [(False, fact.other) for fact in run.facts if fact.other is not None]
    return list(dict.fromkeys(both))


def test_intervals_resample_the_concepts() -> None:
    """The interval is that of sklearn's figures over the same draws of concepts."""
    tables = found(model(40, 20)).tables
    rows = answered(tables["facts"], tables["links"], tables["anchors"])
    bootstrap = Bootstrap(200)
    (row,) = background_answers(rows, bootstrap).to_dicts()
    names = sorted(rows["cluster"].unique())
    (draws,) = bootstrap.draws(len(names))
    times = draws[:, [names.index(one) for one in rows["cluster"]]]
    columns = [rows[name].to_numpy() for name in ("gold", "yes", "margin")]
    gold, yes, margin = columns
    areas = [roc_auc_score(gold, margin, sample_weight=one) for one in times]
    accuracies = [balanced_accuracy_score(gold, yes, sample_weight=one) for one in times]
    for name, values in (("auroc", areas), ("balanced_accuracy", accuracies)):
        ends = np.quantile(values, [0.025, 0.975])
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends)


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        (model(0, 40, yes=1), "constant"),
        (model(0, 40, yes=0), "constant"),
        (model(80, 80), "too few data"),
        (model(0, 40), "no signal"),
        (model(40, 0), "too few data"),
        (model(40, 40), "clear"),
    ],
)
def test_the_verdict_on_models_by_hand(says: Says, verdict: str) -> None:
    """The block begins with it; a lift is announced under weak and clear alone."""
    findings = found(says)
    of = Verdict.of(findings.summary["verdict"])
    assert of.name == verdict
    block = ConsistencyProbe.block(findings)
    assert block.verdict == of
    assert ("adjusted lift of the background" in str(block)) == of.shows_something
    assert len(block.lines) <= 4


def test_a_model_without_answers_has_too_few_data() -> None:
    """Nothing is said of yes."""
    findings = found(lambda _text, _answer: None)
    assert findings.summary["verdict"]["verdict"] == "too few data"
    assert findings.tables["background_answers"]["auroc"].item() is None
    assert "Yes to" not in str(ConsistencyProbe.block(findings))


def test_irrelevant_background_that_predicts_as_well_makes_a_result_weak() -> None:
    """The lift must exceed the lift of the control."""
    from tacit.probes.consistency.block import verdict_of
    from tacit.probes.consistency.controls import IRRELEVANT

    tables = found(model(40, 40)).tables
    rows = answered(tables["facts"], tables["links"], tables["anchors"])
    for other, name in ((None, "clear"), (0.0, "clear"), (1.0, "weak")):
        controls = pl.DataFrame({"background": [IRRELEVANT], "lift_adjusted": [other]})
        assert verdict_of(rows, {**tables, "controls": controls}).name == name
