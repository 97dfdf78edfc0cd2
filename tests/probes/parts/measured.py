"""Findings of the parts probe from answers in the order of its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.probes.base import Answered, Answers
from tacit.probes.parts.beliefs import scored
from tacit.requests import AnswerScore, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.findings.findings import Findings
    from tacit.probes.parts.probe import PartsProbe
    from tacit.probes.parts.questions import Template
    from tacit.requests import Votes


def measured(probe: PartsProbe, answers: Sequence[Scores] | Sequence[Votes]) -> Findings:
    """The findings from one answer per question."""
    return probe.measure(Answers({"questions": Answered(probe.questions, answers)}))


def belief_of(template: Template, known: Mapping[str, float | None]) -> Any:  # noqa: ANN401 - a belief
    """The belief from answers with these log-probabilities; others are missing."""
    answers = (*template.true, *template.false)
    scores = Scores(tuple(AnswerScore(answer, known.get(answer), 1) for answer in answers))
    key = pl.DataFrame({name: ["x"] for name in ("thing", "subject", "relation", "object")})
    answered = Answers({"questions": Answered(key, [scores])})
    return scored(answered.frame("questions"), template)["p_true"][0]
