"""Background scores (Sahu et al. 2022, equation 1), the relevance of facts, and how often “yes”.

Everything is computed from the tables ``facts``, ``fact_answers``, ``links`` and ``anchors`` of a
run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.statistics import Bootstrap, Estimate
from tacit.statistics.estimate import t_interval
from tacit.statistics.permutation import Permutations, laid, p_value

ALL = "all"
ACCURACIES = ("positive_accuracy", "negative_accuracy")

FEWEST_FACTS = 20
"""Minimum number of known facts, and of other facts, for a p-value of the relevance."""

YES = pl.col("expected") == "yes"


def by_anchor(answers: pl.DataFrame) -> pl.DataFrame:
    """Compute each anchor's background score (Sahu et al. 2022, equation 1)."""
    return scores_by("anchor", answers)


def scores_by(key: str, answers: pl.DataFrame) -> pl.DataFrame:
    """Compute background scores: half the sum of the shares right on facts and on negatives."""
    of_facts, of_negatives = (pl.col("right").filter(side) for side in (YES, ~YES))
    # A single division, so that scores that are equal on paper, such as (1/5 + 2/5)/2 and
    # (3/5 + 0)/2, are equal here too and form one threshold of average precision.
    score = of_facts.sum() * of_negatives.count() + of_negatives.sum() * of_facts.count()
    score /= 2 * of_facts.count() * of_negatives.count()
    return answers.group_by(key, maintain_order=True).agg(
        facts=YES.sum().cast(pl.Int64),
        positives=of_facts.count().cast(pl.Int64),
        negatives=of_negatives.count().cast(pl.Int64),
        positive_accuracy=of_facts.mean(),
        negative_accuracy=of_negatives.mean(),
        background_score=score.fill_nan(None),
    )


def by_relation(answered: ModelAnswers, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute each relation's background score (Sahu et al. 2022, Figure 4a)."""
    rows: list[dict[str, Any]] = []
    of = answered.fact_answers.join(answered.facts, on="fact", maintain_order="left")
    for _, part in of.sort("relation").group_by("relation", maintain_order=True):
        (row,) = scores_by("relation", part).to_dicts()
        yes = part.select(YES).to_series().to_numpy()
        sides = np.stack([yes, ~yes]) & part["right"].is_not_null().to_numpy()
        right = sides & part["right"].fill_null(value=False).to_numpy()
        score = bootstrap.mean_of_ratios(part["head"].to_numpy(), right, sides)
        undefined = row["background_score"] is None
        rows.append({**row, "background_score": Estimate(None) if undefined else score})
    return TABLES["background_by_relation"].frame(rows)


def mean_over_relations(relations: pl.DataFrame, anchors: pl.DataFrame) -> pl.DataFrame:
    """Compute the mean of the relations' background scores, with a t-interval."""
    mean = t_interval(relations["background_score"].to_list())
    if mean.low is not None and mean.high is not None:
        mean = replace(mean, low=max(0.0, mean.low), high=min(1.0, mean.high))
    scored = anchors.drop_nulls("background_score")
    row = {
        "relations": relations["background_score"].count(),
        "value": mean,
        "n": scored.height,
        **{name: mean_of(scored[name]) for name in ACCURACIES},
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


def relevance(answered: ModelAnswers, how: Permutations) -> pl.DataFrame:
    """Compute the relevance of facts to anchor questions, for all facts and by relation."""
    pairs = answered.answers_by_anchor.filter(YES).select("anchor", "fact", known="right")
    for other, key in (
        (answered.facts.select("fact", "relation"), "fact"),
        (answered.anchors.select("anchor", "right", "cluster"), "anchor"),
    ):
        pairs = pairs.join(other, on=key, maintain_order="left")
    names = pairs["relation"].unique().sort()
    pairs = pairs.drop_nulls(["right", "known"])
    parts = {ALL: pairs} | {name: pairs.filter(relation=name) for name in names}
    return TABLES["relevance"].frame(
        {"relation": name, **gain(part, how)} for name, part in parts.items()
    )


def gain(pairs: pl.DataFrame, how: Permutations) -> dict[str, Any]:
    """Compute how much more often questions of a known fact are answered correctly.

    The one-sided p-value permutes which facts are known. A fact belongs to the cluster of its first
    question; clusters are moved as a whole.
    """
    of_fact = pl.col("cluster").first(), pl.col("known").first(), pl.col("right").mean()
    facts = pairs.group_by("fact", maintain_order=True).agg(of_fact).sort("cluster", "fact")
    known, right = facts["known"].to_numpy(), facts["right"].to_numpy()
    given_right, accuracy = mean_of(facts["right"].filter(facts["known"])), mean_of(facts["right"])
    p = None
    if min(known.sum(), (~known).sum()) >= FEWEST_FACTS:
        permuted = _permuted(known, right, facts["cluster"].to_numpy(), how)
        p = p_value(float(right[known].sum()), permuted)
    return {
        "facts_right": int(known.sum()),
        "facts_wrong": int((~known).sum()),
        "given_right": given_right,
        "given_wrong": mean_of(facts["right"].filter(~facts["known"])),
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


def distinct_answers(answered: ModelAnswers) -> pl.DataFrame:
    """Return the distinct answered background questions, each with its first anchor's cluster."""
    owner = answered.links.unique("fact", keep="first", maintain_order=True)
    owner = owner.join(answered.anchors.select("anchor", "cluster"), on="anchor")
    of = answered.fact_answers.join(owner, on="fact", maintain_order="left")
    every = of.select("cluster", "question", "margin", gold=YES, yes=pl.col("right") == YES)
    return every.unique(["question", "gold"], keep="first", maintain_order=True).drop_nulls("yes")


def background_answers(answered: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute how often the model says “yes”, and whether it tells facts from negatives."""
    gold, yes, cluster = (answered[name].to_numpy() for name in ("gold", "yes", "cluster"))
    of, right = np.stack([gold, ~gold]), np.stack([gold & yes, ~gold & ~yes])
    known = answered.drop_nulls("margin")
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
