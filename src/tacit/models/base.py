"""What every model offers, whatever its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from tacit.prompts import LogProbs, Prompt
    from tacit.rankings import Ranking, RankingPrompt, Vocabulary

WHOLE = "log-probabilities of whole answers"
FIRST = "log-probabilities of first tokens"
IN_CHAT = ", in chat"
"""How scores were obtained, as a description says it under ``obtained``."""


class LanguageModel(Protocol):
    """Scores the candidate answers of prompts."""

    @property
    def name(self) -> str:
        """The name that the user knows the model by."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hexadecimal digest of everything that a score depends on but the prompt."""
        ...

    @property
    def description(self) -> Mapping[str, Any]:
        """What a manifest says of the model: plain values, ready for JSON."""
        ...

    def tokens(self, prompts: Sequence[Prompt]) -> list[int]:
        """The number of tokens that each prompt costs when all are asked together; scores nothing.

        Their sum is what ``score`` computes of the same prompts, padding left out.

        Raises:
            TooLongError: A prompt is longer, with an answer, than the model's window. An engine
                skips it and asks the others.
            PromptError: This model cannot score a prompt.
        """
        ...

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The log-probabilities of each prompt's answers, in the prompts' order.

        Raises:
            PromptError: As ``tokens``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class SharesPrefixes(LanguageModel, Protocol):
    """May compute what prompts begin with alike once, so that neighbours cost less together."""

    @property
    def shares_prefixes(self) -> bool:
        """Whether it does: prompts are then best asked in the order of their texts."""
        ...


@runtime_checkable
class StreamsScores(LanguageModel, Protocol):
    """Scores each prompt by itself, so that scores can be stored while others are awaited."""

    def stream(
        self, prompts: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[int, LogProbs]]]:
        """Yields the log-probabilities of prompts as they come, each with its prompt's index.

        Args:
            prompts: What to score.
            seconds: How long scores are collected before they are yielded.

        Raises:
            PromptError: As ``tokens``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class RanksVocabulary(LanguageModel, Protocol):
    """Ranks a whole vocabulary as a prompt's answers, from one pass per text."""

    def whole_words(self) -> Vocabulary:
        """The words that are one token between white space, case-sensitive.

        Raises:
            ModelError: There are none.
        """
        ...

    def ranking_tokens(self, prompts: Sequence[RankingPrompt]) -> list[int]:
        """The number of tokens that each prompt costs; ranks nothing.

        Raises:
            TooLongError: As ``tokens``.
            PromptError: This model cannot rank a prompt: as ``tokens``, or too many of its
                candidates are no single token in their place.
        """
        ...

    def rank(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        """The rankings, in the prompts' order; a text that stands there twice is computed once.

        A candidate that the model cannot write is missing from its ranking, and counted.

        Raises:
            PromptError: As ``ranking_tokens``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class Rechecks(Protocol):
    """May change while a run goes on, as a model behind a server does."""

    def recheck(self) -> None:
        """Makes sure that the model still answers as it did when it was loaded.

        Raises:
            ScoringError: It does not.
        """
        ...
