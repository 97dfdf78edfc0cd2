from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.probes.assumptions.averages import by_concept, retrieval_by_number
from tacit.probes.assumptions.tables import TABLES
from tacit.statistics import FEWEST_CLUSTERS, Bootstrap
from tests.probes.assumptions.made_up import retrieval

FEW = Bootstrap(50)
DRAWS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(0, 7), st.one_of(st.none(), st.integers(1, 9))),
    max_size=40,
)
COLUMNS = list(TABLES["retrieval_by_number"].schema)


def test_each_figure_by_hand() -> None:
    """Ranks 1, 4 and none: half of what can be written is first, the mean of 1 and 1/4 is 5/8."""
    ranks = {"bear": 1, "wolf": 4, "gnu": None}
    rows = [{"concept": concept, "rank": rank} for concept, rank in ranks.items()]
    (row,) = retrieval_by_number(retrieval(*rows), FEW).iter_rows(named=True)
    assert (row["concepts"], row["missing"]) == (2, 1)
    assert (row["mrr"], row["first"]) == (5 / 8, 1 / 2)
    assert row["probability"] == pytest.approx((math.exp(-1) + math.exp(-4)) / 2, abs=1e-15)
    assert row["renormalised"] == pytest.approx((math.exp(-0.5) + math.exp(-2)) / 2, abs=1e-15)


@settings(max_examples=80, deadline=None)
@given(draws=DRAWS)
def test_measures_are_means_over_concepts(draws: list[tuple[int, int, int | None]]) -> None:
    """In fractions: however many random draws a concept has, it counts once, or is missing."""
    rows = [
        {"n": n, "concept": f"c{at}", "rank": rank, "order": f"random-{draw // 5}-{draw % 5}"}
        for draw, (n, at, rank) in enumerate(draws)
    ]
    found = retrieval_by_number(retrieval(*rows), FEW)
    assert found["n"].to_list() == list(dict.fromkeys(n for n, _, _ in draws))
    for row in found.iter_rows(named=True):
        ranks: dict[int, list[int]] = {}
        for n, at, rank in draws:
            if n == row["n"]:
                ranks.setdefault(at, []).extend([] if rank is None else [rank])
        there = [of for of in ranks.values() if of]
        assert row["order"] == "random"
        assert (row["concepts"], row["missing"]) == (len(there), len(ranks) - len(there))
        if not there:
            assert {row[name] for name in COLUMNS[6:]} == {None}
            continue
        means = [sum(Fraction(1, rank) for rank in of) / len(of) for of in there]
        assert row["mrr"] == pytest.approx(float(sum(means) / len(means)), abs=1e-12)
        first = sum(of.count(1) / len(of) for of in there) / len(there)
        assert row["first"] == pytest.approx(first, abs=1e-12)
        few = len(there) < FEWEST_CLUSTERS or len(set(means)) == 1
        assert (row["mrr_low"] is None) == few


def test_a_probability_of_nought_is_no_missing_one() -> None:
    """A log-probability of minus infinity is a probability of 0, and counts."""
    table = retrieval({"rank": 9, "logprob": -math.inf}, {"rank": 1, "concept": "wolf"})
    (row,) = retrieval_by_number(table, FEW).iter_rows(named=True)
    assert row["probability"] == pytest.approx(math.exp(-1) / 2)


def test_the_interval_is_the_bootstrap_of_the_concepts() -> None:
    """The ends are those of the same resamples, drawn here with NumPy alone."""
    ranks = [1, 2, 5, 9, 3]
    table = retrieval(*({"rank": rank, "concept": f"c{at}"} for at, rank in enumerate(ranks)))
    (row,) = retrieval_by_number(table, Bootstrap(400, seed=3)).iter_rows(named=True)
    drawn = np.random.default_rng(3).integers(0, 5, size=(400, 5))
    low, high = np.quantile((1 / np.array(ranks))[drawn].mean(axis=1), [0.025, 0.975])
    assert (row["mrr_low"], row["mrr_high"]) == (pytest.approx(low), pytest.approx(high))


def test_candidates_and_chance_stand_beside_the_ranks() -> None:
    """The most candidates, and the mean chance of the concepts that have a rank."""
    table = retrieval(
        {"rank": 2, "candidates": 10},
        {"rank": 3, "candidates": 12, "concept": "wolf"},
        {"rank": None, "candidates": 99, "concept": "gnu"},
    )
    row = retrieval_by_number(table, FEW).row(0, named=True)
    assert row["candidates"] == 12
    harmonic = [sum(1 / rank for rank in range(1, n + 1)) / n for n in (10, 12)]
    assert row["chance_mrr"] == pytest.approx(sum(harmonic) / 2)


def test_a_whole_sentence_has_no_probability_of_the_word() -> None:
    """Its rank and its probability among the candidates count."""
    found = by_concept(retrieval({"rank": 2, "whole_sentence": True}))
    assert found.select("mrr", "probability").row(0) == (0.5, None)
    assert found["renormalised"][0] == pytest.approx(math.exp(-1))
