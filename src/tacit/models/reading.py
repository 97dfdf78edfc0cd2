"""Log-probabilities of tokens read off a model's logits, and summed for the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import torch

Answer = tuple[int, int]
"""An answer, as the number of its prompt and its own number in that prompt."""

Found = list[tuple[Answer, float]]
"""Log-probabilities of tokens, in nats, each with the answer that it counts for."""


_PART = 64


@dataclass(frozen=True, slots=True)
class Read:
    """One token to read off a row.

    Args:
        position: The position in the row whose logits predict the token.
        token: The token's id.
        answer: The answer that its log-probability counts for.
    """

    position: int
    token: int
    answer: Answer


@dataclass(slots=True)
class Row:
    """One sequence of token ids that goes through the model, and what is read off it."""

    ids: tuple[int, ...]
    reads: list[Read] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Sums the tokens' log-probabilities of each answer, the same whatever order they come in."""

    values: dict[Answer, list[float]] = field(default_factory=dict)

    def add(self, found: Iterable[tuple[Answer, float]]) -> None:
        """Takes in log-probabilities of tokens."""
        for answer, value in found:
            self.values.setdefault(answer, []).append(value)

    def total(self, answer: Answer) -> float:
        """The sum of an answer's log-probabilities, in nats.

        Raises:
            ScoringError: It is not a finite number.
        """
        value = math.fsum(self.values[answer])
        if not math.isfinite(value):
            raise ScoringError(
                f"the model gave a log-probability of {value}; a small number format overflows: "
                "try --dtype float32"
            )
        return value


def read_off(logits: torch.Tensor, wanted: Sequence[Sequence[tuple[int, Read]]]) -> Found:
    """Log-probabilities over the whole vocabulary, computed in float32.

    Args:
        logits: Shape (rows, columns, vocabulary).
        wanted: For each row, what to read at which column.
    """
    reads = [(row, column, read) for row, part in enumerate(wanted) for column, read in part]
    if not reads:
        return []
    # Many answers may be read at one place: each place is normalised once.
    distinct = dict.fromkeys((row, column) for row, column, _ in reads)
    places = {place: number for number, place in enumerate(distinct)}
    rows, columns = on_device(list(places), logits.device).unbind(-1)
    values = read_values(
        logits[rows, columns],
        [places[row, column] for row, column, _ in reads],
        [read.token for _, _, read in reads],
    ).tolist()
    return [(read.answer, value) for (_, _, read), value in zip(reads, values, strict=True)]


def read_values(logits: torch.Tensor, which: Sequence[int], tokens: Sequence[int]) -> torch.Tensor:
    """Log-probabilities over the whole vocabulary in nats, computed in float32, of shape (values,).

    Args:
        logits: Shape (places, vocabulary).
        which: For each value, the place.
        tokens: For each value, the token.
    """
    import torch

    # In parts, as each takes a float copy or two of what it normalises.
    totals = torch.cat([part.float().logsumexp(dim=-1) for part in torch.split(logits, _PART)])
    at, token = on_device([which, tokens], logits.device)
    return logits[at, token].float() - totals[at]


def on_device(numbers: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Rows of whole numbers, on a device; a GPU fetches them while the host goes on."""
    import torch

    made = torch.tensor(numbers)
    if device.type == "cuda":
        made = made.pin_memory()
    return made.to(device, non_blocking=True)


def padded(
    rows: Sequence[Sequence[int]], pad: int, device: torch.device, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask of rows of unequal length, both of shape (rows, longest)."""
    longest = max(len(row) for row in rows)
    ids, mask = [], []
    for row in rows:
        fill = [pad] * (longest - len(row))
        zeros, ones = [0] * len(fill), [1] * len(row)
        ids.append([*fill, *row] if left else [*row, *fill])
        mask.append(zeros + ones if left else ones + zeros)
    return on_device(ids, device), on_device(mask, device)
