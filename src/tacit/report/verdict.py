"""What a model's conceptual consistency shows, in one sentence for terminal and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import estimate, score
from tacit.statistics import prediction

if TYPE_CHECKING:
    from collections.abc import Mapping

_SMALLEST_P = 0.001


def verdict(summary: Mapping[str, Any]) -> str:
    """Whether the background score predicts the right answers, or why that cannot be said.

    Args:
        summary: The probe's summary.
    """
    found = summary["consistency"]
    n, reason = several(found["n"], "question"), found["no_interval"]
    if reason == prediction.NO_ROWS:
        return (
            "No question has both a background score and an answer: there is no conceptual "
            "consistency to compute."
        )
    if reason in {prediction.ALL_RIGHT, prediction.ALL_WRONG}:
        side = "right" if reason == prediction.ALL_RIGHT else "wrong"
        all_of = f"The only question is answered {side}"
        if found["n"] > 1:
            all_of = f"All {n} are answered {side}"
        return f"{all_of}: there is nothing to predict, and conceptual consistency has no lift."
    if reason == prediction.ONE_SCORE:
        return (
            f"All {n} have the same background score, {score(found['background_score'])}"
            f"{_alike(summary)}, so it cannot predict which are answered right: conceptual "
            "consistency is at its chance level, the share of right answers, "
            f"{score(found['chance'])}."
        )
    return _ranked(found, n)


def _ranked(found: Mapping[str, Any], n: str) -> str:
    """The sentence about a lift that is defined."""
    row = {"value": found["lift"], "low": found["lift_low"], "high": found["lift_high"]}
    figures = (
        f"conceptual consistency is {score(found['consistency'])} where chance gives "
        f"{score(found['chance'])}, a lift of {estimate(row, 'value', score)} on {n}"
    )
    right = f"{found['right']:,} of them answered right"
    reason = found["no_interval"]
    if reason == prediction.PERFECT:
        return (
            "Every question answered right has a higher background score than every question "
            f"answered wrong: {figures}, {right}. A perfect ranking has no interval; that these "
            f"questions are ranked so by chance has p {_p(found['p_value'])}."
        )
    if reason == prediction.ONE_CLUSTER:
        return (
            f"All {n} share one question concept, so whether what it knows predicts what it "
            f"answers cannot be told: {figures}, {right}."
        )
    if reason == prediction.TOO_FEW_CLUSTERS:
        return (
            "Too few question concepts to tell whether what it knows predicts what it answers: "
            f"{figures}, {right}. An interval takes {prediction.FEWEST_CLUSTERS} concepts."
        )
    if reason == prediction.TOO_FEW:
        return (
            "Too few questions to tell whether what it knows predicts what it answers: "
            f"{figures}, {right}. The interval would be wider than from chance to perfect."
        )
    outcome = "These questions do not show whether background scores go with right answers"
    if found["lift_low"] > 0:
        outcome = "Higher background scores go with right answers"
    elif found["lift_high"] < 0:
        outcome = "Higher background scores go with wrong answers"
    return f"{outcome}: {figures}, not adjusted for the number of facts."


def _alike(summary: Mapping[str, Any]) -> str:
    """Which answer was given to every background question, if one was."""
    for answer, other in (("positive", "negative"), ("negative", "positive")):
        if (summary[f"{answer}_accuracy"], summary[f"{other}_accuracy"]) == (1, 0):
            word = "yes" if answer == "positive" else "no"
            return f", as the model answers every background question with {word}"
    return ""


def _p(value: float) -> str:
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else f"= {value:.3f}"
