"""Background scores (Sahu et al. 2022, equation 1), the relevance of facts, and how often “yes”.

Everything is computed from the tables ``facts``, ``links`` and ``anchors`` of a run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.tables import TABLES
from tacit.statistics import Estimate
from tacit.statistics.estimate import t_interval
from tacit.statistics.permutation import Permutations, laid, p_value

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tacit.statistics import Bootstrap

ALL = "all"
SIDES = ("positive", "negative")

FEWEST_FACTS = 20
"""Minimum number of known facts, and of other facts, for a p-value of the relevance."""


def by_anchor(links: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Compute the background score of each ``anchor`` that has a fact."""
    import polars as pl

    yes, no = pl.col("positive_right"), pl.col("negative_right")
    # A single division, so that scores that are equal on paper, such as (1/5 + 2/5)/2 and
    # (3/5 + 0)/2, are equal here too and form one threshold of average precision.
    score = (yes.sum() * no.count() + no.sum() * yes.count()) / (2 * yes.count() * no.count())
    found = links.join(facts, on="fact", maintain_order="left")
    return found.group_by("anchor", maintain_order=True).agg(
        facts=pl.len().cast(pl.Int64),
        positives=yes.count().cast(pl.Int64),
        negatives=no.count().cast(pl.Int64),
        positive_accuracy=yes.mean(),
        negative_accuracy=no.mean(),
        background_score=score.fill_nan(None),
    )


def by_relation(facts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute each relation's background score (Sahu et al. 2022, Figure 4a)."""
    rows: list[dict[str, Any]] = []
    sides = [f"{side}_right" for side in SIDES]
    for relation in sorted(facts["relation"].unique()):
        part = facts.filter(relation=relation)
        counts = [part[side].count() for side in sides]
        values = np.stack([part[side].cast(float).to_numpy() for side in sides])
        known = ~np.isnan(values)
        score = bootstrap.mean_of_ratios(part["head"].to_numpy(), np.where(known, values, 0), known)
        rows.append(
            {
                "relation": relation,
                "facts": part.height,
                "positives": counts[0],
                "negatives": counts[1],
                "positive_accuracy": part[sides[0]].mean(),
                "negative_accuracy": part[sides[1]].mean(),
                "background_score": score if all(counts) else Estimate(None, None, None),
            }
        )
    return TABLES["background_by_relation"].frame(rows)


def overall(relations: pl.DataFrame, anchors: pl.DataFrame) -> pl.DataFrame:
    """Compute the mean of the relations' background scores, with a t-interval."""
    mean = t_interval(relations["background_score"].to_list())
    if mean.low is not None and mean.high is not None:
        mean = replace(mean, low=max(0.0, mean.low), high=min(1.0, mean.high))
    scored = anchors.drop_nulls("background_score")
    row = {
        "relations": relations["background_score"].count(),
        "value": mean,
        "n": scored.height,
        **{f"{side}_accuracy": mean_of(scored[f"{side}_accuracy"]) for side in SIDES},
    }
    return TABLES["background_score"].frame([row])


def anchor_accuracy(anchors: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the accuracy on all answered anchor questions, and on those with facts."""
    rows: list[dict[str, Any]] = []
    for name, part in (("all", anchors), ("with facts", anchors.filter(anchors["facts"] > 0))):
        done = part.drop_nulls("right")
        right = done["right"].cast(int).to_numpy()
        share = bootstrap.ratio(done["cluster"].to_numpy(), right, np.ones_like(right))
        rows.append({"of": name, "n": done.height, "value": share})
    return TABLES["anchor_accuracy"].frame(rows)


def mean_of(values: pl.Series) -> float | None:
    """Return the mean of the non-null values, or None if all values are null."""
    there = values.drop_nulls().to_numpy()
    return float(there.mean()) if len(there) else None


def relevance(
    facts: pl.DataFrame, links: pl.DataFrame, anchors: pl.DataFrame, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute the relevance of facts to anchor questions, for all facts and by relation."""
    import polars as pl

    own = anchors.select("right", "cluster", anchor=pl.int_range(pl.len(), dtype=pl.Int64))
    pairs = links.join(own, on="anchor", maintain_order="left").join(
        facts.select("fact", "relation", known="positive_right"), on="fact", maintain_order="left"
    )
    names = sorted(pairs["relation"].unique())
    pairs = pairs.drop_nulls(["right", "known"])
    return TABLES["relevance"].frame(
        {"relation": name, **gain(part, how or Permutations())}
        for name, part in ((ALL, pairs), *((name, pairs.filter(relation=name)) for name in names))
    )


def gain(pairs: pl.DataFrame, how: Permutations) -> dict[str, Any]:
    """Compute how much more often questions of a known fact are answered correctly.

    The one-sided p-value permutes which facts are known. A fact belongs to the cluster of its first
    question; clusters are moved as a whole.
    """
    import polars as pl

    of_fact = pl.col("cluster").first(), pl.col("known").first(), pl.col("right").mean()
    found = pairs.group_by("fact", maintain_order=True).agg(of_fact).sort("cluster", "fact")
    known, right = found["known"].to_numpy(), found["right"].to_numpy()
    given_right, accuracy = mean_of(found["right"].filter(found["known"])), mean_of(found["right"])
    p = None
    if min(known.sum(), (~known).sum()) >= FEWEST_FACTS:
        permuted = _permuted(known, right, found["cluster"].to_numpy(), how)
        p = p_value(float(right[known].sum()), permuted)
    return {
        "facts_right": int(known.sum()),
        "facts_wrong": int((~known).sum()),
        "given_right": given_right,
        "given_wrong": mean_of(found["right"].filter(~found["known"])),
        "accuracy": accuracy,
        "relevance": None if given_right is None or accuracy is None else given_right - accuracy,
        "p_value": p,
    }


def _permuted(
    known: NDArray[np.bool_], right: NDArray[np.float64], cluster: NDArray[Any], how: Permutations
) -> NDArray[np.float64]:
    """Sum what is right of known facts after the clusters are laid in random orders."""
    random = np.random.default_rng(how.seed)
    starts, sizes = np.unique(cluster, return_index=True, return_counts=True)[1:]
    at = np.flatnonzero(known)
    home = np.searchsorted(starts, at, side="right") - 1
    sums = []
    for _ in range(how.permutations):
        places = laid(sizes, 1, random)[0][home] + (at - starts[home])
        sums.append(right[places].sum())
    return np.array(sums)


def answered(facts: pl.DataFrame, links: pl.DataFrame, anchors: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct answered background questions, each with its first anchor's cluster."""
    import polars as pl

    clusters = anchors.select("cluster", anchor=pl.int_range(pl.len(), dtype=pl.Int64))
    first = links.sort("anchor", maintain_order=True).unique("fact", keep="first")
    of = facts.join(first.join(clusters, on="anchor"), on="fact", maintain_order="left")
    sides = [
        of.select(
            "cluster",
            question=f"{side}_question",
            margin=f"{side}_margin",
            gold=pl.lit(gold),
            yes=pl.col(f"{side}_right") == gold,
        )
        for side, gold in (("positive", True), ("negative", False))
    ]
    every = pl.concat(sides).unique(["question", "gold"], keep="first", maintain_order=True)
    return every.drop_nulls("yes")


def background_answers(answers: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute how often the model says “yes”, and whether it tells facts from negatives."""
    gold, yes, cluster = (answers[name].to_numpy() for name in ("gold", "yes", "cluster"))
    of, right = np.stack([gold, ~gold]), np.stack([gold & yes, ~gold & ~yes])
    known = answers.drop_nulls("margin")
    row = {
        "n": len(gold),
        "facts": int(gold.sum()),
        "yes": bootstrap.ratio(cluster, yes, np.ones_like(yes)),
        "yes_facts": bootstrap.ratio(cluster, gold & yes, gold),
        "yes_negatives": bootstrap.ratio(cluster, ~gold & yes, ~gold),
        "auroc": bootstrap.auroc(known["cluster"], known["gold"], known["margin"]),
        "balanced_accuracy": bootstrap.mean_of_ratios(cluster, right, of, all_defined=True),
    }
    return TABLES["background_answers"].frame([row])
