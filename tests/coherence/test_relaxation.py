"""Bounds against linear programs written down in full, and the description of small orders."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import linprog

from tacit.coherence.constraints import clauses_of, compile_ontology
from tacit.coherence.enumeration import all_assignments
from tacit.coherence.linear_program import Rows
from tacit.coherence.ontology import Ontology
from tacit.coherence.program import Program
from tacit.coherence.relaxation import pairwise_bound, relaxed_bound

if TYPE_CHECKING:
    from tacit.coherence.constraints import Family, Integers

NEVER = float("inf")


def one_order() -> Family:
    """Above and below."""
    families, places = compile_ontology(Ontology.load("parts"))
    return families[places["above"].family]


def linear_program(n: int, weights: Integers, *, total: bool) -> float:
    """The value of the linear relaxation, each row written from its definition."""
    pairs = list(permutations(range(n), 2))
    number = {pair: position for position, pair in enumerate(pairs)}
    rows, limits = [], []

    def add(entries: dict[tuple[int, int], float], limit: float) -> None:
        row = np.zeros(len(pairs))
        for pair, entry in entries.items():
            row[number[pair]] = entry
        rows.append(row)
        limits.append(limit)

    for i, j in combinations(range(n), 2):
        add({(i, j): 1, (j, i): 1}, 1)
        if total:
            add({(i, j): -1, (j, i): -1}, -1)
    for i, j, k in permutations(range(n), 3):
        add({(i, j): 1, (j, k): 1, (i, k): -1}, 1)
        add({(i, j): 1, (j, k): 1, (k, i): 1, (i, k): -1, (j, i): -1, (k, j): -1}, 1)
    gain = np.array([weights[pair] for pair in pairs], dtype=np.float64)
    answer = linprog(-gain, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
    assert answer.fun is not None
    return -answer.fun


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("n", [6, 9])
def test_the_bound_is_the_value_of_the_linear_program(n: int, total: bool) -> None:  # noqa: FBT001
    """The first-order bound is not below the linear program and at most 0.5 % above it."""
    random = np.random.default_rng(n)
    weights = random.integers(0 if total else -100, 101, (n, n))
    family = one_order()
    _, first, second = clauses_of(family, n).variables.T
    listed = weights[first, second]
    program = Program(family, n, listed, listed * 0, total=total)
    exact = linear_program(n, weights, total=total)
    bound = relaxed_bound(program, NEVER)
    assert exact - 1e-6 <= bound <= 1.005 * exact
    assert bound < pairwise_bound(program)


def test_a_bound_without_time_is_the_pairs() -> None:
    """When the time is up, of two reverse statements the heavier one counts."""
    family = one_order()
    weights = np.array([3, -2, 5, 4, -1, -7])
    ends = clauses_of(family, 3).variables[:, 1:].tolist()
    of = {tuple(pair): int(weight) for pair, weight in zip(ends, weights, strict=True)}
    pairs = sum(max(of[i, j], of[j, i], 0) for i, j in combinations(range(3), 2))
    assert relaxed_bound(Program(family, 3, weights, weights * 0), 0.0) == pairs


@pytest.mark.parametrize("n", [3, 4])
def test_rows_of_three_items_describe_small_partial_orders(n: int) -> None:
    """Tightened until nothing is broken, the program's value is that of the best assignment."""
    family = one_order()
    assignments = all_assignments(family, n)
    assert assignments is not None
    random = np.random.default_rng(n)
    for _ in range(100):
        weights = random.integers(-9, 10, assignments.shape[1]).astype(np.float64)
        rows = Rows(family, n, total=False)
        relaxed = linprog(-weights, A_ub=rows.matrix.toarray(), b_ub=rows.limits, bounds=(0, 1))
        while rows.tighten(np.asarray(relaxed.x)):
            dense = rows.matrix.toarray()
            relaxed = linprog(-weights, A_ub=dense, b_ub=rows.limits, bounds=(0, 1))
        assert relaxed.fun == pytest.approx(-(assignments @ weights).max(), abs=1e-6)
