"""Elicitation methods: send requests unchanged, or convert prompts to sampling prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.errors import ModelError
from tacit.models.base import LanguageModel, SamplesReplies
from tacit.requests import KINDS, Prompt, Request, Samples, SamplingPrompt
from tacit.requests.answer_parsing import votes_of


def asked_of(model: LanguageModel, requests: Sequence[Request]) -> Sequence[Request]:
    """Return the requests, converted if necessary to a form that the model supports."""
    unsupported = {type(one) for one in requests} - model.supports
    if not unsupported:
        return requests
    if unsupported == {Prompt} and isinstance(model, SamplesReplies):
        numbers = tuple(range(model.samples))
        return [
            SamplingPrompt(one.text, numbers) if isinstance(one, Prompt) else one
            for one in requests
        ]
    lacking = " and ".join(sorted(KINDS[one].unsupported for one in unsupported))
    raise ModelError(f"{model.name} {lacking}")


def answered(request: Request, answer: Any) -> Any:  # noqa: ANN401 - any kind of answer
    """Convert replies sampled for a ``Prompt`` to votes; return other answers unchanged."""
    if isinstance(request, Prompt) and isinstance(answer, Samples):
        return votes_of(answer.replies, request.answers)
    return answer
