"""A deterministic model that takes scores from a function or a dict, for tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tacit.errors import PromptError
from tacit.models.base import by_kind
from tacit.requests import (
    UNKNOWN,
    AnswerScore,
    Prompt,
    Ranking,
    RankingPrompt,
    Scores,
    Vocabulary,
)
from tacit.strings import strings


class FakeModel:
    """A language model that returns predefined scores.

    Args:
        scores: A mapping ``{text: {answer: log-probability in nats or None}}``, or a function that
            receives a prompt and an answer and returns the log-probability or None. A
            log-probability of None means that the model cannot generate the answer.
        name: The model's name. If ``scores`` is a function, the fingerprint depends on the name,
            but not on the function's code. To keep the cached scores of two scoring functions
            apart, give the functions different names.
        words: The words that ``whole_words`` returns.

    The attribute ``asked`` contains all prompts that were scored, and ``ranked`` contains all
    prompts that were ranked, in the order of the requests.

    Examples:
        >>> from tacit import FakeModel, Prompt
        >>> model = FakeModel({"A bear has": {"fur": -1.0, "wheels": -9.0}})
        >>> (scores,) = model.answer([Prompt("A bear has", ("fur", "wheels"))])
        >>> scores["fur"].logprob
        -1.0
    """

    supports = frozenset({Prompt, RankingPrompt})

    def __init__(
        self,
        scores: Mapping[str, Mapping[str, float | None]] | Callable[[Prompt, str], float | None],
        name: str = "fake",
        words: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.asked: list[Prompt] = []
        self.ranked: list[RankingPrompt] = []
        self._words = strings(words, "words")
        if callable(scores):
            self._score = scores
            content = ""
        else:
            known = {text: dict(answers) for text, answers in scores.items()}
            self._score = lambda prompt, answer: _score_of(known, prompt, answer)
            content = json.dumps(known, sort_keys=True)
        self.fingerprint = hashlib.sha256(f"fake {name} {content}".encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind and fingerprint."""
        return {"name": self.name, "kind": "fake", "fingerprint": self.fingerprint}

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """Return each request's number of words plus answers; a ranking counts as one answer."""
        return [
            len(one.text.split()) + (len(one.answers) if isinstance(one, Prompt) else 1)
            for one in requests
        ]

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return predefined scores or rankings; each answer counts as one token.

        Raises:
            PromptError: If ``scores`` is a dict without a score for an answer or a ranking
                candidate.
        """
        return by_kind(requests, {Prompt: self._scored, RankingPrompt: self._ranked})

    def whole_words(self) -> Vocabulary:
        """Return the words that were passed to the constructor.

        Raises:
            PromptError: If no words were passed to the constructor.
        """
        return Vocabulary(self._words)

    def _scored(self, prompts: Sequence[Prompt]) -> list[Scores]:
        self.asked.extend(prompts)
        return [self._scores(prompt) for prompt in prompts]

    def _ranked(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        self.ranked.extend(prompts)
        return [
            Ranking.of(
                self._scores(prompt.asking(prompt.vocabulary.words)), prompt.targets, prompt.top
            )
            for prompt in prompts
        ]

    def _scores(self, prompt: Prompt) -> Scores:
        values = [(answer, self._score(prompt, answer)) for answer in prompt.answers]
        return Scores(
            tuple(
                AnswerScore(answer, value, tokens=1, missing=UNKNOWN if value is None else None)
                for answer, value in values
            )
        )


def _score_of(
    known: Mapping[str, Mapping[str, float | None]], prompt: Prompt, answer: str
) -> float | None:
    try:
        return known[prompt.text][answer]
    except KeyError:
        raise PromptError(f"the fake model has no score for {prompt.shown}, {answer!r}") from None
