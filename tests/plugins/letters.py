"""A back-end of another package: a model that expects the letters which its prompt holds."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import TYPE_CHECKING

from tacit import AnswerScore, LogProbs, Ranking, Vocabulary
from tacit.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit import Prompt, RankingPrompt
    from tacit.models.loading import LoadOptions

WORDS = ("dog", "cat", "bear", "hat", "egg", "tree", "hammer", "duck", "animal", "fur")


class Letters:
    """Letters are drawn as they stand in the prompt, after add-one smoothing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = hashlib.sha256(b"letters 1").hexdigest()
        self.description = {
            "name": name,
            "kind": "causal",
            "fingerprint": self.fingerprint,
            "obtained": "log-probabilities of whole answers",
        }

    def tokens(self, prompts: Sequence[Prompt]) -> list[int]:
        """A token is a letter."""
        return [len(prompt.text) + sum(map(len, prompt.answers)) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The log-probability of each answer, in nats."""
        return [self._scores(prompt.text, prompt.answers) for prompt in prompts]

    def whole_words(self) -> Vocabulary:
        """The words that it can be asked to rank."""
        return Vocabulary(WORDS)

    def ranking_tokens(self, prompts: Sequence[RankingPrompt]) -> list[int]:
        """A token is a letter."""
        return [len(prompt.text) for prompt in prompts]

    def rank(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        """Each prompt's words by their log-probability."""
        return [
            Ranking.of(self._scores(one.text, one.vocabulary.words), one.targets, one.top)
            for one in prompts
        ]

    @staticmethod
    def _scores(text: str, answers: Sequence[str]) -> LogProbs:
        counts = Counter(text.lower())
        total = len(text) + 256
        logprobs = [sum(math.log((counts[letter] + 1) / total) for letter in a) for a in answers]
        pairs = zip(answers, logprobs, strict=True)
        return LogProbs(tuple(AnswerScore(a, p, tokens=len(a)) for a, p in pairs))


def load(name: str, options: LoadOptions) -> Letters:
    """The model of a name such as ``letters:any``."""
    if options.chat or options.adapter:
        raise ModelError(f"{name}: letters know neither chats nor adapters")
    return Letters(name)
