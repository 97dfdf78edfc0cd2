"""A back-end of another package: a model that expects the letters which its prompt holds."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

from tacit import AnswerScore, Prompt, Ranking, RankingPrompt, Scores, Vocabulary
from tacit.errors import ModelError
from tacit.models.options import LoadOptions

WORDS = ("dog", "cat", "bear", "hat", "egg", "tree", "hammer", "duck", "animal", "fur")


class Letters:
    """Letters are drawn as they stand in the prompt, after add-one smoothing."""

    supports = frozenset({Prompt, RankingPrompt})

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = hashlib.sha256(b"letters 1").hexdigest()
        self.description = {
            "name": name,
            "kind": "causal",
            "fingerprint": self.fingerprint,
            "elicitation": "log-probabilities of whole answers",
        }

    def cost(self, requests: Sequence[Prompt | RankingPrompt]) -> list[int]:
        """A token is a letter."""
        answers = [one.answers if isinstance(one, Prompt) else () for one in requests]
        return [
            len(one.text) + sum(map(len, of)) for one, of in zip(requests, answers, strict=True)
        ]

    def answer(self, requests: Sequence[Prompt | RankingPrompt]) -> list[Scores | Ranking]:
        """The log-probability of each answer in nats, or each vocabulary ranked by it."""
        return [self._answer(one) for one in requests]

    def whole_words(self) -> Vocabulary:
        """The words that it can be asked to rank."""
        return Vocabulary(WORDS)

    def _answer(self, request: Prompt | RankingPrompt) -> Scores | Ranking:
        if isinstance(request, Prompt):
            return self._scores(request.text, request.answers)
        scores = self._scores(request.text, request.vocabulary.words)
        return Ranking.of(scores, request.targets, request.top)

    @staticmethod
    def _scores(text: str, answers: Sequence[str]) -> Scores:
        counts = Counter(text.lower())
        total = len(text) + 256
        logprobs = [sum(math.log((counts[letter] + 1) / total) for letter in a) for a in answers]
        pairs = zip(answers, logprobs, strict=True)
        return Scores(tuple(AnswerScore(a, p, tokens=len(a)) for a, p in pairs))


def load(name: str, options: LoadOptions) -> Letters:
    """The model of a name such as ``letters:any``."""
    if options.chat or options.adapter:
        raise ModelError(f"{name}: letters know neither chats nor adapters")
    return Letters(name)
