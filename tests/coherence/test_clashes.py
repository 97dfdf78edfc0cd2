"""Indirect clashes: minimal sets of believed statements that cannot all be true."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.coherence.enrich import enrich
from tacit.errors import DataError

ONTOLOGIES = {name: tacit.Ontology.load(name) for name in ("time", "space", "parts")}
Statements = list[tuple[str, str, str]]


def possible(statements: Statements, ontology: tacit.Ontology) -> bool:
    """Whether enrichment derives no statement that is both true and false."""
    if not statements:
        return True
    frame = pl.DataFrame(statements, schema=["subject", "relation", "object"], orient="row")
    try:
        enrich(frame, ontology)
    except DataError:
        return False
    return True


def statements_of(ontology: str) -> st.SearchStrategy[Statements]:
    """Distinct statements about a few items."""
    relations = st.sampled_from(list(ONTOLOGIES[ontology].relations))
    pairs = st.permutations("abcde").map(lambda items: items[:2])
    one = st.tuples(pairs, relations).map(lambda made: (made[0][0], made[1], made[0][1]))
    return st.lists(one, unique=True, min_size=1, max_size=12)


@pytest.mark.parametrize("name", ONTOLOGIES)
@given(data=st.data())
def test_clashes_are_minimal_disjoint_and_complete(name: str, data: st.DataObject) -> None:
    """Each clash is impossible, each of its parts possible, and so is all that remains."""
    ontology, believed = ONTOLOGIES[name], data.draw(statements_of(name))
    rows = [dict(zip(("subject", "relation", "object"), one, strict=True)) for one in believed]
    found = tacit.check(
        pl.DataFrame(
            [{**row, "p_true": 0.9} for row in rows],
            schema={"subject": str, "relation": str, "object": str, "p_true": float},
        ),
        ontology=ontology,
    )
    blamed = {
        tuple(row[f"{part}_{number}"] for part in ("subject", "relation", "object"))
        for row in found.violations.iter_rows(named=True)
        for number in (1, 2, 3)
    }
    left = [one for one in believed if one not in blamed]
    assert found.clashing == (not possible(left, ontology))
    example = found.example_clash.select("subject", "relation", "object").rows()
    assert bool(example) == bool(found.clashing)
    assert not example or not possible(example, ontology)
    for _, clash in found.clashes.group_by("clash"):
        members = clash.select("subject", "relation", "object").rows()
        assert not possible(members, ontology)
        assert all(
            possible(list(some), ontology) for some in combinations(members, len(members) - 1)
        )
        assert set(members) <= set(left)
        left = [one for one in left if one not in members]
    assert possible(left, ontology)


def test_a_clash_beside_a_violation_is_found_in_its_group() -> None:
    """A cycle is not hidden by a violated constraint, and belongs to the group that has it."""
    cycle = [("a", "before", "b"), ("b", "before", "c"), ("c", "before", "a")]
    pair = [("d", "before", "e"), ("e", "before", "d")]
    rows = [
        {"person": person, "subject": s, "relation": r, "object": o, "p_true": 0.9}
        for person, statements in (("ann", pair), ("bob", [*pair, *cycle]), ("eve", cycle[:2]))
        for s, r, o in statements
    ]
    found = tacit.check(pl.DataFrame(rows), ontology="time")
    assert found.clashing == found.to_json()["groups_with_clashes"] == 1
    assert found.clashes.columns == ["person", "clash", "subject", "relation", "object", "p_true"]
    assert found.clashes["person"].to_list() == ["bob"] * 3
    assert set(found.clashes.select("subject", "relation", "object").rows()) == set(cycle)
