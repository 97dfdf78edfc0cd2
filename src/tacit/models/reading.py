"""Log-probabilities of tokens read off a model's logits, and summed for the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import ScoringError
from tacit.prompts import AnswerScore, LogProbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from tacit.models.boundary import Tokens
    from tacit.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Read:
    """One token to read: its log-probability at a position of a row, for an answer.

    Args:
        position: The position in the row whose logits predict the token.
        token: The token's id.
        answer: The answer that it counts for, as (prompt, answer) indices.
    """

    position: int
    token: int
    answer: tuple[int, int]


@dataclass(slots=True)
class Row:
    """One sequence of token ids that goes through the model, and what is read off it."""

    ids: tuple[int, ...]
    reads: list[Read] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Collects the tokens' log-probabilities of each answer, whatever the order they come in."""

    values: dict[tuple[int, int], list[float]] = field(default_factory=dict)

    def add(self, reads: Sequence[Read], logprobs: Sequence[float]) -> None:
        """Adds one log-probability (nats) per read."""
        for read, value in zip(reads, logprobs, strict=True):
            self.values.setdefault(read.answer, []).append(value)

    def total(self, answer: tuple[int, int]) -> float | None:
        """The sum of an answer's log-probabilities; None where it was not read.

        Raises:
            ScoringError: The sum is not a finite number.
        """
        if answer not in self.values:
            return None
        value = math.fsum(self.values[answer])
        if not math.isfinite(value):
            raise ScoringError(
                f"the model gives a log-probability of {value}; a smaller dtype overflows: "
                "try --dtype float32"
            )
        return value

    def scores(
        self, prompts: Sequence[Prompt], tokens: Sequence[Sequence[Tokens]]
    ) -> list[LogProbs]:
        """The scores of all prompts' answers, given the tokens of each of their answers."""
        return [
            LogProbs(
                tuple(
                    AnswerScore(answer, self.total((p, a)), of.end - of.begin, of.spanned)
                    for a, (answer, of) in enumerate(zip(prompt.answers, row, strict=True))
                )
            )
            for p, (prompt, row) in enumerate(zip(prompts, tokens, strict=True))
        ]


def log_probs(logits: torch.Tensor, wanted: Sequence[tuple[int, int, int]]) -> list[float]:
    """Log-probabilities in nats, computed in float32.

    Args:
        logits: Shape (rows, positions, vocabulary).
        wanted: (row, position, token) per value.
    """
    import torch

    places = {place: number for number, place in enumerate(dict.fromkeys(w[:2] for w in wanted))}
    rows, positions = (torch.tensor(axis, device=logits.device) for axis in zip(*places, strict=True))
    chosen = logits[rows, positions].float()
    normaliser = chosen.logsumexp(dim=-1)
    which = torch.tensor([places[w[:2]] for w in wanted], device=logits.device)
    tokens = torch.tensor([w[2] for w in wanted], device=logits.device)
    values: list[float] = (chosen[which, tokens] - normaliser[which]).tolist()
    return values


def padded(
    rows: Sequence[Sequence[int]], pad: int, device: torch.device, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask of rows of unequal length, both of shape (rows, longest)."""
    import torch

    longest = max(len(row) for row in rows)
    ids, mask = [], []
    for row in rows:
        gap = longest - len(row)
        fill, ones, zeros = [pad] * gap, [1] * len(row), [0] * gap
        ids.append([*fill, *row] if left else [*row, *fill])
        mask.append(zeros + ones if left else ones + zeros)
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)
