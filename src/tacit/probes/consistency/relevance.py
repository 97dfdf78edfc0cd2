"""Relevance as the paper defines it (section 3.1) and never measures it.

A fact is relevant when a model that answers it right is more often right about the anchor:
P(anchor right | fact right) - P(anchor right). One model answers a fact right or does not, so both
are probabilities of a draw: one fact at random, then one of its anchors. The second counts the
facts answered wrong as well, so relevance is 0 when all are answered right, whichever anchors have
the most facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.statistics import conditional
from tacit.statistics.conditional import Links, conditional_gain

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.asked import Asked
    from tacit.probes.consistency.knowing import Known
    from tacit.statistics.studentised import Permutations

ALL = "all"
# Why a relevance has no interval, in the finding's words.
REASONS = {
    conditional.FEW_MARKED: "too few facts right",
    conditional.FEW_OTHERS: "too few facts wrong",
    conditional.FEW_CLUSTERS: "too few question concepts",
    conditional.EXTREME: "all questions right or all wrong on one side",
}


def relevance(
    known: Known, asked: Asked, anchors: pl.DataFrame, how: Permutations | None = None
) -> pl.DataFrame:
    """The relevance of all positive facts, and of each relation's.

    Args:
        known: The facts.
        asked: Which anchor has which fact.
        anchors: ``right`` (null where there is no answer) and ``cluster``, one row per anchor.
        how: How the interval is made: by permuting which facts are right, clustered by ``cluster``.

    Returns:
        ``relation`` (all, then each), ``facts_right``, ``facts_wrong`` (with an answered anchor),
        ``given_right`` and ``given_wrong`` (the mean over such facts of their anchors' accuracy),
        ``accuracy`` (over both), ``relevance`` (given_right - accuracy), ``low``, ``high``,
        ``no_interval`` (why there is none, such as fewer than 20 facts right). Null where there is
        no such fact.
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
    pairs = pairs.drop_nulls(["right", "known"])
    parts = [(ALL, pairs), *((name, pairs.filter(relation=name)) for name in names)]
    rows = [(name, *_row(known, part, how)) for name, part in parts]
    counts = dict.fromkeys(("facts_right", "facts_wrong"), pl.Int64)
    figures = ("given_right", "given_wrong", "accuracy", "relevance", "low", "high")
    schema = {"relation": pl.String, **counts, **dict.fromkeys(figures, pl.Float64)}
    return pl.DataFrame(rows, {**schema, "no_interval": pl.String}, orient="row")


def _row(
    known: Known, pairs: pl.DataFrame, how: Permutations | None
) -> tuple[int | float | str | None, ...]:
    links = Links(*(pairs[name].to_numpy() for name in ("fact", "cluster", "right")))
    found = conditional_gain(known.positive == 1, links, how)
    return (
        *(found.marked, found.others),
        *(found.given_marked, found.given_others, found.mean),
        *(found.gain.value, found.gain.low, found.gain.high),
        None if found.no_interval is None else REASONS[found.no_interval],
    )
