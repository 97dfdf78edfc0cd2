from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import check
from tacit.coherence.check import Count
from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.errors import RequestError
from tacit.sources.drawings import read_drawings
from tacit.sources.statements import drawing_statements
from tests.coherence.enumerated_by_hand import all_assignments, linked
from tests.fetched_data import PARROT, needs_parrot

Statement = tuple[str, str, str]


def rows(statements: list[Statement], p: list[float | None]) -> list[tuple[object, ...]]:
    return [(*statement, belief) for statement, belief in zip(statements, p, strict=True)]


def random_case(name: str, n: int, seed: int) -> tuple[Ontology, list[Statement], list[bool]]:
    ontology = Ontology.load(name)
    random = np.random.default_rng(seed)
    items = [f"item {number}" for number in range(n)]
    statements = [(x, r, y) for x, y in permutations(items, 2) for r in ontology.relations]
    believed = random.random(len(statements)) < random.choice([0.05, 0.3, 0.8])
    return ontology, statements, believed.tolist()


@pytest.mark.parametrize("name", shipped_ontologies())
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_jointly_consistent_beliefs_fit_in_some_world(name: str, seed: int) -> None:
    """A group is consistent exactly when one of all assignments holds everything believed."""
    ontology, statements, _ = random_case(name, 3, seed)
    random = np.random.default_rng(seed)
    held = [statement for statement in statements if random.random() < random.choice([0.02, 0.1])]
    p: list[float | None] = [0.9 if each in held else 0.1 for each in statements]
    found = check(rows(statements, p), ontology)
    items = ("item 0", "item 1", "item 2")
    fits = True
    for relations in linked(ontology):
        listed, assignments = all_assignments(name, tuple(relations), items)
        fits &= bool(assignments[:, [each in held for each in listed]].all(axis=1).any())
    assert found.consistent == float(fits)


@needs_parrot
def test_the_gold_statements_violate_nothing() -> None:
    """0 of 10,615 constraints."""
    ontology = Ontology.load("parts")
    drawings = read_drawings(PARROT, ontology.relations)
    gold = enrich(drawing_statements(drawings), ontology)
    beliefs = gold.with_columns(p_true=pl.col("label").cast(pl.Float64))
    found = check(beliefs, ontology)
    assert found.total == Count(violated=0, applicable=10_615, undecided=0)
    assert found.consistent == 1.0
    assert found.counts == check(beliefs, ontology, "label").counts


def test_even_and_missing_beliefs_are_not_believed() -> None:
    statements = [("a", "above", "b"), ("b", "above", "c"), ("c", "above", "a")]
    found = check(rows(statements, [0.5, None, 0.500001]))
    assert (found.believed, found.ties, found.missing, found.statements) == (1, 1, 1, 3)


def test_macro_and_micro_are_means_over_types_and_over_constraints() -> None:
    """One of one symmetric and none of two asymmetric: one half, and one third (and inverses)."""
    believed = [("a", "next to", "b"), ("a", "above", "b"), ("b", "below", "a")]
    others = [(y, r, x) for x, r, y in believed]
    p: list[float | None] = [0.9, 0.9, 0.9, 0.1, 0.1, 0.1]
    found = check(rows([*believed, *others], p))
    # Above and below each apply as asymmetric, and together as inverse; only next to is violated.
    assert found.macro == pytest.approx((1 + 0 + 0) / 3)
    assert found.micro == pytest.approx(1 / (1 + 2 + 1))


def test_a_groups_column_of_a_results_name_is_kept() -> None:
    two = [{"subject": "a", "object": "b"}, {"subject": "b", "object": "a"}]
    named = [{**one, "relation": "above", "revision_cost": "x", "p_true": 0.9} for one in two]
    groups = check(named, groups=["revision_cost"], revision_cost=True).groups
    assert groups["revision_cost (group)"].to_list() == ["x"]
    assert groups["revision_cost"].to_list() == [1]


def test_a_violation_tells_its_statements_and_beliefs() -> None:
    statements = [("a", "inside", "b"), ("b", "inside", "c"), ("a", "inside", "c")]
    found = check(rows(statements, [0.9, 0.8, 0.3]))
    chain = found.violations.filter(pl.col("constraint") == "transitive").row(0, named=True)
    assert [chain[f"{name}_3"] for name in ("subject", "relation", "object")] == [
        "a",
        "inside",
        "c",
    ]
    assert [chain[f"p_true_{number}"] for number in (1, 2, 3)] == [0.9, 0.8, 0.3]
    assert [chain[f"believed_{number}"] for number in (1, 2, 3)] == [True, True, False]


def test_a_column_that_is_not_there_cannot_be_believed() -> None:
    with pytest.raises(RequestError, match="no column repaired of True and False"):
        check([("a", "above", "b", 0.9)], believed="repaired")
