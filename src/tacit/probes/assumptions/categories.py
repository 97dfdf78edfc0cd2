"""How many concepts share a property, by its category (Weir et al. 2020, "Properties Grouped").

The paper finds the average perceptual property in nearly twice as many concepts as the average
other one (6 against 3), which makes it the worse clue.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tacit.probes.assumptions.retrieval import MOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.sources.norms import Norms, Property

POOLED: Mapping[str, frozenset[str]] = {
    "perceptual": frozenset({"visual perceptual", "other perceptual"}),
    "non-perceptual": frozenset({"functional", "encyclopaedic", "taxonomic"}),
}
"""The categories that the paper compares together."""


def by_category(norms: Norms) -> pl.DataFrame:
    """In how many concepts the average property of each category occurs.

    Args:
        norms: All properties count, also those that no prompt can state. One that people named of
            concepts under two categories is a property of either.

    Returns:
        ``category`` (by name, then the pooled ``perceptual`` and ``non-perceptual``),
        ``properties`` (distinct features), ``concepts_per_property`` (mean over them of the number
        of concepts each was named of), ``usable`` (concepts with one or more). No row where the
        norms name no category.
    """
    import polars as pl

    rows = []
    for category, some in _categories(norms).items():
        features = len({one.feature for one in some})
        concepts = len({one.concept for one in some})
        # Each pair of a concept and a feature stands once in the norms.
        rows.append((category, features, len(some) / features, concepts))
    schema = {
        "category": pl.String,
        "properties": pl.Int64,
        "concepts_per_property": pl.Float64,
        "usable": pl.Int64,
    }
    return pl.DataFrame(rows, schema, orient="row")


def counts(norms: Norms) -> pl.DataFrame:
    """How many concepts have at least n properties of a category, for n of 1 to 10 (Figure 3a).

    Returns:
        ``category`` (as ``by_category``), ``n``, ``concepts``.
    """
    import polars as pl

    rows = []
    for category, some in _categories(norms).items():
        of_concept = Counter(one.concept for one in some).values()
        rows += [(category, n, sum(has >= n for has in of_concept)) for n in range(1, MOST + 1)]
    schema = {"category": pl.String, "n": pl.Int64, "concepts": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def _categories(norms: Norms) -> dict[str, list[Property]]:
    """The properties of each category, and of those pooled."""
    found: dict[str, list[Property]] = {}
    for one in norms.properties:
        if one.category is not None:
            found.setdefault(one.category, []).append(one)
    pooled = {
        name: [one for part in sorted(parts) for one in found.get(part, [])]
        for name, parts in POOLED.items()
    }
    whole = {name: found[name] for name in sorted(found)}
    return whole | {name: some for name, some in pooled.items() if some}
