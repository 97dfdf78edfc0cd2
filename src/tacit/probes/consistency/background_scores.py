"""Compute the background scores of anchor questions and relations.

Equation 1 of Sahu et al. (2022) defines the background score.

There is one background question about each fact, and one about the fact's negative (a false version
of the fact). The correct answer to the question about a fact is positive ("yes"), and the correct
answer to the question about a negative (false fact) is negative ("no"). Background questions
without an answer are excluded from background scores.
"""

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
    """For each fact, whether its two background questions were answered correctly.

    Of the two background questions for a fact, one asks about the fact itself, and the other asks
    about the fact's negative (a false version).

    Args:
        positive: 1 if the question about the fact was answered correctly, else 0, shape (facts,);
            NaN if the answer is missing.
        negative: 1 if the question about the fact's negative (false version) was answered
            correctly, else 0, shape (facts,); NaN if the answer is missing or the fact has no
            negative.
    """

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
    """Compute each anchor question's background score (Sahu et al. 2022, equation 1).

    Args:
        known: For each fact, two values: whether the model correctly answered the question about
            the fact, and whether it correctly answered the question about its negative (a false
            version of the fact).
        asked: The facts of each anchor question.
        anchors: The number of anchor questions.

    Returns:
        Table with one row per anchor question and the columns ``facts``, ``positives``,
        ``negatives``, ``positive_accuracy``, ``negative_accuracy`` and ``background_score``.
        ``positives`` is the number of answered background questions about the anchor question's
        facts. ``negatives`` is the number of answered questions about negatives (false versions of
        facts). ``background_score`` is the mean of ``positive_accuracy`` and ``negative_accuracy``;
        null if either accuracy is null.
    """
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


def by_relation(known: CorrectAnswers, asked: Asked, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute each relation's background score (Sahu et al. 2022, Figure 4a).

    Each distinct fact of a relation is counted once.

    Returns:
        Table with the columns ``relation``, ``facts``, ``positives``, ``negatives``,
        ``positive_accuracy``, ``negative_accuracy``, ``background_score``, ``low`` and ``high``.
        ``positives`` is the number of answered background questions about the relation's true
        facts. ``negatives`` is the number of answered questions about negatives (false versions of
        facts). ``low`` and ``high`` are the ends of the 95 % CI of the background score. The 95 %
        CI of the background score is computed by a bootstrap that resamples all facts with the same
        head (first concept) together. Values that cannot be computed because answers are missing
        are null.
    """
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
    """Return the mean of the relations' background scores, with a t-interval.

    The mean over relations corresponds to Figure 4a of Sahu et al. (2022). With few relations, a
    t-interval can exceed the possible scores, so its ends are limited to 0 and 1.
    """
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
    """Compute the relevance of facts to anchor questions, for all facts and by relation.

    Args:
        known: For each fact, whether the model correctly answered the question about the fact, and
            whether it correctly answered the question about the fact's negative (false version).
        asked: The facts of each anchor question.
        anchors: Table with one row per anchor question and the columns ``right`` (null for an
            unanswered anchor question) and ``cluster``.
        how: The parameters of the permutations for the confidence interval; None for the default
            parameters. Each permutation shuffles the results of the background questions (correct
            or incorrect) among the facts. A permutation reorders whole blocks of facts at random,
            so the results of the facts in a block stay together. A block consists of the facts
            whose first linked anchor question has the same value in the column ``cluster`` of
            ``anchors``.

    Returns:
        Table with one row for all relations and one row per relation. ``facts_right`` is the number
        of facts whose background question is answered correctly, and ``facts_wrong`` is the number
        of facts whose background question is answered incorrectly. ``facts_right`` and
        ``facts_wrong`` exclude facts that belong only to unanswered anchor questions. For each fact
        whose background question is answered correctly, the accuracy on the fact's anchor questions
        is computed; ``given_right`` is the average of these accuracies. For each fact whose
        background question is answered incorrectly, the accuracy on the fact's anchor questions is
        computed; ``given_wrong`` is the average of these accuracies. ``accuracy`` is the average,
        over all facts, of the accuracy on a fact's anchor questions. ``relevance`` is
        ``given_right`` minus ``accuracy``. ``low`` and ``high`` are the ends of the confidence
        interval of the relevance. ``no_interval`` is the reason why the relevance has no confidence
        interval, such as too few correctly answered background questions. An average over an empty
        set of facts is null.
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
