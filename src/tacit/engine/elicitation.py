"""How a model is asked for what a request wants: as it stands, or by sampled replies.

A model without log-probabilities is asked each prompt several times. Its answer to the prompt is
then how often it replied with each of the prompt's answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.base import SamplesReplies
from tacit.models.openai.answer_parsing import votes_of
from tacit.requests import KINDS, Prompt, Samples, SamplingPrompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.base import LanguageModel
    from tacit.requests import Request


def asked_of(model: LanguageModel, requests: Sequence[Request]) -> Sequence[Request]:
    """What a model is asked so that requests can be answered, in their order.

    Raises:
        ModelError: The model does not answer such requests.
    """
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


def answered(request: Request, answer: Any) -> Any:  # noqa: ANN401 - of any kind
    """The answer to a request, given the answer to what was asked for it."""
    if isinstance(request, Prompt) and isinstance(answer, Samples):
        return votes_of(answer.replies, request.answers)
    return answer
