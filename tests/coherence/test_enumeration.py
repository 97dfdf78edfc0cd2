from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coherence.constraints import compile_ontology
from tacit.coherence.enumeration import all_assignments, best_assignments
from tacit.coherence.ontology import Ontology
from tacit.coherence.ordering import best_order
from tacit.coherence.program import Program, solve_program


def test_parts_falls_into_eight_families() -> None:
    """No constraint of the 14 relations joins two inverse pairs, nor the symmetric relations."""
    families, places = compile_ontology(Ontology.load("parts"))
    assert len(families) == 8
    assert places["above"].family == places["below"].family
    assert places["below"].turned != places["above"].turned


@pytest.mark.parametrize(("n", "count"), [(2, 3), (3, 19), (4, 219), (5, 4231)])
def test_the_worlds_of_an_order_are_the_strict_partial_orders(n: int, count: int) -> None:
    """As many as are known of labelled partial orders (OEIS A001035)."""
    families, places = compile_ontology(Ontology.load("parts"))
    assignments = all_assignments(families[places["above"].family], n)
    assert assignments is not None
    assert len(assignments) == count


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6), most=st.sampled_from([1, 3, 100]))
def test_the_best_order_is_the_best_of_all_permutations(seed: int, n: int, most: int) -> None:
    """Its sum is the largest, its tie-breaking sum the least, and free pairs stand both ways."""
    random = np.random.default_rng(seed)
    weights = random.integers(0, most + 1, (n, n))
    np.fill_diagonal(weights, 0)
    ties = random.integers(0, 4096, (n, n))
    order, free = best_order(weights, ties)
    value: dict[tuple[int, ...], int] = {}
    tie: dict[tuple[int, ...], int] = {}
    for each in permutations(range(n)):
        forward = [(a, b) for i, a in enumerate(each) for b in each[i + 1 :]]
        value[each] = sum(int(weights[pair]) for pair in forward)
        tie[each] = sum(int(ties[pair]) for pair in forward if weights[pair] > 0)
    best = [each for each in value if value[each] == max(value.values())]
    assert tuple(order) in best
    assert tie[tuple(order)] == min(tie[each] for each in best)
    before = {(a, b) for each in best for i, a in enumerate(each) for b in each[i + 1 :]}
    both = {(a, b) for a, b in before if (b, a) in before}
    assert {(a, b) for a, b in np.argwhere(free).tolist()} == both


@pytest.mark.parametrize(
    ("name", "first", "n"),
    [
        ("parts", "above", 4),
        ("time", "before", 3),
        ("space", "north of", 3),
        ("taxonomy", "is a", 3),
    ],
)
@pytest.mark.parametrize("most", [2, 1_000_000])
def test_linear_programs_agree_with_the_list_of_all_worlds(
    name: str, first: str, n: int, most: int
) -> None:
    """The general solver finds the same value, the same free statements and the same assignment."""
    families, places = compile_ontology(Ontology.load(name))
    family = families[places[first].family]
    assignments = all_assignments(family, n)
    assert assignments is not None
    random = np.random.default_rng(n)
    for _ in range(8):
        weights = random.integers(-most, most + 1, assignments.shape[1])
        ties = random.integers(0, 4096, assignments.shape[1])
        solution = solve_program(Program(family, n, weights, ties))
        best = best_assignments(assignments, weights[None], [ties].__getitem__)
        assert solution.optimal
        assert solution.settled
        assert weights @ solution.true == weights @ best.true[0] == solution.bound
        assert (solution.free == best.free[0]).all()
        assert (solution.true == best.true[0]).all()


def test_an_order_of_all_items_agrees_with_the_subsets() -> None:
    """Twelve items, as a linear program and by dynamic programming: one value, the same ties."""
    families, places = compile_ontology(Ontology.load("parts"))
    family = families[places["above"].family]
    random = np.random.default_rng(0)
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    for most in (3, 100):
        weights = random.integers(0, most + 1, (12, 12))
        ties = random.integers(0, 4096, (12, 12))
        order, free = best_order(weights, ties)
        listed = np.array([weights[pair] for pair in pairs])
        found = solve_program(
            Program(family, 12, listed, np.array([ties[pair] for pair in pairs]), total=True)
        )
        value = sum(int(weights[a, b]) for i, a in enumerate(order) for b in order[i + 1 :])
        assert found.bound == value == listed @ found.true
        assert [bool(free[pair]) for pair in pairs] == found.free.tolist()
