"""Local search against lists of all assignments and a plain search of a few lines."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tacit.coherence.constraints import clauses_of, compile_ontology
from tacit.coherence.enumeration import all_assignments
from tacit.coherence.ontology import Ontology
from tacit.coherence.ordering import _reinsert, search_orders, search_partial_orders
from tacit.coherence.program import Program, quick_solution

if TYPE_CHECKING:
    from tacit.coherence.constraints import Family, Integers
    from tacit.coherence.enumeration import Booleans

NEVER = float("inf")


def one_order() -> Family:
    """Above and below."""
    families, places = compile_ontology(Ontology.load("parts"))
    return families[places["above"].family]


def partial_orders(n: int) -> Booleans:
    """Every strict partial order of n items, shape (orders, n, n)."""
    family = one_order()
    assignments = all_assignments(family, n)
    assert assignments is not None
    _, first, second = clauses_of(family, n).variables.T
    orders = np.zeros((len(assignments), n, n), dtype=bool)
    orders[:, first, second] = assignments
    return orders


def plain_search(weights: Integers) -> int:
    """The value of an order that no move of one item betters, found from a sorted start."""
    order = np.argsort(weights.sum(axis=0) - weights.sum(axis=1), kind="stable").tolist()
    gained = True
    while gained:
        gained = False
        for item in list(order):
            rest = [other for other in order if other != item]
            before, after = weights[rest, item], weights[item, rest]
            values = np.append(0, np.cumsum(before)) + after.sum() - np.append(0, np.cumsum(after))
            position = order.index(item)
            if values.max() > values[position]:
                rest.insert(int(values.argmax()), item)
                order, gained = rest, True
    return forward(weights, order)


def forward(weights: Integers, order: list[int]) -> int:
    """The weight of the pairs in the order's direction."""
    return int(np.triu(weights[np.ix_(order, order)], 1).sum())


@pytest.mark.parametrize("seed", range(5))
def test_small_orders_are_the_best_of_all_permutations(seed: int) -> None:
    """Six items: insertion with perturbations reaches the best permutation."""
    weights = np.random.default_rng(seed).integers(0, 100, (6, 6))
    best = max(forward(weights, list(each)) for each in permutations(range(6)))
    assert forward(weights, search_orders(weights, 50, NEVER).tolist()) == best


@pytest.mark.parametrize("n", [60, 90, 120])
def test_orders_are_at_least_as_heavy_as_a_plain_search_finds(n: int) -> None:
    """Random weights: the first local optimum, perturbed, is no lighter than the plain one."""
    weights = np.random.default_rng(n).integers(0, 101, (n, n))
    assert forward(weights, search_orders(weights, 200, NEVER).tolist()) >= plain_search(weights)


@pytest.mark.parametrize("n", [60, 90, 120])
def test_the_first_solution_within_moments_is_nearly_as_heavy(n: int) -> None:
    """Without any perturbation the order is within 2 % of the plain search, and the bound holds."""
    weights = np.random.default_rng(n).integers(0, 101, (n, n))
    family = one_order()
    _, first, second = clauses_of(family, n).variables.T
    listed = weights[first, second]
    found = quick_solution(Program(family, n, listed, listed * 0, total=True), NEVER)
    assert found.bound > listed @ found.true >= 0.98 * plain_search(weights)
    assert not found.optimal


@pytest.mark.parametrize("seed", range(20))
def test_an_item_is_put_back_in_the_best_way(seed: int) -> None:
    """Of all partial orders of four items that keep the other three, none is heavier."""
    random = np.random.default_rng(seed)
    orders = partial_orders(4)
    weights = random.integers(-9, 10, (4, 4))
    np.fill_diagonal(weights, 0)
    order = orders[random.integers(len(orders))].copy()
    item = int(random.integers(4))
    others = np.delete(np.arange(4), item)
    kept = order[np.ix_(others, others)]
    same = (orders[:, others[:, None], others] == kept).all(axis=(1, 2))
    best = max(int(weights[each].sum()) for each in orders[same])
    before = int(weights[order].sum())
    assert _reinsert(weights, order, item) == (best > before)
    assert int(weights[order].sum()) == best
    assert (orders == order).all(axis=(1, 2)).any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("most", [5, 10_000_000])
def test_small_partial_orders_are_the_best_of_all(seed: int, most: int) -> None:
    """Five items, weights for and against: reinsertion reaches the heaviest partial order."""
    weights = np.random.default_rng(seed).integers(-most, most + 1, (5, 5))
    np.fill_diagonal(weights, 0)
    best = max(int(weights[each].sum()) for each in partial_orders(5))
    assert int(weights[search_partial_orders(weights, 20, NEVER)].sum()) == best


def test_the_same_weights_give_the_same_world() -> None:
    """Both searches take their random numbers from a fixed seed."""
    weights = np.random.default_rng(1).integers(-50, 51, (15, 15))
    np.fill_diagonal(weights, 0)
    orders = [search_orders(np.abs(weights), 20, NEVER).tolist() for _ in range(2)]
    partial = [search_partial_orders(weights, 3, NEVER).tolist() for _ in range(2)]
    assert orders[0] == orders[1]
    assert partial[0] == partial[1]
