"""Trace how a single anchor question contributes to conceptual consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.findings.spec import TableSpec


TABLES = ("anchors", "links", "facts", "choices", "consistency")


def trace(tables: Mapping[str, pl.DataFrame], anchor: str) -> dict[str, Any]:
    """Collect all results of a run that concern one anchor question."""
    import polars as pl

    anchors = tables["anchors"]
    place = anchors["anchor"].index_of(anchor)
    if place is None:
        some = ", ".join(anchors["anchor"].head(3))
        raise RequestError(f"the run has no anchor question {anchor!r}; its ids are {some}, …")
    of = tables["links"].filter(pl.col("anchor") == place)["fact"]
    facts = tables["facts"].filter(pl.col("fact").is_in(of.implode()))
    best = (
        tables["choices"]
        .filter(pl.col("anchor") == anchor)
        .sort("per_byte", descending=True, nulls_last=True, maintain_order=True)
        .unique("choice", keep="first", maintain_order=True)
    )
    return {
        **anchors.row(place, named=True),
        "facts_count": facts.height,
        "choices": best.drop("anchor").to_dicts(),
        "facts": facts.drop("fact").to_dicts(),
        "contribution": _contribution(anchors, place, tables["consistency"]),
    }


def _contribution(
    anchors: pl.DataFrame, place: int, consistency: pl.DataFrame
) -> dict[str, Any] | None:
    """Return the entry ``contribution`` of the result of ``trace``."""
    own = anchors.row(place, named=True)
    threshold = own["background_score"]
    if threshold is None or own["right"] is None:
        return None
    able = anchors.drop_nulls(["background_score", "right"])
    above = able.filter(able["background_score"] >= threshold)
    right, everything = int(above["right"].sum()), int(able["right"].sum())
    precision = right / above.height
    return {
        "background_score": threshold,
        "at_least": above.height,
        "right": right,
        "precision": precision,
        "all_right": everything,
        "adds": precision / everything if own["right"] else 0.0,
        "consistency": consistency["consistency"].item(),
    }


def tables_of(found: Mapping[str, Any]) -> Iterator[tuple[TableSpec, pl.DataFrame]]:
    """Yield the result of ``trace`` as tables: the question, its choices and facts, its part."""
    import polars as pl

    from tacit.probes.consistency.details import asked
    from tacit.probes.consistency.tables import DETAILS

    one = {name: value for name, value in found.items() if not isinstance(value, list | dict)}
    rows = {"questions": [{**one, "facts": found["facts_count"]}], "choices": found["choices"]}
    for name, given in rows.items():
        if given:
            yield DETAILS[name], pl.DataFrame(given)
    if found["facts"]:
        yield DETAILS["facts"], asked(pl.DataFrame(found["facts"]).with_row_index("fact"))
    if found["contribution"] is not None:
        yield DETAILS["contribution"], DETAILS["contribution"].frame([found["contribution"]])
