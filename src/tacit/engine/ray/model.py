"""A model that is held by the workers of a executor, seen from where the run was started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.engine.ray.executor import RayExecutor
    from tacit.requests import Vocabulary


class RayModel:
    """A ``LanguageModel`` in other processes: each call is sent to one of the workers.

    Args:
        executor: Who holds the model.
    """

    def __init__(self, executor: RayExecutor) -> None:
        loaded = executor.first()
        self._executor = executor
        self.name, self.fingerprint = loaded.name, loaded.fingerprint
        self.shares_prefixes, self.supports = loaded.shares_prefixes, loaded.supports
        self.description: dict[str, Any] = dict(loaded.description)

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """See ``LanguageModel.cost``."""
        costs: list[int] = self._executor.call("cost", requests)
        return costs

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """See ``LanguageModel.answer``; nothing of it is stored."""
        answers: list[Any] = self._executor.call("answer", requests)
        return answers

    def whole_words(self) -> Vocabulary:
        """See ``HasWords.whole_words``."""
        words: Vocabulary = self._executor.call("whole_words")
        return words
