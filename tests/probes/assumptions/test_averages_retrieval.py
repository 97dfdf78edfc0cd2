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
RANKS = st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(1, 9))), max_size=40)
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


@settings(max_examples=60, deadline=None)
@given(ranks=RANKS)
def test_the_mean_reciprocal_rank_in_fractions(ranks: list[tuple[int, int | None]]) -> None:
    """By number of properties, over the concepts with a rank; the others are counted."""
    rows = [{"rank": rank, "n": n + 1, "concept": f"c{at}"} for at, (n, rank) in enumerate(ranks)]
    found = retrieval_by_number(retrieval(*rows), FEW)
    assert set(found["n"]) == {n + 1 for n, _ in ranks}
    assert found["n"].is_unique().all()
    for row in found.iter_rows(named=True):
        of = [rank for n, rank in ranks if n + 1 == row["n"]]
        there = [rank for rank in of if rank is not None]
        assert (row["concepts"], row["missing"]) == (len(there), len(of) - len(there))
        if not there:
            assert {row[name] for name in COLUMNS[6:]} == {None}
            continue
        mean = sum(Fraction(1, rank) for rank in there) / len(there)
        assert row["mrr"] == pytest.approx(float(mean), abs=1e-12)
        assert row["first"] == pytest.approx(there.count(1) / len(there), abs=1e-12)
        none = len(there) < FEWEST_CLUSTERS or len(set(there)) == 1
        assert (row["mrr_low"] is None) == none
        if not none:
            assert row["mrr_low"] <= row["mrr"] + 1e-12
            assert row["mrr"] <= row["mrr_high"] + 1e-12


@settings(max_examples=60, deadline=None)
@given(ranks=RANKS)
def test_random_draws_are_averaged_by_concept_first(ranks: list[tuple[int, int | None]]) -> None:
    """However many draws a concept has, it counts once; it is missing when all of them are."""
    rows = [
        {"rank": rank, "concept": f"c{at}", "order": f"random-{draw // 5 + 1}-{draw % 5 + 1}"}
        for draw, (at, rank) in enumerate(ranks)
    ]
    found = retrieval_by_number(retrieval(*rows), FEW)
    draws = {at: [rank for of, rank in ranks if of == at] for at, _ in ranks}
    means = [
        sum(Fraction(1, rank) for rank in there) / len(there)
        for of in draws.values()
        if (there := [rank for rank in of if rank is not None])
    ]
    assert found.height == bool(ranks)
    for row in found.iter_rows(named=True):
        assert row["order"] == "random"
        assert (row["concepts"], row["missing"]) == (len(means), len(draws) - len(means))
        if means:
            assert row["mrr"] == pytest.approx(float(sum(means) / len(means)), abs=1e-12)


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
