"""Compute features that predict whether a model answers an anchor question correctly.

No feature depends on which choice is correct. The module ``prediction`` uses the features to
predict correct answers (METHODS section 4, "Prediction").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.knowledge.frequency import mean_zipf
from tacit.probes.consistency import background_scores
from tacit.probes.consistency.background_scores import CorrectAnswers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.consistency.answers import Answers, Chosen
    from tacit.probes.consistency.probe import Reading
    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.questions import Asked
    from tacit.probes.consistency.scored import Scored

BASE_RATE, MARGIN, BACKGROUND = "base_rate", "margin", "background"
ANSWER, BOTH = "answer", "both"

_OF_BACKGROUND = ("background_score", "background_margin", "log_facts")
_OF_ANSWER = ("answer_margin", "entropy", "prior", "frequency")

PREDICTORS: Mapping[str, tuple[str, ...]] = {
    BASE_RATE: (),
    MARGIN: _OF_ANSWER[:1],
    BACKGROUND: _OF_BACKGROUND,
    ANSWER: _OF_ANSWER,
    BOTH: (*_OF_BACKGROUND, *_OF_ANSWER),
}
"""The features that each predictor uses."""

FEATURES = PREDICTORS[BOTH]


@dataclass(frozen=True)
class FactAnswers:
    """The answers to the questions about each fact and its negative."""

    correct: CorrectAnswers
    positive_margin: Floats
    negative_margin: Floats

    @classmethod
    def of(cls, answers: Answers, asked: Asked) -> FactAnswers:
        """Collect the answers to the questions about each fact and its negative."""
        other = asked.facts["negative_question"]
        negative = np.full(len(other), np.nan)
        there = other.is_not_null().to_numpy()
        negative[there] = answers.margin[other.drop_nulls().to_numpy()]
        own = answers.margin[asked.facts["positive_question"].to_numpy()]
        return cls(CorrectAnswers.of(answers, asked), own, negative)

    def flipped(self, fact: int) -> FactAnswers:
        """Return a copy in which the answer about fact number ``fact`` is reversed."""
        positive, margin = self.correct.positive.copy(), self.positive_margin.copy()
        positive[fact], margin[fact] = 1 - positive[fact], -margin[fact]
        correct = CorrectAnswers(positive, self.correct.negative)
        return replace(self, correct=correct, positive_margin=margin)


def features(
    scored: Scored, reading: Reading, asked: Asked, concepts: pl.DataFrame
) -> pl.DataFrame:
    """Compute the features of each anchor question's background and of the model's answer."""
    import polars as pl

    known = FactAnswers.of(scored.answers(reading.method), asked)
    background = of_background(known, asked, len(scored.sizes))
    return pl.concat([background, of_answer(scored, reading, concepts)], how="horizontal")


def of_background(known: FactAnswers, asked: Asked, anchors: int) -> pl.DataFrame:
    """Compute the features of each anchor question's background."""
    import polars as pl

    scores = background_scores.by_anchor(known.correct, asked, anchors)
    anchor, fact = (asked.links[name].to_numpy() for name in ("anchor", "fact"))
    sides = [
        _means(anchor, margin[fact], anchors)
        for margin in (known.positive_margin, -known.negative_margin)
    ]
    return scores.select(
        "background_score",
        background_margin=pl.Series((sides[0] + sides[1]) / 2).fill_nan(None),
        log_facts=pl.when(pl.col("facts") > 0).then(pl.col("facts").log()),
    )


def of_answer(scored: Scored, reading: Reading, concepts: pl.DataFrame) -> pl.DataFrame:
    """Compute the features of the model's answer to each anchor question."""
    import polars as pl

    chosen = scored.chosen(reading.anchoring[0])
    if chosen is None:
        raise ValueError(f"the anchors were not asked by {reading.anchoring[0]}")
    frequency = mean_zipf(concepts, len(scored.sizes))
    return pl.DataFrame(
        {
            "answer_margin": chosen.margin,
            "entropy": _entropies(chosen),
            "prior": _priors(scored, chosen),
        }
    ).select(pl.all().fill_nan(None), frequency.alias("frequency"))


def best_per_byte(scores: Floats, sizes: Ints) -> Floats:
    """Return each choice's highest score per byte over all prompt variants."""
    lengths = np.where(sizes > 0, sizes, 1)[:, None, :]
    best: Floats = np.where(sizes > 0, (scores / lengths).max(axis=1), np.nan)
    return best


def _entropies(chosen: Chosen) -> Floats:
    present = ~np.isnan(chosen.values)
    known = np.where(present, chosen.values, -np.inf)
    top = known.max(axis=1, keepdims=True)
    shares = np.exp(known - np.where(np.isfinite(top), top, 0.0))
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    most = np.log(np.maximum(present.sum(axis=1), 2))
    entropy: Floats = np.where(chosen.missing, np.nan, -(shares * logs).sum(axis=1) / most)
    return entropy


def _priors(scored: Scored, chosen: Chosen) -> Floats:
    if scored.prior is None:
        return np.full(len(chosen.choice), np.nan)
    best = best_per_byte(scored.prior, scored.sizes)
    at = np.maximum(chosen.choice, 0)[:, None]
    prior = np.take_along_axis(best, at, axis=1)[:, 0]
    found: Floats = np.where(chosen.missing, np.nan, prior)
    return found


def _means(of: Ints, values: Floats, size: int) -> Floats:
    """Return the mean of the known values in each group; NaN if a group has none."""
    known = ~np.isnan(values)
    sums = np.bincount(of[known], values[known], minlength=size)
    counts = np.bincount(of[known], minlength=size)
    means: Floats = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    return means
