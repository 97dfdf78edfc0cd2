"""Relevance as the paper defines it (section 3.1) and never measures it.

A fact is relevant when a model that answers it right is more often right about the anchor:
P(anchor right | fact right) - P(anchor right). One model answers a fact right or does not, so both
are probabilities of a draw: one fact at random, then one of its anchors. The second counts the
facts answered wrong as well, so relevance is 0 when all are answered right, whichever anchors have
the most facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.asked import Asked
    from tacit.probes.consistency.knowing import Known
    from tacit.statistics import Bootstrap

ALL = "all"


def relevance(
    known: Known, asked: Asked, anchors: pl.DataFrame, bootstrap: Bootstrap
) -> pl.DataFrame:
    """The relevance of all positive facts, and of each relation's.

    Args:
        known: The facts.
        asked: Which anchor has which fact.
        anchors: ``right`` (null where there is no answer) and ``cluster``, one row per anchor.
        bootstrap: How the interval is made, clustered by ``cluster``.

    Returns:
        ``relation`` (all, then each), ``facts_right``, ``facts_wrong`` (with an answered anchor),
        ``given_right`` and ``given_wrong`` (the mean over such facts of their anchors' accuracy),
        ``accuracy`` (over both), ``relevance`` (given_right - accuracy), ``low``, ``high``. Null
        where there is no such fact.
    """
    import polars as pl

    pairs = asked.links.join(
        anchors.select("right", "cluster", anchor=pl.int_range(pl.len())),
        on="anchor",
        maintain_order="left",
    ).with_columns(
        relation=asked.facts["relation"].gather(asked.links["fact"]),
        known=pl.Series(known.positive[asked.links["fact"].to_numpy()]).fill_nan(None),
    )
    names = sorted(pairs["relation"].unique())
    # Each fact counts once, however many anchors it has.
    pairs = pairs.drop_nulls(["right", "known"]).with_columns(weight=1 / pl.len().over("fact"))
    parts = [(ALL, pairs), *((name, pairs.filter(relation=name)) for name in names)]
    rows = [(name, *_row(part, bootstrap)) for name, part in parts]
    counts = dict.fromkeys(("facts_right", "facts_wrong"), pl.Int64)
    figures = ("given_right", "given_wrong", "accuracy", "relevance", "low", "high")
    return pl.DataFrame(
        rows, {"relation": pl.String, **counts, **dict.fromkeys(figures, pl.Float64)}, orient="row"
    )


def _row(pairs: pl.DataFrame, bootstrap: Bootstrap) -> tuple[int | float | None, ...]:
    right, wrong = pairs.filter(known=1.0), pairs.filter(known=0.0)
    known, weight = pairs["known"].to_numpy(), pairs["weight"].to_numpy()
    under = np.stack([weight, weight * known])
    over = under * pairs["right"].cast(int).to_numpy()
    gain = bootstrap.difference(pairs["cluster"].to_numpy(), over, under)
    return (
        *(right["fact"].n_unique(), wrong["fact"].n_unique()),
        *(_mean(part) for part in (right, wrong, pairs)),
        *(gain.value, gain.low, gain.high),
    )


def _mean(pairs: pl.DataFrame) -> float | None:
    """The mean over facts of their anchors' accuracy."""
    if pairs.is_empty():
        return None
    return float(np.average(pairs["right"].to_numpy(), weights=pairs["weight"].to_numpy()))
