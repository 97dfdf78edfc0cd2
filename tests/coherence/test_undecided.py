from collections.abc import Callable, Iterator
from itertools import combinations, permutations, product

import numpy as np
import polars as pl
import pytest

from tacit import check, repair
from tacit.coherence.ontology import KINDS, Ontology, shipped_ontologies
from tacit.coherence.relation import Relation
from tests.coherence.enumerated_by_hand import all_assignments, linked

Statement = tuple[str, str, str]
Truth = dict[Statement, bool | None]
Rule = Callable[..., bool]

ITEMS = ("item 0", "item 1", "item 2", "item 3", "item 4")
SETS = {3: 125, 5: 15}  # of so many items, of each of the four shipped ontologies
PARTS = Ontology.load("parts")


def differ(a: bool, b: bool) -> bool:  # noqa: FBT001
    """Two statements that must have the same truth value do not."""
    return a != b


def both(a: bool, b: bool) -> bool:  # noqa: FBT001
    return a and b


def either(a: bool, b: bool) -> bool:  # noqa: FBT001
    return a or b


def grounded(
    ontology: Ontology, items: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Statement, ...], Rule, Rule]]:
    """Each constraint on the items: kind, statements, when it applies, and when it is broken."""
    for r, each in ontology.relations.items():
        for x, y in combinations(items, 2):
            pair = ((x, r, y), (y, r, x))
            yield from [("symmetric", pair, either, differ)] * each.symmetric
            yield from [("asymmetric", pair, either, both)] * each.asymmetric
        for x, y, z in permutations(items, 3) if each.transitive else ():
            chain = ((x, r, y), (y, r, z), (x, r, z))
            yield "transitive", chain, lambda a, b, _: a and b, lambda a, b, c: a and b and not c
    for (r, each), (s, other) in permutations(ontology.relations.items(), 2):
        excluded = r < s and (s in each.excludes or r in other.excludes)
        for x, y in permutations(items, 2):
            here, there = ((x, r, y), (x, s, y)), ((x, r, y), (y, s, x))
            yield from [("inverse", there, either, differ)] * (each.inverse == s and r < s)
            yield from [("implies", here, lambda a, _: a, differ)] * (s in each.implies)
            yield from [("excludes", here, either, both)] * excluded


def status(statements: tuple[Statement, ...], applies: Rule, broken: Rule, truth: Truth) -> str:
    """What a constraint is: the same however the unknown statements turn out, or undecided."""
    known = [truth.get(each) for each in statements]
    if not applies(*(value is True for value in known)):
        return "not applicable"
    outcomes = {
        broken(*values)
        for values in product(*([value] if value is not None else [True, False] for value in known))
    }
    return "undecided" if len(outcomes) > 1 else "violated" if outcomes.pop() else "kept"


def random_set(
    ontology: Ontology, items: tuple[str, ...], random: np.random.Generator
) -> dict[Statement, float | None]:
    """The p of some of the statements between the items; None where the belief is missing."""
    asked, missing = random.choice([0.2, 0.6, 1.0]), random.choice([0.0, 0.3])
    believed = random.choice([0.1, 0.5, 0.9])
    found: dict[Statement, float | None] = {}
    for x, y in permutations(items, 2):
        for r in ontology.relations:
            if random.random() < asked:
                p = 0.9 if random.random() < believed else float(random.choice([0.1, 0.5]))
                found[x, r, y] = None if random.random() < missing else p
    return found


def least_changes(ontology: Ontology, truth: Truth) -> int:
    """The least number of known statements on which an assignment differs, over all assignments."""
    cost = 0
    for relations in linked(ontology):
        listed, assignments = all_assignments(ontology.name, tuple(relations), ITEMS[:3])
        known = [number for number, each in enumerate(listed) if truth.get(each) is not None]
        held = np.array([truth[listed[number]] for number in known], dtype=bool)
        cost += int((assignments[:, known] != held).sum(axis=1).min())
    return cost


def as_table(sets: list[dict[Statement, float | None]]) -> pl.DataFrame:
    rows = [
        (f"set {number:03}", *statement, p)
        for number, each in enumerate(sets)
        for statement, p in each.items()
    ]
    text = dict.fromkeys(("thing", "subject", "relation", "object"), pl.String)
    return pl.DataFrame(rows, {**text, "p_true": pl.Float64}, orient="row")


@pytest.mark.parametrize("n", SETS)
@pytest.mark.parametrize("name", shipped_ontologies())
def test_constraints_are_violated_kept_or_undecided_as_by_brute_force(name: str, n: int) -> None:
    """Random beliefs, some not asked or missing: counts, rates and costs equal those by hand."""
    ontology = Ontology.load(name)
    random = np.random.default_rng(14)
    sets = [each for _ in range(SETS[n]) if (each := random_set(ontology, ITEMS[:n], random))]
    found = check(as_table(sets), ontology, revision_cost=n == 3)
    rows = found.groups.to_dicts()
    assert len(rows) == len(sets)
    seen = set()
    for each, row in zip(sets, rows, strict=True):
        truth: Truth = {s: None if p is None else p > 0.5 for s, p in each.items()}
        by_kind = {kind: dict.fromkeys(("violated", "kept", "undecided"), 0) for kind in KINDS}
        touched: set[Statement] = set()
        apart = 0
        for kind, statements, applies, broken in grounded(ontology, ITEMS[:n]):
            what = status(statements, applies, broken, truth)
            seen.add(what)
            if what != "not applicable":
                by_kind[kind][what] += 1
            if what == "violated" and not touched & set(statements):
                touched |= set(statements)
                apart += 1
        for kind, counts in by_kind.items():
            assert row[f"{kind}_violated"] == counts["violated"]
            assert row[f"{kind}_undecided"] == counts["undecided"]
            assert row[f"{kind}_applicable"] == sum(counts.values())
        violated = sum(counts["violated"] for counts in by_kind.values())
        decided = violated + sum(counts["kept"] for counts in by_kind.values())
        assert row["density"] == (violated / decided if decided else None)
        if n > 3:
            continue
        assert row["revision_cost"] == least_changes(ontology, truth)
        assert row["revision_cost"] >= apart
        if len(truth) == 6 * len(ontology.relations) and None not in truth.values():
            assert (row["revision_cost"] == 0) == (violated == 0)
    assert seen == {"violated", "kept", "undecided", "not applicable"}
    total = found.total
    assert total.rate == total.violated / (total.applicable - total.undecided)
    assert found.contradicted == sum(row["violated"] > 0 for row in rows)
    assert found.decided == sum(row["applicable"] > row["undecided"] for row in rows)
    assert len(found.violations) == total.violated
    assert found.believed == sum(p is not None and p > 0.5 for each in sets for p in each.values())


def beliefs_of(**believed: float | None) -> pl.DataFrame:
    """Beliefs by statement, as in ``a_above_b=0.9``."""
    return as_table([{(s, r, o): p for k, p in believed.items() for s, r, o in [k.split("_")]}])


def test_what_nobody_asked_is_not_disbelieved() -> None:
    """Two parents, one of the other: nothing about them is decided, and nothing is violated."""
    parent = Relation("parent of", "", "", asymmetric=True, irreflexive=True, inverse="child of")
    child = Relation("child of", "", "", asymmetric=True, irreflexive=True, inverse="parent of")
    kin = Ontology("kin", {"parent of": parent, "child of": child})
    beliefs = as_table([{("Anna", "parent of", "Ben"): 0.9, ("Ben", "parent of", "Cleo"): 0.9}])
    result = check(beliefs, kin, revision_cost=True).to_json()
    undecided = {"violated": 0, "applicable": 2, "undecided": 2, "rate": None}
    assert result["inverse"] == result["asymmetric"] == undecided
    assert result["micro"] is result["macro"] is result["contradiction_density"] is None
    assert (result["groups"], result["groups_decided"], result["groups_with_violations"]) == (
        1,
        0,
        0,
    )
    assert result["revision_cost"] == 0


def test_a_column_of_truths_leaves_what_it_lacks_unknown() -> None:
    """A null in the column that is checked is missing, and costs nothing to change."""
    beliefs = beliefs_of(a_above_b=0.9, b_below_a=0.9).with_columns(label=pl.Series([True, None]))
    found = check(beliefs, PARTS, "label", revision_cost=True)
    assert found.counts["inverse"].undecided == 1
    assert (found.missing, found.revision_cost) == (1, 0)


def test_repaired_beliefs_with_a_missing_one_are_decided() -> None:
    """Repair gives every asked statement a truth value, one without a belief as well."""
    repaired = repair(
        beliefs_of(a_above_b=0.9, b_above_a=0.1, b_below_a=None, a_below_b=None), PARTS
    )
    assert check(repaired.beliefs, PARTS, "repaired").total.undecided == 0
