from __future__ import annotations

from pathlib import Path

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
    properties = (Property(f"c{c}", f"has f{f}", 1, category) for c, f, category in rows)
    return Norms(Path("norms.tsv"), tuple(properties))


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


def test_other_names_of_categories_are_kept_and_not_pooled() -> None:
    """Norms may class properties as they like."""
    found = categories(norms_of([(0, 0, "sensory"), (1, 0, "sensory"), (1, 1, None)]))["categories"]
    assert found.rows() == [("sensory", 1, 2.0, 2)]
