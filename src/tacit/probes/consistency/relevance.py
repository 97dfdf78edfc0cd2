"""Relevance as the paper defines it (section 3.1) and never measures it.

A fact is relevant when a model that answers it right is more often right about the anchor:
P(anchor right | fact right) - P(anchor right). For one model, a fact is right or not, so this is
averaged over the facts that are right, each with the mean over its anchors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.knowing import mean_of

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
        ``accuracy`` (of all anchors that have a fact), ``relevance`` (given_right - accuracy),
        ``low``, ``high``. Null where there is no such fact.
    """
    import polars as pl

    pairs = asked.links.join(
        anchors.select("right", "cluster", anchor=pl.int_range(pl.len())),
        on="anchor",
        maintain_order="left",
    ).drop_nulls("right")
    relations = asked.facts["relation"].gather(pairs["fact"])
    known_fact = known.positive[pairs["fact"].to_numpy()]
    pairs = pairs.with_columns(
        relation=relations,
        known=pl.Series(known_fact).fill_nan(None),
        # Each fact counts once, however many anchors it has.
        weight=1 / pl.len().over("fact"),
    )
    whole = pairs.unique("anchor", maintain_order=True).select("anchor", "cluster", "right")
    parts = [(ALL, pairs)]
    parts += [(name, pairs.filter(relation=name)) for name in sorted(relations.unique())]
    rows = [(name, *_row(part, whole, bootstrap)) for name, part in parts]
    counts = dict.fromkeys(("facts_right", "facts_wrong"), pl.Int64)
    figures = ("given_right", "given_wrong", "accuracy", "relevance", "low", "high")
    return pl.DataFrame(
        rows, {"relation": pl.String, **counts, **dict.fromkeys(figures, pl.Float64)}, orient="row"
    )


def _row(
    pairs: pl.DataFrame, whole: pl.DataFrame, bootstrap: Bootstrap
) -> tuple[int | float | None, ...]:
    right, wrong = pairs.filter(known=1.0), pairs.filter(known=0.0)
    counts = (right["fact"].n_unique(), wrong["fact"].n_unique())
    given = (_mean(right), _mean(wrong))
    clusters = np.concatenate([whole["cluster"].to_numpy(), right["cluster"].to_numpy()])
    none, one = np.zeros(right.height), np.ones(whole.height)
    weight = right["weight"].to_numpy()
    over = np.stack(
        [
            np.concatenate([whole["right"].cast(int).to_numpy(), none]),
            np.concatenate([0 * one, weight * right["right"].cast(int).to_numpy()]),
        ]
    )
    under = np.stack([np.concatenate([one, none]), np.concatenate([0 * one, weight])])
    gain = bootstrap.difference(clusters, over, under)
    return (*counts, *given, mean_of(whole["right"]), gain.value, gain.low, gain.high)


def _mean(pairs: pl.DataFrame) -> float | None:
    """The mean over facts of their anchors' accuracy."""
    if pairs.is_empty():
        return None
    return float(np.average(pairs["right"].to_numpy(), weights=pairs["weight"].to_numpy()))
