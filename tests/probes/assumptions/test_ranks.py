"""The chance levels of ranks, against enumeration and simulation."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from tacit.probes.assumptions.averages import elicitation_by_relation
from tacit.probes.assumptions.ranks import chance_mrr, chance_precision
from tacit.statistics import Bootstrap
from tests.probes.assumptions.made_up import elicitation


@pytest.mark.parametrize("n", [1, 2, 34, 1876])
def test_chance_is_the_mean_of_all_reciprocal_ranks(n: int) -> None:
    """H_n / n, in fractions."""
    exact = sum(Fraction(1, rank) for rank in range(1, n + 1)) / n
    assert chance_mrr(n) == pytest.approx(float(exact), rel=1e-14)


def precision(places: Sequence[int]) -> Fraction:
    """Average precision of responses at these places, from 1, by its definition."""
    ordered = sorted(places)
    return sum((Fraction(k, at) for k, at in enumerate(ordered, 1)), Fraction()) / len(ordered)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 7), (2, 7), (5, 7), (7, 7), (3, 9)])
def test_chance_precision_is_the_mean_over_all_rankings(m: int, n: int) -> None:
    """Every set of places that responses may have, each as likely."""
    found = [precision(places) for places in combinations(range(1, n + 1), m)]
    assert chance_precision(m, n) == pytest.approx(float(sum(found) / len(found)), rel=1e-12)


def test_a_relations_chance_is_the_mean_of_its_prompts() -> None:
    """Those without a ranked response left out; the most candidates of a prompt."""
    rows: list[dict[str, Any]] = [
        {"concept": "bear", "rank": 1, "candidates": 10},
        {"concept": "bear", "rank": 2, "candidates": 10, "word": "claws"},
        {"concept": "wolf", "rank": 1, "candidates": 12},
        {"concept": "gnu", "rank": None, "candidates": 12},
    ]
    table = elicitation(*rows)
    row = elicitation_by_relation(table, Bootstrap(10)).row(0, named=True)
    assert row["candidates"] == 12
    expected = (chance_precision(2, 10) + chance_precision(1, 12)) / 2
    assert row["chance_map"] == pytest.approx(expected)
