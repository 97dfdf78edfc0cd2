"""What every model offers, whatever its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.prompts import LogProbs, Prompt


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
        """The number of tokens that each prompt costs; scores nothing.

        Raises:
            PromptError: A prompt that this model cannot score, for example one that is longer
                than its window.
        """
        ...

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The log-probabilities of each prompt's answers, in the prompts' order.

        Raises:
            PromptError: As ``tokens``.
            ScoringError: The model failed.
        """
        ...
