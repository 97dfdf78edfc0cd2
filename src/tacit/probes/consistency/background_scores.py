"""How well a model knows the background: of each fact, each relation and each anchor (equation 1).

A fact is known twice over: its own question is to be answered positively, its negative's
negatively. A question that could not be scored counts nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Whether each fact's two questions were answered right.

    Args:
        positive: 1 or 0, shape (facts,); nan where the answer is missing.
        negative: The same of the negatives; nan also where there is none.
    """

    positive: Floats
    negative: Floats

    @classmethod
    def of(cls, answers: Answers, asked: Asked) -> CorrectAnswers:
        """Sets answers against what the facts say."""
        said = np.where(answers.missing, np.nan, answers.positive)
        own = asked.facts["positive_question"].to_numpy()
        other = asked.facts["negative_question"]
        negative = np.full(len(own), np.nan)
        there = other.is_not_null().to_numpy()
        negative[there] = 1 - said[other.drop_nulls().to_numpy()]
        return cls(said[own], negative)


def by_anchor(known: CorrectAnswers, asked: Asked, anchors: int) -> pl.DataFrame:
    """The background score of each anchor (equation 1).

    Args:
        known: The facts.
        asked: Which anchor has which.
        anchors: How many anchors there are.

    Returns:
        One row per anchor: ``facts``, ``positives`` and ``negatives`` (answered ones),
        ``positive_accuracy``, ``negative_accuracy``, ``background_score`` (their mean; null where
        one of them is).
    """
    import polars as pl

    anchor, fact = (asked.links[name].to_numpy() for name in ("anchor", "fact"))
    yes_right, yes = _sums(anchor, known.positive[fact], anchors)
    no_right, no = _sums(anchor, known.negative[fact], anchors)
    # In one division: what is equal on paper, as (1/5 + 2/5)/2 and (3/5 + 0)/2, is equal here too,
    # and so makes one threshold of average precision.
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
    """The background score of each relation, over its distinct facts (Figure 4a).

    Returns:
        ``relation``, ``facts``, ``positives`` and ``negatives`` (answered ones), the accuracy on
        either, ``background_score`` with ``low`` and ``high``: intervals clustered by the facts'
        heads. Null where nothing was answered.
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
    """The mean over relations of their background scores, with a t-interval (Figure 4a)."""
    return t_interval(relations["background_score"].to_list())


def mean_of(values: pl.Series) -> float | None:
    """The mean of the values that are there; None of none."""
    there = values.drop_nulls().to_numpy()
    return float(there.mean()) if len(there) else None


def _sums(of: Ints, values: Floats, size: int) -> tuple[Floats, Ints]:
    """For each, the sum of the values that are there, and how many there are."""
    scored = ~np.isnan(values)
    total: Floats = np.zeros(size)
    np.add.at(total, of[scored], values[scored])
    return total, np.bincount(of[scored], minlength=size)


def _shares(right: Floats, of: Ints) -> Floats:
    share = np.full(np.shape(of), np.nan)
    np.divide(right, of, out=share, where=of > 0)
    return share


ALL = "all"
# Why a relevance has no interval, in the finding's words.
REASONS = {
    conditional.FEW_MARKED: "too few facts right",
    conditional.FEW_OTHERS: "too few facts wrong",
    conditional.FEW_CLUSTERS: "too few question concepts",
    conditional.EXTREME: "all questions right or all wrong on one side",
}


def relevance(
    known: CorrectAnswers, asked: Asked, anchors: pl.DataFrame, how: Permutations | None = None
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
