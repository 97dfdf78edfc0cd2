"""Requests to a model, and the model's answers; one module per kind of request."""

from __future__ import annotations

from typing import Any, TypeAlias

from tacit.requests.deciding import Decided, Decision, DecisionKind
from tacit.requests.kind import Key, Kind
from tacit.requests.ranking import TOP, Ranking, RankingKind, RankingPrompt, Standing, rank
from tacit.requests.sampling import Sample, Samples, SamplingKind, SamplingPrompt, State, Votes
from tacit.requests.scoring import (
    BLANK,
    FOR_NOW,
    OUTSIDE,
    OUTSIDE_FIRST,
    REFUSED,
    TOO_LONG,
    UNKNOWN,
    UNSAID,
    UNSAID_FIRST,
    ZERO,
    AnswerScore,
    Prompt,
    Scores,
    ScoringKind,
    log_sum_exp,
    missing_by_reason,
    shown,
)
from tacit.requests.vocabulary import Vocabulary

Request: TypeAlias = Prompt | RankingPrompt | SamplingPrompt | Decision
Answer: TypeAlias = Scores | Ranking | Samples

KINDS: dict[type, Kind[Any, Any]] = {
    Prompt: ScoringKind(),
    RankingPrompt: RankingKind(),
    SamplingPrompt: SamplingKind(),
    Decision: DecisionKind(),
}
"""A mapping from request classes to the ``Kind`` objects that merge and store requests."""

__all__ = [
    "BLANK",
    "FOR_NOW",
    "KINDS",
    "OUTSIDE",
    "OUTSIDE_FIRST",
    "REFUSED",
    "TOO_LONG",
    "TOP",
    "UNKNOWN",
    "UNSAID",
    "UNSAID_FIRST",
    "ZERO",
    "Answer",
    "AnswerScore",
    "Decided",
    "Decision",
    "Key",
    "Kind",
    "Prompt",
    "Ranking",
    "RankingKind",
    "RankingPrompt",
    "Request",
    "Sample",
    "Samples",
    "SamplingKind",
    "SamplingPrompt",
    "Scores",
    "ScoringKind",
    "Standing",
    "State",
    "Vocabulary",
    "Votes",
    "log_sum_exp",
    "missing_by_reason",
    "rank",
    "shown",
]
