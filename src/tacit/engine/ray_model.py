"""A model that is held by the workers of a crew, seen from where the run was started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.engine.ray_crew import RayCrew
    from tacit.prompts import LogProbs, Prompt
    from tacit.rankings import Ranking, RankingPrompt, Vocabulary


class RayModel:
    """A ``LanguageModel`` in other processes: each call is sent to one of the workers.

    Args:
        crew: Who holds the model.
    """

    def __init__(self, crew: RayCrew) -> None:
        loaded = crew.first()
        self._crew = crew
        self.name, self.fingerprint = loaded.name, loaded.fingerprint
        self.shares_prefixes = loaded.shares_prefixes
        self.description: dict[str, Any] = dict(loaded.description)

    def tokens(self, prompts: Sequence[Prompt]) -> list[int]:
        """See ``LanguageModel.tokens``."""
        costs: list[int] = self._crew.call("tokens", prompts)
        return costs

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """See ``LanguageModel.score``; nothing of it is stored."""
        scores: list[LogProbs] = self._crew.call("score", prompts)
        return scores


class RayRanker(RayModel):
    """A ``RanksVocabulary`` in other processes."""

    def whole_words(self) -> Vocabulary:
        """See ``RanksVocabulary.whole_words``."""
        words: Vocabulary = self._crew.call("whole_words")
        return words

    def ranking_tokens(self, prompts: Sequence[RankingPrompt]) -> list[int]:
        """See ``RanksVocabulary.ranking_tokens``."""
        costs: list[int] = self._crew.call("ranking_tokens", prompts)
        return costs

    def rank(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        """See ``RanksVocabulary.rank``; nothing of it is stored."""
        rankings: list[Ranking] = self._crew.call("rank", prompts)
        return rankings
