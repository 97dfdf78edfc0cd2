"""Log-probabilities of tokens read off a model's logits, and summed for the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import torch
    from numpy.typing import NDArray

Answer = tuple[int, int]
"""An answer, as the number of its prompt and its own number in that prompt."""

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


@dataclass(frozen=True, slots=True)
class Values:
    """What is read off one pass, left on its device.

    Args:
        answers: For each value, the answer that it counts for.
        logprobs: Log-probabilities of tokens in nats, of shape (values,).
    """

    answers: Sequence[Answer]
    logprobs: torch.Tensor

    def fetched(self) -> list[tuple[Answer, float]]:
        """Each value with its answer, on the host.

        Raises:
            ScoringError: The pass failed.
        """
        return list(zip(self.answers, on_host(self.logprobs).tolist(), strict=True))


Found = list[Values]
"""What is read off some passes. Nobody fetches it before all are under way: the host would wait."""


@dataclass(slots=True)
class Tally:
    """Sums the tokens' log-probabilities of each answer, the same whatever order they come in."""

    _fetched: dict[Answer, list[float]] = field(default_factory=dict)
    _pending: Found = field(default_factory=list)

    def add(self, found: Found) -> None:
        """Takes in what is read off some passes."""
        self._pending += found

    @property
    def values(self) -> Mapping[Answer, Sequence[float]]:
        """Each answer's log-probabilities of tokens, in nats.

        Raises:
            ScoringError: A pass failed.
        """
        while self._pending:
            for answer, value in self._pending.pop(0).fetched():
                self._fetched.setdefault(answer, []).append(value)
        return self._fetched

    def total(self, answer: Answer) -> float:
        """The sum of an answer's log-probabilities, in nats.

        Raises:
            ScoringError: It is not a finite number, or a pass failed.
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
    )
    return [Values([read.answer for _, _, read in reads], values)]


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


def on_device(
    numbers: Sequence[int] | Sequence[Sequence[int]] | NDArray[np.int64], device: torch.device
) -> torch.Tensor:
    """Whole numbers, or rows of them, on a device; a GPU fetches them while the host goes on."""
    import torch

    made = torch.tensor(numbers)
    if device.type == "cuda":
        made = made.pin_memory()
    return made.to(device, non_blocking=True)


def on_host(values: torch.Tensor) -> NDArray[np.float32]:
    """What a device has computed, once it has; it may tell only now what went wrong.

    Raises:
        ScoringError: A pass failed.
    """
    try:
        fetched: NDArray[np.float32] = values.cpu().numpy()
    except RuntimeError as error:
        raise ScoringError(f"the model failed on its device: {error}") from error
    return fetched


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
