from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.probes.assumptions.averages import categories
from tacit.sources.norms import Norms, Property

NAMES = ("visual perceptual", "other perceptual", "functional", "encyclopaedic", "taxonomic")
# In the order of the tables.
PARTS = {
    **{name: {name} for name in sorted(NAMES)},
    "perceptual": set(NAMES[:2]),
    "non-perceptual": set(NAMES[2:]),
}
CELLS = st.tuples(
    st.integers(0, 6), st.integers(0, 9), st.one_of(st.none(), st.sampled_from(NAMES))
)
# Of one concept and feature there is one property.
ROWS = st.lists(CELLS, max_size=60, unique_by=lambda cell: cell[:2])


def norms_of(rows: list[tuple[int, int, str | None]]) -> Norms:
    """A property for each concept, feature and category."""
    properties = (Property(f"c{c}", f"has f{f}", 1, category) for c, f, category in rows)
    return Norms(Path("norms.tsv"), "table", tuple(properties), len(rows), {})


@given(rows=ROWS)
def test_concepts_by_property_are_counted_one_by_one(
    rows: list[tuple[int, int, str | None]],
) -> None:
    """The mean over a category's features of how many concepts each has, pooled ones included."""
    expected = []
    for name, parts in PARTS.items():
        of = [(c, f) for c, f, category in rows if category in parts]
        concepts: dict[int, set[int]] = {}
        for c, f in of:
            concepts.setdefault(f, set()).add(c)
        if of:
            mean = sum(map(len, concepts.values())) / len(concepts)
            expected.append((name, len(concepts), mean, len({c for c, _ in of})))
    assert categories(norms_of(rows))["categories"].rows() == expected


@given(rows=ROWS)
def test_concepts_with_so_many_properties(rows: list[tuple[int, int, str | None]]) -> None:
    """From 1 to 10 of a category or of those pooled; the first count is of the usable ones."""
    norms = norms_of(rows)
    found = categories(norms)["category_counts"]
    for (category,), some in found.group_by("category", maintain_order=True):
        of = [c for c, _, named in rows if named in PARTS[str(category)]]
        assert some["n"].to_list() == list(range(1, 11))
        assert some["concepts"].to_list() == [
            sum(of.count(concept) >= n for concept in set(of)) for n in range(1, 11)
        ]
    first = found.filter(n=1).select("category", "concepts").rows()
    assert first == categories(norms)["categories"].select("category", "usable").rows()


def test_perceptual_properties_are_pooled() -> None:
    """A concept with one visual and one other property has two perceptual ones."""
    found = categories(norms_of([(0, 0, NAMES[0]), (0, 1, NAMES[1]), (1, 2, NAMES[0])]))[
        "category_counts"
    ]
    perceptual = found.filter(category="perceptual")["concepts"].to_list()
    assert perceptual[:3] == [2, 1, 0]


def test_other_names_of_categories_are_kept_and_not_pooled() -> None:
    """Norms may class properties as they like."""
    found = categories(norms_of([(0, 0, "sensory"), (1, 0, "sensory"), (1, 1, None)]))["categories"]
    assert found.rows() == [("sensory", 1, 2.0, 2)]


@pytest.mark.parametrize("rows", [[], [(0, 0, None), (1, 1, None)]])
def test_norms_without_categories_give_empty_tables(
    rows: list[tuple[int, int, str | None]],
) -> None:
    """With their columns, in order."""
    norms = norms_of(rows)
    first = categories(norms)["categories"]
    assert first.columns == ["category", "properties", "concepts_per_property", "usable"]
    assert categories(norms)["category_counts"].columns == ["category", "n", "concepts"]
    assert first.is_empty()
    assert categories(norms)["category_counts"].is_empty()


def test_the_layout_of_the_cslb_norms(norms: Norms) -> None:
    """The bear's six visual properties are its own; of ten others five concepts have most."""
    rows = {row["category"]: row for row in categories(norms)["categories"].iter_rows(named=True)}
    visual = rows["visual perceptual"]
    assert (visual["properties"], visual["usable"]) == (16, 7)
    assert visual["concepts_per_property"] == (6 + 5 * 10 + 9) / 16
    assert rows["perceptual"]["properties"] == 17
    assert rows["functional"]["usable"] == 2
