"""Number of concepts per property, by category (Weir et al. 2020, "Properties Grouped").

In Weir et al. (2020), a perceptual property occurs on average in nearly twice as many concepts as a
non-perceptual property. A perceptual property is a weaker clue to a concept than a non-perceptual
property, because it applies to more concepts.
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
"""The two pooled categories of properties in Weir et al. (2020).

For example, the pooled category ``perceptual`` combines the categories ``visual perceptual`` and
``other perceptual``.
"""


def by_category(norms: Norms) -> pl.DataFrame:
    """Compute the mean number of concepts per property for each property category.

    Args:
        norms: The feature norms. Properties are counted even if their wording cannot be used in a
            prompt. A property that occurs in two categories is counted in both categories.

    Returns:
        The columns ``category``, ``properties``, ``concepts_per_property`` and ``usable``.
        ``category`` contains the property categories sorted by name, followed by the pooled
        categories ``perceptual`` and ``non-perceptual``. ``properties`` is the number of different
        features (such as ``has fur``) that belong to the property category.
        ``concepts_per_property`` is the number of concepts that have a feature, averaged over the
        features of the category. ``usable`` is the number of concepts with at least one property of
        the category. The table is empty if the norms do not assign categories to properties.
    """
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
    """Count concepts with at least n properties of each category, n = 1 to 10 (Figure 3a).

    Returns:
        The columns ``category`` (as in ``by_category``), ``n`` and ``concepts`` (the number of
        concepts with at least n properties).
    """
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
