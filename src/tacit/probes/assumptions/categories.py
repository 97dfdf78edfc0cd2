"""Number of concepts per property, by category (Weir et al. 2020, "Properties Grouped")."""

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
"""The two pooled categories of properties in Weir et al. (2020).

For example, the pooled category ``perceptual`` combines the categories ``visual perceptual`` and
``other perceptual``.
"""


def by_category(norms: Norms) -> pl.DataFrame:
    """Compute the mean number of concepts per property for each property category."""
    import polars as pl

    rows = []
    for category, some in _categories(norms).items():
        features = len({one.feature for one in some})
        concepts = len({one.concept for one in some})
        # The norms contain each pair of a concept and a feature once.
        rows.append((category, features, len(some) / features, concepts))
    schema = {
        "category": pl.String,
        "properties": pl.Int64,
        "concepts_per_property": pl.Float64,
        "usable": pl.Int64,
    }
    return pl.DataFrame(rows, schema, orient="row")


def counts(norms: Norms) -> pl.DataFrame:
    """Count concepts with at least n properties of each category, n = 1 to 10 (Figure 3a)."""
    import polars as pl

    rows = []
    for category, some in _categories(norms).items():
        of_concept = Counter(one.concept for one in some).values()
        rows += [(category, n, sum(has >= n for has in of_concept)) for n in range(1, MOST + 1)]
    schema = {"category": pl.String, "n": pl.Int64, "concepts": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def _categories(norms: Norms) -> dict[str, list[Property]]:
    """Group properties by category, and also by the larger categories in ``POOLED``."""
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
