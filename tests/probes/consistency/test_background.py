"""Background scores, relevance, and how often a model says yes, with the verdict that follows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from tacit.findings.verdict import Verdict
from tacit.probes.consistency import background, findings
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.block import verdict_of
from tacit.probes.consistency.controls import IRRELEVANT
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations
from tests.probes.consistency import run_by_hand as figures
from tests.probes.consistency.asking_by_hand import answers_of, measured, probe_of
from tests.probes.consistency.planted_by_hand import QUESTIONS, model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.findings.findings import Findings
    from tests.probes.consistency.asking_by_hand import Says
    from tests.probes.consistency.run_by_hand import Run

    Answer = bool | None
    # Of the anchor: its facts' own questions and their negatives', whether answered right.
    Row = tuple[int, Answer, Answer]
    # A fact: whether it is known, its relation, and its anchors.
    Known = tuple[Answer, str, Sequence[int]]

FEW = Permutations(199)
ANSWERS = st.sampled_from([True, False, None])
ROWS = st.lists(st.tuples(st.integers(0, 5), ANSWERS, ANSWERS), max_size=60)
RELEVANCE = ("facts_right", "facts_wrong", "given_right", "given_wrong", "accuracy", "relevance")


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


@settings(max_examples=50, deadline=None)
@given(rows=ROWS)
def test_background_scores_are_exact(rows: list[Row]) -> None:
    """Equation 1 in fractions gives the same figure, to the last digit."""
    found = background.by_anchor(answers(rows))
    assert set(found["anchor"]) == {at for at, _, _ in rows}
    for row in found.iter_rows(named=True):
        mine = [(own, other) for at, own, other in rows if at == row["anchor"]]
        own, other = (figures.share(side) for side in zip(*mine, strict=True))
        score = figures.both(own, other)
        assert row["facts"] == len(mine)
        assert row["positives"] == sum(own is not None for own, _ in mine)
        assert row["negatives"] == sum(other is not None for _, other in mine)
        assert row["positive_accuracy"] == (None if own is None else float(own))
        assert row["negative_accuracy"] == (None if other is None else float(other))
        assert row["background_score"] == (None if score is None else float(score))


def test_scores_equal_on_paper_are_tied() -> None:
    """1/5 and 2/5 make the same as 3/5 and 0, though 0.2 + 0.4 is not 0.6 in floating point."""
    rows: list[Row] = [
        (at, k < own, k < other) for at, own, other in ((0, 1, 2), (1, 3, 0)) for k in range(5)
    ]
    one, other = background.by_anchor(answers(rows))["background_score"]
    assert one == other == 0.3
    assert (1 / 5 + 2 / 5) / 2 != (3 / 5 + 0) / 2


def by_relation(rows: Sequence[Row], names: Sequence[str], heads: Sequence[str]) -> pl.DataFrame:
    facts = pl.DataFrame({"fact": range(len(rows)), "relation": names, "head": heads})
    none = pl.DataFrame()
    return background.by_relation(
        ModelAnswers(facts, none, answers(rows), none, none), Bootstrap(500)
    )


def test_each_relation_by_hand() -> None:
    """Two facts of three known, one negative of two: 7/12. No negative: no score."""
    rows: list[Row] = [
        (0, True, True),
        (0, True, False),
        (1, False, None),
        (1, True, None),
        (2, None, True),
    ]
    found = by_relation(rows, ["IsA", "IsA", "IsA", "HasA", "PartOf"], list("abcde"))
    expected = [
        ("HasA", 1, 1, 0, 1.0, None, None),
        ("IsA", 3, 3, 2, 2 / 3, 0.5, 7 / 12),
        ("PartOf", 1, 0, 1, None, 1.0, None),
    ]
    for row, of in zip(found.iter_rows(), expected, strict=True):
        assert row[:7] == pytest.approx(of)


def test_the_interval_of_a_relation_clusters_by_head() -> None:
    """Facts of one head tell as much as one fact: an interval needs two heads."""
    rows: list[Row] = [(0, k % 2 == 0, k % 3 == 0) for k in range(10)]
    ends = ("background_score_low", "background_score_high")
    low, high = by_relation(rows, ["IsA"] * 10, list("abcde") * 2).select(ends).row(0)
    assert low < high
    alone = by_relation(rows, ["IsA"] * 10, ["dog"] * 10)
    assert alone["background_score"][0] is not None
    assert alone.select(ends).row(0) == (None, None)


@settings(max_examples=50, deadline=None)
@given(
    scores=st.lists(
        st.one_of(st.none(), st.integers(0, 12).map(lambda k: k / 12)), min_size=1, max_size=14
    )
)
def test_the_mean_over_relations(scores: list[float | None]) -> None:
    """Relations count alike; those without a score do not count. The interval is Student's."""
    names = ("background_score", "positive_accuracy", "negative_accuracy")
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.Float64))
    relations = pl.DataFrame({names[0]: scores}, {names[0]: pl.Float64}, strict=False)
    found = background.overall(relations, none).row(0, named=True)
    there = [score for score in scores if score is not None]
    assert found["relations"] == len(there)
    if not there:
        assert found["value"] is None
        return
    assert found["value"] == pytest.approx(float(sum(map(Fraction, there)) / len(there)))
    if len(set(there)) > 1:
        low, high = stats.t.interval(0.95, len(there) - 1, np.mean(there), stats.sem(there))
        assert [found["value_low"], found["value_high"]] == pytest.approx(
            [max(0, low), min(1, high)]
        )


def relevance(facts: Sequence[Known], right: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    ids = range(len(facts))
    names = pl.DataFrame({"fact": ids, "relation": [name for _, name, _ in facts]})
    own = pl.DataFrame(
        {"fact": ids, "expected": "yes", "right": [own for own, _, _ in facts]},
        {"fact": pl.Int64, "expected": pl.String, "right": pl.Boolean},
    )
    pairs = [(at, fact) for fact, (_, _, places) in enumerate(facts) for at in places]
    links = pl.DataFrame(pairs, {"anchor": pl.Int64, "fact": pl.Int64}, orient="row")
    anchors = pl.DataFrame(
        {
            "anchor": range(len(right)),
            "right": pl.Series(right, dtype=pl.Boolean),
            "cluster": [f"concept {at}" for at in range(len(right))],
        }
    )
    found = ModelAnswers(names, links, own, anchors, pl.DataFrame())
    return {row["relation"]: row for row in background.relevance(found, FEW).to_dicts()}


def relevance_by_hand(facts: Sequence[tuple[Answer, Sequence[Answer]]]) -> object:
    each = [(own, figures.share(right)) for own, right in facts]
    there = [(own, share) for own, share in each if own is not None and share is not None]
    given = [figures.mean(share for own, share in there if own is side) for side in (True, False)]
    both = figures.mean(share for _, share in there)
    gain = None if given[0] is None or both is None else given[0] - both
    counts = [Fraction(sum(own is side for own, _ in there)) for side in (True, False)]
    found = [None if one is None else float(one) for one in (*counts, *given, both, gain)]
    return pytest.approx(found, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    facts=st.lists(
        st.tuples(
            ANSWERS,
            st.sampled_from(["IsA", "HasA"]),
            st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
        ),
        min_size=1,
        max_size=10,
    ),
    right=st.lists(ANSWERS, min_size=4, max_size=4),
)
def test_relevance_agrees_with_a_loop(facts: list[Known], right: list[Answer]) -> None:
    """Each fact counts once, with the share of its answered anchors that are right."""
    rows = relevance(facts, right)
    assert set(rows) == {"all"} | {name for _, name, _ in facts}
    for relation, row in rows.items():
        of = [
            (own, [right[at] for at in places])
            for own, name, places in facts
            if relation in {"all", name}
        ]
        assert [row[name] for name in RELEVANCE] == relevance_by_hand(of)


def test_a_p_value_needs_20_facts_on_either_side() -> None:
    """The counts of either side are there; with 20 right there is a p-value."""
    random = np.random.default_rng(0)
    right = (random.random(400) < 0.4).tolist()
    places = random.integers(0, 400, 1151).tolist()
    for few in (6, 20, 1145):
        facts: list[Known] = [(number < few, "IsA", [at]) for number, at in enumerate(places)]
        row = relevance(facts, right)["all"]
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


def answered(says: Says) -> pl.DataFrame:
    probe = probe_of(QUESTIONS)
    scores = findings.scored(probe, answers_of(probe, says))
    return background.answered(findings.answered(probe, scores))


def test_the_figures_are_those_of_sklearn(run: Run) -> None:
    """Over the distinct questions that the model answered."""
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
    rows, bootstrap = answered(model(40, 20)), Bootstrap(200)
    (row,) = background.background_answers(rows, bootstrap).to_dicts()
    names = sorted(rows["cluster"].unique())
    (draws,) = bootstrap.draws(len(names))
    times = draws[:, [names.index(one) for one in rows["cluster"]]]
    gold, yes, margin = (rows[name].to_numpy() for name in ("gold", "yes", "margin"))
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
        (lambda _text, _answer: None, "too few data"),
        (model(40, 40), "clear"),
    ],
)
def test_the_verdict_on_models_by_hand(says: Says, verdict: str) -> None:
    """The block begins with it; a lift is announced under weak and clear alone."""
    found = measured(probe_of(QUESTIONS), says)
    of = Verdict.of(found.summary["verdict"])
    assert of.name == verdict
    block = ConsistencyProbe.block(found)
    assert block.verdict == of
    assert ("adjusted lift of the background" in str(block)) == of.shows_something
    assert ("Yes to" in str(block)) == bool(found.tables["background_answers"]["n"].item())
    assert len(block.lines) <= 4


def test_irrelevant_background_that_predicts_as_well_makes_a_result_weak(clear: Findings) -> None:
    """The lift must exceed the lift of the control."""
    rows = answered(model(40, 40))
    for other, name in ((None, "clear"), (0.0, "clear"), (1.0, "weak")):
        controls = pl.DataFrame({"background": [IRRELEVANT], "lift_adjusted": [other]})
        assert verdict_of(rows, {**clear.tables, "controls": controls}).name == name
