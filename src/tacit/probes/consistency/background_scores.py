"""Compute the background scores of anchor questions and relations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.statistics import conditional
from tacit.statistics.conditional import Links, conditional_gain
from tacit.statistics.intervals import t_interval

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.answers import Answers
    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.questions import Asked
    from tacit.statistics import Bootstrap, Estimate
    from tacit.statistics.studentised import Permutations


@dataclass(frozen=True)
class CorrectAnswers:
    """For each fact, whether its two background questions were answered correctly."""

    positive: Floats
    negative: Floats

    @classmethod
    def of(cls, answers: Answers, asked: Asked) -> CorrectAnswers:
        """Compare the model's answers with the correct answers."""
        said = np.where(answers.missing, np.nan, answers.positive)
        own = asked.facts["positive_question"].to_numpy()
        other = asked.facts["negative_question"]
        negative = np.full(len(own), np.nan)
        there = other.is_not_null().to_numpy()
        negative[there] = 1 - said[other.drop_nulls().to_numpy()]
        return cls(said[own], negative)


def by_anchor(known: CorrectAnswers, asked: Asked, anchors: int) -> pl.DataFrame:
    """Compute each anchor question's background score (Sahu et al. 2022, equation 1)."""
    import polars as pl

    anchor, fact = (asked.links[name].to_numpy() for name in ("anchor", "fact"))
    yes_right, yes = _sums(anchor, known.positive[fact], anchors)
    no_right, no = _sums(anchor, known.negative[fact], anchors)
    # A single division, so that scores that are equal on paper, such as (1/5 + 2/5)/2 and
    # (3/5 + 0)/2, are equal here too and form one threshold of average precision.
    both = _shares(yes_right * no + no_right * yes, 2 * yes * no)
    return pl.DataFrame(
        {
            "facts": np.bincount(anchor, minlength=anchors),
            "positives": yes,
            "negatives": no,
            "positive_accuracy": _shares(yes_right, yes),
            "negative_accuracy": _shares(no_right, no),
            "background_score": both,
        }
    ).fill_nan(None)


def by_links(links: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Compute the background score of each ``anchor`` in ``links`` from the table ``facts``."""
    import polars as pl

    yes, no = pl.col("positive_right"), pl.col("negative_right")
    right = yes.sum() * no.count() + no.sum() * yes.count()
    # A single division, as in `by_anchor`.
    score = right.cast(pl.Float64) / (2 * yes.count() * no.count())
    return (
        links.join(facts.select("fact", "positive_right", "negative_right"), on="fact")
        .group_by("anchor")
        .agg(facts=pl.len(), background_score=score.fill_nan(None))
    )


def by_relation(known: CorrectAnswers, asked: Asked, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute each relation's background score (Sahu et al. 2022, Figure 4a)."""
    import polars as pl

    rows = []
    for relation in sorted(asked.facts["relation"].unique()):
        of = (asked.facts["relation"] == relation).to_numpy()
        values = np.stack([known.positive[of], known.negative[of]])
        scored = ~np.isnan(values)
        right = np.where(scored, values, 0)
        accuracy = _shares(right.sum(axis=1), scored.sum(axis=1))
        heads = asked.facts["head"].filter(of).to_numpy()
        score = bootstrap.mean_of_ratios(heads, right, scored)
        whole = scored.any(axis=1).all()
        estimate = (score.value, score.low, score.high) if whole else (None, None, None)
        rows.append((relation, int(of.sum()), *scored.sum(axis=1), *accuracy, *estimate))
    counts = dict.fromkeys(("facts", "positives", "negatives"), pl.Int64)
    figures = ("positive_accuracy", "negative_accuracy", "background_score", "low", "high")
    schema = {"relation": pl.String, **counts, **dict.fromkeys(figures, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row").fill_nan(None)


def over_relations(relations: pl.DataFrame) -> Estimate:
    """Return the mean of the relations' background scores, with a t-interval."""
    found = t_interval(relations["background_score"].to_list())
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def mean_of(values: pl.Series) -> float | None:
    """Return the mean of the non-null values, or None if all values are null."""
    there = values.drop_nulls().to_numpy()
    return float(there.mean()) if len(there) else None


def _sums(of: Ints, values: Floats, size: int) -> tuple[Floats, Ints]:
    """Return the sum and the number of the values in each group; NaN values are ignored."""
    scored = ~np.isnan(values)
    total: Floats = np.zeros(size)
    np.add.at(total, of[scored], values[scored])
    return total, np.bincount(of[scored], minlength=size)


def _shares(right: Floats, of: Ints) -> Floats:
    share = np.full(np.shape(of), np.nan)
    np.divide(right, of, out=share, where=of > 0)
    return share


ALL = "all"
# The text in the findings for each reason why a relevance has no interval.
REASONS = {
    conditional.FEW_MARKED: "too few facts right",
    conditional.FEW_OTHERS: "too few facts wrong",
    conditional.FEW_CLUSTERS: "too few question concepts",
    conditional.EXTREME: "the accuracy is 0 % or 100 % for the known facts or for the "
    "unknown facts",
}


def relevance(
    known: CorrectAnswers, asked: Asked, anchors: pl.DataFrame, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute the relevance of facts to anchor questions, for all facts and by relation."""
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
    known: CorrectAnswers, pairs: pl.DataFrame, how: Permutations | None
) -> tuple[int | float | str | None, ...]:
    links = Links(*(pairs[name].to_numpy() for name in ("fact", "cluster", "right")))
    found = conditional_gain(known.positive == 1, links, how)
    return (
        *(found.marked, found.others),
        *(found.given_marked, found.given_others, found.mean),
        *(found.gain.value, found.gain.low, found.gain.high),
        None if found.no_interval is None else REASONS[found.no_interval],
    )
