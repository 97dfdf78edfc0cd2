"""The three exact methods of repair find the same, and what independent computations find."""

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tacit.coherence import integer_program, orders
from tacit.coherence import rows as rows_of_programs
from tacit.coherence.closure import Booleans, Integers, Rules
from tacit.coherence.components import families
from tacit.coherence.constraints import clauses_of, triples_of
from tacit.coherence.enumeration import all_assignments, best_assignments
from tacit.coherence.integer_program import Program, solve_program
from tacit.coherence.ontology import Ontology
from tacit.coherence.orders import best_orders
from tacit.coherence.problems import Bucket
from tacit.coherence.solve import solve


def family(name: str, relation: str) -> Rules:
    ontology = Ontology.load(name)
    number = list(ontology.relations).index(relation)
    return next(rules for members, rules in families(ontology.rules) if number in members)


ORDER = family("parts", "above")


@pytest.mark.parametrize(("n", "count"), [(2, 3), (3, 19), (4, 219), (5, 4231)])
def test_the_assignments_of_an_order_are_the_strict_partial_orders(n: int, count: int) -> None:
    """As many as are known of labelled partial orders (OEIS A001035)."""
    assignments = all_assignments(ORDER, n)
    assert assignments is not None
    assert len(assignments) == count


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 6),
    most=st.sampled_from([1, 3, 100]),
    cells=st.sampled_from([1, 100, 1 << 16]),
)
def test_the_best_order_is_the_best_of_all_permutations(
    seed: int, n: int, most: int, cells: int
) -> None:
    """Its sum is the largest, its tie-breaking sum the least, and free pairs stand both ways."""
    random = np.random.default_rng(seed)
    several = random.integers(0, most + 1, (3, n, n)) * ~np.eye(n, dtype=bool)
    ties_of = random.integers(0, 4096, (3, n, n))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(orders, "_CELLS", cells)
        found = best_orders(several, ties_of)
    for weights, ties, order, free in zip(several, ties_of, *found, strict=True):
        check_order(weights, ties, order.tolist(), free)


def check_order(weights: Integers, ties: Integers, order: list[int], free: Booleans) -> None:
    n = len(order)
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
    ("name", "relation", "n"),
    [
        ("parts", "above", 4),
        ("time", "before", 3),
        ("space", "north of", 3),
        ("taxonomy", "is a", 3),
    ],
)
@pytest.mark.parametrize("most", [2, 1_000_000])
def test_integer_programs_agree_with_the_list_of_all_assignments(
    name: str, relation: str, n: int, most: int
) -> None:
    """The same value, the same free statements and the same assignment."""
    rules = family(name, relation)
    assignments = all_assignments(rules, n)
    assert assignments is not None
    random = np.random.default_rng(n)
    for _ in range(8):
        weights = random.integers(-most, most + 1, assignments.shape[1])
        ties = random.integers(0, 4096, assignments.shape[1])
        solution = solve_program(Program(rules, n, weights, ties))
        true, free = best_assignments(assignments, weights[None], ties[None].__getitem__)
        assert solution.optimal
        assert solution.settled
        assert weights @ solution.true == weights @ true[0] == solution.bound
        assert (solution.free == free[0]).all()
        assert (solution.true == true[0]).all()


@pytest.mark.parametrize("most", [3, 100])
def test_an_order_of_all_items_agrees_with_dynamic_programming(most: int) -> None:
    """Twelve items: one value, and the same pairs that a tie decides."""
    random = np.random.default_rng(0)
    weights = random.integers(0, most + 1, (12, 12))
    ties = random.integers(0, 4096, (12, 12))
    (order,), (free,) = best_orders(weights[None], ties[None])
    apart = ~np.eye(12, dtype=bool)
    found = solve_program(Program(ORDER, 12, weights[apart], ties[apart], total=True))
    value = sum(int(weights[a, b]) for i, a in enumerate(order) for b in order[i + 1 :])
    assert found.bound == value == weights[apart] @ found.true
    assert (free[apart] == found.free).all()


@pytest.mark.parametrize("seed", range(2))
def test_statements_that_fit_together_are_taken_at_once(seed: int) -> None:
    """Without a clash their closure is the order that dynamic programming finds."""
    _, first, second = clauses_of(ORDER, 8).variables.T
    random = np.random.default_rng(seed)
    rank = random.permutation(8)
    fits = (rank[first] < rank[second]) & (random.random(len(first)) < 0.2)
    weights = np.where(fits, random.integers(1, 100, len(first)), 0)
    none = np.zeros(0, np.int64)
    items = np.arange(8)[None]
    bucket = Bucket(none, ORDER, none, items, weights[None], none, (none, none), "abcdefgh")
    (by_sets,) = solve([bucket])
    program = Program(ORDER, 8, weights, bucket.ties(np.array([0]))[0], total=True)
    at_once = solve_program(program)
    assert at_once.true.tolist() == by_sets.true[0].tolist()
    assert at_once.free.tolist() == by_sets.free[0].tolist()
    assert at_once.bound == by_sets.bound[0] == weights.sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("total", [True, False])
def test_rows_on_demand_agree_with_one_program_of_all_constraints(
    seed: int,
    total: bool,  # noqa: FBT001 - parametrised
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows_of_programs, "_MOST_TRIPLES", 0)
    n = 11
    weights = np.random.default_rng(seed).integers(0 if total else -99, 100, n * (n - 1))
    found = solve_program(Program(ORDER, n, weights, weights * 0, total=total))
    clauses, triples = clauses_of(ORDER, n), triples_of(ORDER, n)
    entries = [(row, column, 1.0) for row, pair in enumerate(clauses.exclusions) for column in pair]
    for row, (one, other, then) in enumerate(triples, len(clauses.exclusions)):
        entries += [(row, one, 1.0), (row, other, 1.0), (row, then, -1.0)]
    rows, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (rows, columns)))
    answer = milp(
        -weights.astype(float),
        integrality=np.ones(len(weights), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, -np.inf, 1.0),
        options={"mip_rel_gap": 0.0},
    )
    assert found.optimal
    assert found.settled
    assert answer.fun is not None
    assert found.bound == weights @ found.true == round(-answer.fun)


@pytest.mark.parametrize(("name", "relation"), [("parts", "above"), ("taxonomy", "is a")])
@pytest.mark.parametrize("positive", [True, False])
def test_without_a_proof_there_is_a_consistent_assignment_and_a_bound(
    name: str,
    relation: str,
    positive: bool,  # noqa: FBT001 - parametrised
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When branch and bound ends without a solution, statements are added greedily."""
    rules, n = family(name, relation), 9
    clauses = clauses_of(rules, n)
    random = np.random.default_rng(1)
    count = len(clauses.variables)
    weights = random.integers(0 if positive else -99, 100, count)
    best = solve_program(Program(rules, n, weights, weights * 0))
    monkeypatch.setattr(integer_program, "_relax", lambda *_: None)
    found = solve_program(Program(rules, n, weights, weights * 0))
    assert best.optimal
    assert not found.optimal
    assert not found.settled
    assert best.bound / 2 < weights @ found.true <= best.bound < found.bound
    assert rows_of_programs.ProgramRows(rules, n, total=False).hold(found.true)
    late = solve_program(Program(rules, n, weights, weights * 0), time.monotonic())
    assert 0 < weights @ late.true <= best.bound <= late.bound
