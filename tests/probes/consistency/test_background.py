"""Background scores, relevance, how often a model says yes, and models of a known result."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from tacit.findings.findings import Findings
from tacit.findings.verdict import Verdict
from tacit.probes.consistency import background, predictors, results
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.block import verdict_of
from tacit.probes.consistency.controls import IRRELEVANT
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations
from tests.probes.consistency.asking_by_hand import answers_of, probe_of
from tests.probes.consistency.planted_by_hand import QUESTIONS, model, planted
from tests.probes.consistency.run_by_hand import Run, exact, knows, mean, share
from tests.statistics.samples import resampled

Answer = bool | None
# Of the anchor: its facts' own questions and their negatives', whether answered right.
Row = tuple[int, Answer, Answer]

FEW = Permutations(199)


def answers(rows: Sequence[Row]) -> pl.DataFrame:
    """The answers about facts, one fact for each row, with the anchor."""
    return pl.DataFrame(
        [
            (anchor, at, expected, right)
            for at, (anchor, own, other) in enumerate(rows)
            for expected, right in (("yes", own), ("no", other))
        ],
        {"anchor": pl.Int64, "fact": pl.Int64, "expected": pl.String, "right": pl.Boolean},
        orient="row",
    )


def test_scores_equal_on_paper_are_tied() -> None:
    """1/5 and 2/5 make the same as 3/5 and 0, though 0.2 + 0.4 is not 0.6 in floating point."""
    rows: list[Row] = [
        (at, k < own, k < other) for at, own, other in ((0, 1, 2), (1, 3, 0)) for k in range(5)
    ]
    assert (1 / 5 + 2 / 5) / 2 != (3 / 5 + 0) / 2
    assert background.by_anchor(answers(rows))["background_score"].to_list() == [0.3, 0.3]


def test_the_interval_of_a_relation_clusters_by_head() -> None:
    """Facts of one head tell as much as one fact: an interval needs two heads."""
    rows: list[Row] = [(0, k % 2 == 0, k % 3 == 0) for k in range(10)]
    none = pl.DataFrame()
    for heads in (list("abcde") * 2, ["dog"] * 10):
        facts = pl.DataFrame({"fact": range(10), "relation": "IsA", "head": heads})
        found = ModelAnswers(facts, none, answers(rows), none, none)
        (row,) = background.by_relation(found, Bootstrap(500)).to_dicts()
        assert row["background_score"] is not None
        assert (row["background_score_low"] is None) == (len({*heads}) == 1)


def test_the_relevance_of_a_run(run: Run) -> None:
    """Each fact counts once, with the share of its answered anchors that are right."""
    for row in run.rows("relevance"):
        each = [
            (
                knows(fact, run.replies),
                share(right for at, right in enumerate(run.right) if fact in run.cases[at].facts),
            )
            for fact in run.facts
            if row["relation"] in {"all", fact.relation}
        ]
        there = [(own, right) for own, right in each if own is not None and right is not None]
        given = [mean(right for own, right in there if own is side) for side in (True, False)]
        accuracy = mean(right for _, right in there)
        assert row["facts_right"] == sum(own for own, _ in there)
        assert row["facts_wrong"] == len(there) - row["facts_right"]
        assert [row["given_right"], row["given_wrong"]] == [exact(one) for one in given]
        assert row["accuracy"] == exact(accuracy)
        gain = None if given[0] is None or accuracy is None else given[0] - accuracy
        assert row["relevance"] == exact(gain)
    assert {row["relation"] for row in run.rows("relevance")} == {
        "all",
        *(fact.relation for fact in run.facts),
    }


def test_a_p_value_needs_20_facts_on_either_side() -> None:
    """The counts of either side are there; with 20 right there is a p-value."""
    random = np.random.default_rng(0)
    of = random.integers(0, 400, 1151)
    right = (random.random(400) < 0.4)[of]
    for few in (6, 20, 1145):
        facts = pl.DataFrame({"fact": range(1151), "cluster": of, "right": right})
        row = background.gain(facts.with_columns(known=pl.col("fact") < few), FEW)
        assert (row["facts_right"], row["facts_wrong"]) == (few, 1151 - few)
        assert row["relevance"] is not None
        assert (row["p_value"] is None) == (few != 20)


def drawn(items: int, share: float, seed: int, slope: float = 0.0, size: int = 3) -> pl.DataFrame:
    """Facts with their questions: which are known, in which cluster, and what is right."""
    random = np.random.default_rng(seed)
    cluster = np.arange(items) // size
    level = random.normal(size=items)[cluster]
    known = random.random(items) < share * np.exp(0.5 * level)
    right = random.random(items) < 1 / (1 + np.exp(-slope * level))
    second = random.integers(0, items, items // 5)
    fact = np.concatenate([np.arange(items), np.arange(items // 5)])
    link = np.concatenate([np.arange(items), second])
    columns = {"known": known[fact], "cluster": cluster[link], "right": right[link]}
    return pl.DataFrame({"fact": fact, **columns})


def test_p_values_are_small_where_knowledge_matters_and_else_as_often_as_they_say() -> None:
    """Of 300 samples with 10 % of 420 facts known, in clusters of 7, within 3 in 100."""
    gain = background.gain
    small = [gain(drawn(420, 0.1, seed, size=7), FEW)["p_value"] for seed in range(300)]
    assert np.mean([p <= 0.05 for p in small if p is not None]) == pytest.approx(0.05, abs=0.03)
    assert gain(drawn(600, 0.4, 0, slope=2.0), FEW)["p_value"] == 1 / 200


@cache
def answered() -> pl.DataFrame:
    probe = probe_of(QUESTIONS)
    scores = results.scored(probe, answers_of(probe, model(40, 40)))
    return background.distinct_answers(results.model_answers(probe, scores))


def test_the_figures_are_those_of_sklearn(run: Run) -> None:
    both = [(True, fact.question) for fact in run.facts]
    both += [(False, fact.other) for fact in run.facts if fact.other is not None]
    replies = [(gold, run.replies[text]) for gold, text in dict.fromkeys(both)]
    known = [(gold, reply) for gold, reply in replies if reply.positive is not None]
    gold = np.array([one for one, _ in known])
    yes = np.array([bool(reply.positive) for _, reply in known])
    (row,) = run.rows("background_answers")
    assert (row["n"], row["facts"]) == (len(known), sum(gold))
    assert row["yes"] == pytest.approx(yes.mean())
    assert row["yes_facts"] == pytest.approx(yes[gold].mean())
    assert row["yes_negatives"] == pytest.approx(yes[~gold].mean())
    assert row["auroc"] == pytest.approx(
        roc_auc_score(gold, [float(reply.margin or 0) for _, reply in known])
    )
    assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, yes))
    assert row["auroc_low"] < row["auroc"] < row["auroc_high"]


def test_intervals_resample_the_concepts() -> None:
    """The interval is that of sklearn's figures over the same draws of concepts."""
    rows = answered()
    (row,) = background.background_answers(rows, Bootstrap(200)).to_dicts()
    gold, yes, margin = (rows[name].to_numpy() for name in ("gold", "yes", "margin"))
    for name, figure in (
        ("auroc", lambda times: roc_auc_score(gold, margin, sample_weight=times)),
        ("balanced_accuracy", lambda w: balanced_accuracy_score(gold, yes, sample_weight=w)),
    ):
        ends = resampled(rows["cluster"], figure, 200)
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((0, 40, 1), "constant"),
        ((80, 80), "too few data"),
        ((0, 40), "no signal"),
        ((40, 40), "clear"),
    ],
)
def test_the_verdict_on_models_by_hand(found: tuple[int, ...], verdict: str) -> None:
    """The block begins with it; a lift is announced under weak and clear alone."""
    findings = planted(*found)
    of = Verdict.of(findings.summary["verdict"])
    assert of.name == verdict
    block = ConsistencyProbe.block(findings)
    assert block.verdict == of
    assert ("adjusted lift of the background" in str(block)) == of.shows_something
    assert "Says yes to" in str(block)


def test_irrelevant_background_that_predicts_as_well_makes_a_result_weak(clear: Findings) -> None:
    """The lift must exceed the lift of the control."""
    rows = answered()
    for other, name in ((None, "clear"), (0.0, "clear"), (1.0, "weak")):
        controls = pl.DataFrame({"background": [IRRELEVANT], "lift_adjusted": [other]})
        assert verdict_of(rows, {**clear.tables, "controls": controls}).name == name


def test_models_that_know_nothing_or_everything() -> None:
    """Of one that always says yes, every background score is a half, and consistency is chance."""
    found = planted(0, 40, 1)
    assert found.tables["anchors"]["background_score"].to_list() == [0.5] * 80
    (row,) = found.tables["consistency"].to_dicts()
    assert (row["n"], row["right"]) == (80, 40)
    assert row["consistency"] == pytest.approx(row["accuracy"])
    assert row["lift"] == pytest.approx(0, abs=1e-12)
    assert (row["auroc"], row["p_value"]) == (0.5, 1.0)
    found = planted(80, 80)
    assert set(found.tables["prediction"]["undefined"]) == {"all answers are correct"}
    assert found.tables["prediction"]["brier"].is_null().all()
    assert found.tables["predictions"].is_empty()
    assert predictors.stored(found.summary) == {}


def test_a_model_that_knows_what_it_answers_right() -> None:
    """The facts of the anchors that it gets right, and no others, so that they predict it."""
    found = planted(40, 40, 0)
    for name in ("consistency", "consistency_by_relation"):
        row = found.tables[name].row(0, named=True)
        assert (row["n"], row["right"]) == (80, 40)
        assert (row["consistency"], row["lift"], row["auroc"]) == (1, 1, 1)
    relevance = found.tables["relevance"].row(0, named=True)
    assert (relevance["given_right"], relevance["given_wrong"]) == (1, 0)
    (area,) = found.tables["prediction"].filter(predictor="background")["auroc"]
    assert area == 1
    assert predictors.caution(found.tables["prediction_gains"]) is None
    by_score = found.tables["accuracy_by_score"].select("background_score", "accuracy", "n")
    assert by_score.rows() == [(0.5, 0, 40), (1, 1, 40)]
