"""Random beliefs about random relations, beside brute force from the constraints' definitions."""

from collections.abc import Mapping
from itertools import combinations, permutations, product

import numpy as np
import pytest

import tacit
from tacit.errors import RequestError
from tests.coherence.enumerated_by_hand import clauses_of

Statement = tuple[str, str, str]
Clauses = list[tuple[tuple[int, ...], int | None]]

SETS = 150
FLAGS = ("symmetric", "asymmetric", "transitive", "functional", "inverse_functional")
P = (0.95, 0.9, 0.8, 0.6, 0.4, 0.1)


def random_ontology(random: np.random.Generator) -> tacit.Ontology:
    """Two relations with random constraints that do not contradict each other."""
    while True:
        flags: list[dict[str, object]] = [
            {flag: True for flag in FLAGS if random.random() < 0.3} for _ in "rs"
        ]
        flags[0] |= [{}, {}, {"implies": ["s"]}, {"excludes": ["s"]}][random.integers(4)]
        if random.random() < 0.2:
            turned = {"functional": "inverse_functional", "inverse_functional": "functional"}
            flags[1] = {turned.get(flag, flag): True for flag in flags[0] if flag in FLAGS}
            flags = [{**flags[0], "inverse": "s"}, {**flags[1], "inverse": "r"}]
        try:
            return tacit.Ontology.of(
                {"name": "random", "relations": dict(zip("rs", flags, strict=True))}
            )
        except RequestError:
            continue


def random_beliefs(random: np.random.Generator) -> dict[Statement, float]:
    """The p of at most seven statements about three or four items."""
    items = "abcd"[: random.integers(3, 5)]
    every = [(x, r, y) for x, y in permutations(items, 2) for r in "rs"]
    some = random.choice(len(every), random.integers(3, 8), replace=False)
    return {
        every[number]: float(random.choice(P, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])) for number in some
    }


def case(random: np.random.Generator) -> tuple[tacit.Ontology, dict[Statement, float]]:
    return random_ontology(random), random_beliefs(random)


def grounded(ontology: tacit.Ontology, items: tuple[str, ...]) -> tuple[list[Statement], Clauses]:
    """All statements about items, and the constraints on them by number."""
    every = [(x, r, y) for x, y in permutations(items, 2) for r in ontology.relations]
    return every, list(clauses_of(ontology, {each: n for n, each in enumerate(every)}, items))


def possible(clauses: Clauses, true: set[int], false: set[int]) -> bool:
    """Whether statements can be true and others false: by unit propagation, as all are Horn."""
    held = set(true)
    while True:
        then = [then for premises, then in clauses if held.issuperset(premises)]
        if None in then or not held.isdisjoint(false):
            return False
        if held.issuperset(then):
            return True
        held.update(each for each in then if each is not None)


def minimal(
    ontology: tacit.Ontology, beliefs: Mapping[Statement, float]
) -> set[frozenset[Statement]]:
    """Every set of beliefs that is impossible, though each of its parts is possible."""
    items = tuple(sorted({item for x, _, y in beliefs for item in (x, y)}))
    every, clauses = grounded(ontology, items)
    number = {each: n for n, each in enumerate(every)}
    found: list[frozenset[Statement]] = []
    for size in range(1, len(beliefs) + 1):
        for some in map(frozenset, combinations(beliefs, size)):
            sides = [
                {number[s] for s in some if (beliefs[s] > 0.5) == side} for side in (True, False)
            ]
            if not any(each <= some for each in found) and not possible(clauses, *sides):
                found.append(some)
    return set(found)


def checked(ontology: tacit.Ontology, beliefs: Mapping[Statement, float]) -> tacit.Check:
    return tacit.check([(*statement, p) for statement, p in beliefs.items()], ontology)


def test_conflicts_are_all_minimal_ones() -> None:
    """Of 150 random sets, as by brute force over all sets of beliefs; the smallest come first."""
    random = np.random.default_rng(15)
    sizes = set()
    for _ in range(SETS):
        ontology, beliefs = case(random)
        found = checked(ontology, beliefs)
        sets = [
            frozenset(each.select("subject", "relation", "object").rows())
            for each in found.conflicts.partition_by("conflict", maintain_order=True)
        ]
        assert set(sets) == minimal(ontology, beliefs)
        assert len(sets) == len(set(sets))
        assert [len(each) for each in sets] == sorted(len(each) for each in sets)
        assert found.all_conflicts
        assert found.conflicting == bool(sets)
        sizes |= {len(each) for each in sets}
    assert sizes >= {2, 3, 4}


def test_repair_is_the_best_assignment() -> None:
    """Of 30 random sets about three items, as by brute force over all assignments."""
    random = np.random.default_rng(16)
    for _ in range(30):
        ontology, beliefs = random_ontology(random), random_beliefs(random)
        beliefs = {each: p for each, p in beliefs.items() if "d" not in each} or {
            ("a", "r", "b"): 0.9
        }
        every, clauses = grounded(ontology, ("a", "b", "c"))
        worth = np.array([np.log(p / (1 - p)) for p in (beliefs.get(each, 0.5) for each in every)])
        assignments = np.array(list(product([False, True], repeat=len(every))))
        for premises, then in clauses:
            broken = assignments[:, list(premises)].all(axis=1)
            broken &= True if then is None else ~assignments[:, then]
            assignments = assignments[~broken]
        best = (np.where(assignments == (worth > 0), np.abs(worth), 0)).sum(axis=1).max()
        rows = [(*statement, p) for statement, p in beliefs.items()]
        repaired = tacit.repair(rows, ontology, "log-odds")
        assert repaired.value == pytest.approx(best, abs=1e-5)
        again = tacit.check(repaired.beliefs, ontology, believed="repaired")
        assert again.conflicts.is_empty()


def test_functional_constraints_are_counted_by_pairs_of_statements() -> None:
    """Of 100 random sets, some beliefs missing: a pair with one subject, or with one object."""
    random = np.random.default_rng(17)
    seen: dict[str, int] = dict.fromkeys(("violated", "applicable", "undecided"), 0)
    for _ in range(100):
        ontology, beliefs = case(random)
        rows = [(*each, None if random.random() < 0.2 else p) for each, p in beliefs.items()]
        found = tacit.check(rows, ontology).counts
        for kind, key, other in (("functional", 0, 2), ("inverse_functional", 2, 0)):
            expected = dict.fromkeys(seen, 0)
            for one, two in combinations(rows, 2):
                relation = ontology.relations[one[1]]
                unique = relation.functional if key == 0 else relation.inverse_functional
                same = one[key] == two[key] and one[1] == two[1] and one[other] != two[other]
                believed = [p is not None and p > 0.5 for p in (one[3], two[3])]
                if unique and same and any(believed):
                    expected["applicable"] += 1
                    expected["violated"] += all(believed)
                    expected["undecided"] += None in (one[3], two[3])
            count = found[kind]
            counts = (count.violated, count.applicable, count.undecided)
            assert counts == tuple(expected.values())
            seen = {name: seen[name] + expected[name] for name in seen}
    assert min(seen.values()) > 10


def test_a_cycle_is_found_beside_other_conflicts_in_its_group() -> None:
    """Three people manage each other in a circle, and two of them each other as well."""
    cycle = [("Anna", "Bob"), ("Bob", "Cem"), ("Cem", "Anna")]
    rows = [(x, "manages", y, 0.9) for x, y in [*cycle, ("Cem", "Bob")]]
    rows += [("Bob", "lives in", "Berlin", 0.95), ("Bob", "lives in", "Paris", 0.8)]
    relations = {
        "manages": {"asymmetric": True, "transitive": True},
        "lives in": {"functional": True},
    }
    found = tacit.check(rows, relations)
    table = found.conflicts
    assert table.group_by("conflict", maintain_order=True).len()["len"].to_list() == [2, 2, 3]
    assert table.filter(conflict=2)["cheapest"].to_list() == [False, True]
    assert table["cost"].to_list()[2:4] == pytest.approx([np.log(19), np.log(4)])
    assert set(table.filter(conflict=3).select("subject", "object").rows()) == set(cycle)


def test_conflicts_name_the_group_of_their_beliefs() -> None:
    rows = [
        {"person": person, "subject": "x", "relation": "before", "object": "y", "p_true": 1.0}
        for person in ("ann", "bob")
    ]
    rows.append({**rows[1], "subject": "y", "object": "x"})
    found = tacit.check(rows, "time")
    assert found.conflicts["person"].to_list() == ["bob", "bob"]
    assert found.to_json()["groups_with_conflicts"] == 1
    assert found.sentences[0].startswith("person bob: ")


def test_a_dense_group_lists_some_conflicts() -> None:
    """All statements about twelve parts are believed: some of their conflicts and another."""
    items = [f"part {number}" for number in range(12)]
    rows: list[tuple[object, ...]] = [
        (x, r, y) for x, y in permutations(items, 2) for r in ("above", "inside")
    ]
    rows += [(x, "connects", y, p) for x, y, p in (("x", "y", 0.9), ("y", "x", 0.2))]
    found = tacit.check(rows)
    assert len(found.sentences) > 66
    assert not found.all_conflicts
    assert "connects" in found.conflicts["relation"]
    assert found.lines(1)[1].startswith("at least ")


def test_a_long_cycle_is_one_conflict() -> None:
    """Forty events, each before the next one."""
    found = tacit.check([(f"{n}", "before", f"{(n + 1) % 40}") for n in range(40)], "time")
    assert found.conflicts["conflict"].to_list() == [1] * 40
    assert found.all_conflicts
