"""Background scores (Sahu et al. 2022, equation 1), the relevance of facts, and how often “yes”.

Everything is computed from the tables ``facts``, ``links`` and ``anchors`` of a run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.tables import TABLES
from tacit.statistics import Estimate
from tacit.statistics.conditional import Links, conditional_gain
from tacit.statistics.estimate import t_interval

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap
    from tacit.statistics.permutation import Permutations

ALL = "all"
SIDES = ("positive", "negative")


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
    marked = facts["positive_right"].fill_null(value=False).to_numpy()
    rows: list[dict[str, Any]] = []
    for name in (ALL, *names):
        part = pairs if name == ALL else pairs.filter(relation=name)
        linked = Links(*(part[column].to_numpy() for column in ("fact", "cluster", "right")))
        found = conditional_gain(marked, linked, how)
        rows.append(
            {
                "relation": name,
                "facts_right": found.marked,
                "facts_wrong": found.others,
                "given_right": found.given_marked,
                "given_wrong": found.given_others,
                "accuracy": found.mean,
                "relevance": found.gain,
                "p_value": found.p_value,
            }
        )
    return TABLES["relevance"].frame(rows)


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
