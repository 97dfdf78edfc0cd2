"""One anchor, followed from its question to what it adds to conceptual consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

TABLES = ("anchors", "links", "facts", "choices", "consistency")


def trace(tables: Mapping[str, pl.DataFrame], anchor: str) -> dict[str, Any]:
    """What a run found of one anchor.

    Args:
        tables: The findings named in ``TABLES``.
        anchor: The anchor's id.

    Returns:
        The row of ``anchors``, where ``facts_count`` is its number of facts; ``choices``, each
        with its best form in nats per byte; ``facts``, the rows of the finding; and
        ``contribution``: ``background_score`` (the threshold), ``at_least`` (anchors with such a
        score or a higher one), ``right`` of these, ``precision``, ``all_right`` (right anchors in
        all), ``adds`` (precision over ``all_right``; 0 for an anchor that is wrong),
        ``consistency`` (what all of them add up to). None where the anchor takes no part.

    Raises:
        RequestError: There is no such anchor.
    """
    import polars as pl

    anchors = tables["anchors"]
    place = anchors["anchor"].index_of(anchor)
    if place is None:
        some = ", ".join(anchors["anchor"].head(3))
        raise RequestError(f"the run has no question {anchor!r}; it has {some}, …")
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
    """What the anchor adds to average precision: at its score, the precision over all right."""
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
