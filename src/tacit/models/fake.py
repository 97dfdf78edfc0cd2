"""A model made from a function or a dict: deterministic, instant, for tests and examples."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from tacit.errors import PromptError
from tacit.prompts import AnswerScore, LogProbs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.prompts import Prompt


class FakeModel:
    """A language model whose scores you give.

    Args:
        scores: Either ``{text: {answer: log-probability in nats or None}}``, or a function of
            prompt and answer that returns that value.
        name: The model's name; with a function it also stands for it in the fingerprint, so give
            two functions two names.

    ``asked`` lists every prompt that was scored, in order.
    """

    def __init__(
        self,
        scores: Mapping[str, Mapping[str, float | None]] | Callable[[Prompt, str], float | None],
        name: str = "fake",
    ) -> None:
        self.name = name
        self.asked: list[Prompt] = []
        if callable(scores):
            self._score = scores
            content = ""
        else:
            known = {text: dict(answers) for text, answers in scores.items()}
            self._score = lambda prompt, answer: _look_up(known, prompt, answer)
            content = json.dumps(known, sort_keys=True)
        self.fingerprint = hashlib.sha256(f"fake {name} {content}".encode()).hexdigest()

    @property
    def description(self) -> dict[str, Any]:
        """Its name and kind."""
        return {"name": self.name, "kind": "fake", "fingerprint": self.fingerprint}

    def tokens(self, prompts: Sequence[Prompt]) -> list[int]:
        """The number of words of each prompt's text, and one for each answer."""
        return [len(prompt.text.split()) + len(prompt.answers) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The given scores; every answer counts as one token.

        Raises:
            PromptError: The dict has no score for a prompt's answer.
        """
        self.asked.extend(prompts)
        return [
            LogProbs(
                tuple(
                    AnswerScore(answer, self._score(prompt, answer), tokens=1)
                    for answer in prompt.answers
                )
            )
            for prompt in prompts
        ]


def _look_up(
    known: Mapping[str, Mapping[str, float | None]], prompt: Prompt, answer: str
) -> float | None:
    try:
        return known[prompt.text][answer]
    except KeyError:
        raise PromptError(f"the fake model has no score for {prompt.shown}, {answer!r}") from None
