"""Tables that compare models: paired differences, and slopes by model size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.findings.findings import SHARED, Findings
from tacit.findings.numbers import size

if TYPE_CHECKING:
    from tacit.findings.measure import Measure, Measures
    from tacit.statistics import Bootstrap


def comparison(
    measures: Measures, found: Mapping[str, Findings], how: Bootstrap | None = None
) -> pl.DataFrame:
    """The paired differences of all measures of each pair of models."""
    from tacit.statistics import Bootstrap
    from tacit.statistics.tests import holm

    how = how or Bootstrap.for_pairs(len(found))
    rows = [
        {"first": first, "second": second, **_difference(measure, how)}
        for first, second in combinations(found, 2)
        for measure in measures({first: found[first], second: found[second]})
    ]
    for name in {row["measure"] for row in rows}:
        mine = [row for row in rows if row["measure"] == name]
        for row, p in zip(mine, holm([row["p"] for row in mine]), strict=True):
            row["p_holm"] = p
    return SHARED["comparison"].frame(rows)


def _difference(measure: Measure, how: Bootstrap) -> dict[str, Any]:
    first, second = measure.values
    change = measure.difference(how)
    chance = dict(zip(("first_chance", "second_chance"), measure.chance or (), strict=False))
    return {
        "measure": measure.name,
        "main": measure.main,
        "first_value": first,
        "second_value": second,
        "difference": change,
        "p": change.p_value,
        "n": measure.n,
        **chance,
        "note": measure.remark,
    }


def flips(sides: Mapping[str, Mapping[str, pl.DataFrame]]) -> pl.DataFrame:
    """Count the answers that differ between each two models; see ``Probe.sides``."""
    rows = [
        {"answer": noun, "first": first, "second": second, **_flipped(table, sides[second][noun])}
        for first, second in combinations(sides, 2)
        for noun, table in sides[first].items()
    ]
    return SHARED["flips"].frame(rows)


_OF_ANSWER = frozenset({"side", "right", "log_odds", "yes", "votes"})


def of_question(side: pl.DataFrame) -> list[str]:
    """Return the columns that identify the question of an answer in ``Probe.sides``."""
    return [name for name in side.columns if name not in _OF_ANSWER]


def _flipped(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, int]:
    both = first.join(second, on=of_question(first), suffix=" then")
    changed = both.filter(pl.col("side") != pl.col("side then"))
    before, after = pl.col("right"), pl.col("right then")
    return {
        "n": both.height,
        "changed": changed.height,
        "became_wrong": changed.filter(before & ~after).height,
        "became_right": changed.filter(~before & after).height,
    }


def by_family(
    families: Mapping[str, str | None], sizes: Mapping[str, int | None]
) -> dict[str, dict[str, int]]:
    """The models of each family, from the smallest; empty if no family has models of two sizes."""
    known = sorted(
        (family, parameters, model)
        for model, family in families.items()
        if family and (parameters := sizes.get(model))
    )
    grouped = {
        family: {model: parameters for _, parameters, model in group}
        for family, group in groupby(known, key=lambda each: each[0])
    }
    return grouped if any(len(set(of.values())) > 1 for of in grouped.values()) else {}


def slopes(
    measures: Measures,
    found: Mapping[str, Findings],
    families: Mapping[str, Mapping[str, int]],
    how: Bootstrap | None = None,
) -> pl.DataFrame:
    """The slope of each main measure in each family, whose models are given with their sizes."""
    from tacit.statistics import Bootstrap

    how = how or Bootstrap()
    rows = [
        {"family": family, **_slope(measure, list(sizes.values()), how)}
        for family, sizes in families.items()
        if len(set(sizes.values())) > 1
        for measure in measures({model: found[model] for model in sizes})
        if measure.main
    ]
    order = list(dict.fromkeys(row["measure"] for row in rows))
    return SHARED["slopes"].frame(sorted(rows, key=lambda row: order.index(row["measure"])))


def _slope(measure: Measure, parameters: Sequence[int], how: Bootstrap) -> dict[str, Any]:
    change = measure.slope(parameters, how)
    undefined = "undefined for a model" if change.value is None else None
    return {
        "measure": measure.name,
        "models": len(parameters),
        "smallest": size(parameters[0]),
        "largest": size(parameters[-1]),
        "n": measure.n,
        "slope": change,
        "note": measure.remark or undefined,
    }
