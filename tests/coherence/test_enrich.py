from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.coherence.relation import Relation
from tacit.errors import DataError

PARTS = Ontology.load("parts")
ITEMS = ("a", "b", "c", "d", "e")
Statement = tuple[str, str, str]

# The relations of Gu et al. (2023), Table 2 and section 5.2, written down a second time.
TRANSITIVE = {
    "inside": "contains",
    "in front of": "behind",
    "above": "below",
    "surrounds": "surrounded by",
}
ONE_WAY = TRANSITIVE | {"part of": "has part", "requires": "required by"}
SYMMETRIC = ("connects", "next to")


def frame(*statements: Statement) -> pl.DataFrame:
    return pl.DataFrame(list(statements), schema=["subject", "relation", "object"], orient="row")


def labels_of(enriched: pl.DataFrame) -> dict[Statement, bool]:
    return {(s, r, o): label for s, r, o, label in enriched.iter_rows()}


def closed(statements: list[Statement]) -> dict[Statement, bool] | None:
    """The labels by another way: one adjacency matrix per pair of relations; None if they clash."""
    labels: dict[Statement, bool] = {}
    for name in (*ONE_WAY, *SYMMETRIC):
        inverse = ONE_WAY.get(name, name)
        arcs = np.zeros((len(ITEMS), len(ITEMS)), dtype=bool)
        for subject, relation, obj in statements:
            if relation == name:
                arcs[ITEMS.index(subject), ITEMS.index(obj)] = True
            if relation == inverse:
                arcs[ITEMS.index(obj), ITEMS.index(subject)] = True
        for middle in range(len(ITEMS)) if name in TRANSITIVE else ():
            arcs |= np.outer(arcs[:, middle], arcs[middle])
        if name in ONE_WAY and (arcs & arcs.T).any():
            return None
        for i, j in np.argwhere(arcs):
            labels[ITEMS[i], name, ITEMS[j]] = True
            labels[ITEMS[j], inverse, ITEMS[i]] = True
            if name in ONE_WAY:
                labels[ITEMS[j], name, ITEMS[i]] = False
                labels[ITEMS[i], inverse, ITEMS[j]] = False
    return labels


@st.composite
def any_statements(draw: st.DrawFn) -> list[Statement]:
    pairs = st.permutations(ITEMS).map(lambda items: (items[0], items[1]))
    relation = st.sampled_from(list(PARTS.relations))
    drawn = draw(st.lists(st.tuples(pairs, relation), min_size=1, max_size=8))
    return [(subject, name, obj) for (subject, obj), name in drawn]


@st.composite
def consistent_statements(draw: st.DrawFn) -> list[Statement]:
    """Statements whose one-way relations all follow one hidden order of the items."""
    order = draw(st.permutations(ITEMS))
    backward = set(ONE_WAY.values())
    return [
        (subject, name, obj)
        for subject, name, obj in draw(st.lists(any_statements(), max_size=3).map(_joined))
        if name in SYMMETRIC or (order.index(subject) < order.index(obj)) == (name not in backward)
    ]


def _joined(lists: list[list[Statement]]) -> list[Statement]:
    return [statement for statements in lists for statement in statements]


@given(any_statements())
def test_labels_equal_those_of_adjacency_matrices(statements: list[Statement]) -> None:
    expected = closed(statements)
    if expected is None:
        with pytest.raises(DataError, match="is implied to be both true and false"):
            enrich(frame(*statements), PARTS)
    else:
        assert labels_of(enrich(frame(*statements), PARTS)) == expected


@settings(max_examples=40)
@given(consistent_statements(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_labels(
    statements: list[Statement], dice: Random
) -> None:
    """Of statements that never clash: labels of shuffled rows, and of all that is true, stay."""
    enriched = enrich(frame(*statements), PARTS)
    assert labels_of(enriched) == closed(statements)
    shuffled = [*statements, *statements]
    dice.shuffle(shuffled)
    assert labels_of(enrich(frame(*shuffled), PARTS)) == labels_of(enriched)
    again = enrich(enriched.filter(pl.col("label")).drop("label"), PARTS)
    assert labels_of(again) == labels_of(enriched)


def test_one_statement_of_each_kind() -> None:
    """An asymmetric statement makes four labels, a symmetric one two, in the documented order."""
    both = frame(("trunk", "above", "roots"), ("leaves", "connects", "trunk"))
    assert enrich(both, PARTS).rows() == [
        ("trunk", "above", "roots", True),
        ("trunk", "below", "roots", False),
        ("trunk", "connects", "leaves", True),
        ("roots", "above", "trunk", False),
        ("roots", "below", "trunk", True),
        ("leaves", "connects", "trunk", True),
    ]


def test_groups_do_not_mix() -> None:
    """Statements of two groups make nothing together, also where a group's name is missing."""
    statements = pl.DataFrame(
        {
            "who": ["ann", None, "ann"],
            "subject": ["a", "b", "c"],
            "relation": ["above", "above", "below"],
            "object": ["b", "c", "d"],
            "page": [1, 1, 2],
        }
    )
    enriched = enrich(statements, PARTS)
    assert enriched.columns == ["who", "subject", "relation", "object", "page", "label"]
    assert enriched.schema["page"] == pl.Int64
    assert enriched.group_by("who", "page", maintain_order=True).len().rows() == [
        ("ann", 1, 4),
        (None, 1, 4),
        ("ann", 2, 4),
    ]


def test_nothing_makes_nothing() -> None:
    empty = frame(("a", "above", "b")).clear()
    assert enrich(empty, PARTS).schema == {**empty.schema, "label": pl.Boolean}


def test_implied_and_excluded_relations_are_labelled() -> None:
    """What a relation implies is true, and what it excludes false, whichever of the two says so."""
    ontology = Ontology(
        "family",
        {
            "parent of": Relation("parent of", "", "", implies=("older than",)),
            "older than": Relation("older than", "", "", asymmetric=True, excludes=("twin of",)),
            "twin of": Relation("twin of", "", "", symmetric=True),
        },
    )
    assert labels_of(enrich(frame(("a", "parent of", "b")), ontology)) == {
        ("a", "parent of", "b"): True,
        ("a", "older than", "b"): True,
        ("b", "older than", "a"): False,
        ("a", "twin of", "b"): False,
        ("b", "twin of", "a"): False,
    }
    assert labels_of(enrich(frame(("a", "twin of", "b")), ontology)) == {
        ("a", "twin of", "b"): True,
        ("b", "twin of", "a"): True,
        ("a", "older than", "b"): False,
        ("b", "older than", "a"): False,
    }


@given(st.permutations([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]))
def test_a_transitive_relation_needs_no_other_property(arcs: list[tuple[str, str]]) -> None:
    """Without inverse or asymmetry chains close in any order of rows, nothing reaches itself."""
    ontology = Ontology("ways", {"leads to": Relation("leads to", "", "", transitive=True)})
    statements = [(start, "leads to", end) for start, end in arcs]
    loop = {(x, "leads to", y): True for x in "bcd" for y in "bcd" if x != y}
    reached = {("a", "leads to", y): True for y in "bcd"}
    assert labels_of(enrich(frame(*statements), ontology)) == loop | reached


def test_a_contradiction_names_the_group_and_the_statement() -> None:
    cycle = frame(("a", "above", "b"), ("b", "above", "c"), ("c", "above", "a"))
    with pytest.raises(
        DataError, match=r"^thing 'tree': 'a above b' is implied to be both true and false"
    ):
        enrich(cycle.with_columns(pl.lit("tree").alias("thing")), PARTS)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (frame(("a", "over", "b")), "^statements: unknown relation 'over'; expected part of,"),
        (frame(("a", "above", "b")).drop("object"), "no column object"),
        (frame(("a", "next to", "a")), "'a next to a' is implied to be both"),
        (frame(("a", "above", "b")).with_columns(label=True), "have a column label"),
        (
            frame(("a", "above", "b")).with_columns(object=pl.lit(None)),
            "some rows .* have no object",
        ),
    ],
)
def test_malformed_statements_are_errors(statements: pl.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        enrich(statements, PARTS)
