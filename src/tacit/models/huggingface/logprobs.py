"""Compute logits only where tokens are scored, and sum log-probabilities per answer."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import torch
    from numpy.typing import NDArray
    from transformers import PreTrainedModel


def bodies_of(model: PreTrainedModel) -> list[torch.nn.Module]:
    """Return submodules that may feed the language-model head, the most likely one first."""
    parts = [model.base_model]
    if hasattr(model, "get_decoder"):
        parts.append(model.get_decoder())  # OPT's head reads a part of its base model
    return [part for part in parts if part is not None and part is not model]


def narrowed(body: torch.nn.Module, positions: torch.Tensor) -> AbstractContextManager[None]:
    """Limit logits to one position per batch row; their shape is (rows, 1, vocabulary).

    Args:
        body: The submodule whose output is the input of the language-model head.
        positions: The index of the selected position in each batch row, of shape (rows,).
    """
    import torch

    rows = torch.arange(len(positions), device=positions.device)
    return _sliced_output(body, lambda states: _at(states, rows, positions).unsqueeze(1))


def gathered(
    body: torch.nn.Module, rows: torch.Tensor, columns: torch.Tensor
) -> AbstractContextManager[None]:
    """Compute logits only at the given positions.

    The logits at the given positions have the shape (1, positions, vocabulary).

    Args:
        body: The submodule whose output is the input of the language-model head.
        rows: The batch row of each given position, of shape (positions,).
        columns: The index of each given position within its batch row, of shape (positions,).
    """
    return _sliced_output(body, lambda states: _at(states, rows, columns).unsqueeze(0))


def _at(states: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return the hidden states at the given rows and columns."""
    return states[rows.to(states.device), columns.to(states.device)]


@contextmanager
def _sliced_output(
    body: torch.nn.Module, cut: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[None]:
    def replace(_body: object, _given: object, output: Any) -> Any:  # noqa: ANN401 - any model
        kept = cut(output[0])
        if isinstance(output, tuple):
            return (kept, *output[1:])
        output.last_hidden_state = kept
        return output

    hook = body.register_forward_hook(replace)
    try:
        yield
    finally:
        hook.remove()


_PART = 64
_ONCE = 2


@dataclass(frozen=True, slots=True)
class Read:
    """A token to score, and the input position at which the model predicts the token.

    Args:
        position: The index, in the token sequence, of the position whose logits predict the token.
        token: The token's id.
        answer: Index (among all answers) of the answer whose score includes the token's
            log-probability.
    """

    position: int
    token: int
    answer: int


@dataclass(slots=True)
class Row:
    """A token sequence that the model processes, and the tokens to score in the sequence."""

    ids: tuple[int, ...]
    reads: list[Read] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Reads:
    """Tokens to score in several rows (token sequences), as arrays; see ``Read``.

    Args:
        row: For each token to score, the index of its row (token sequence).
        position: For each token to score, the index of the input position whose logits predict the
            token.
        token: For each token to score, its id.
        answer: For each token to score, the index of the answer whose score includes the token's
            log-probability.
    """

    row: NDArray[np.int64]
    position: NDArray[np.int64]
    token: NDArray[np.int64]
    answer: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Reads:
        """Convert the ``Read`` objects of a list of ``Row`` objects to arrays."""
        reads = [
            (number, read.position, read.token, read.answer)
            for number, row in enumerate(rows)
            for read in row.reads
        ]
        return cls(*np.array(reads, np.int64).reshape(-1, 4).T)

    def of_rows(self, numbers: NDArray[np.int64], rows: int) -> Reads:
        """Return only the tokens of the given rows; row ``numbers[i]`` becomes row i."""
        place = np.full(rows, -1, np.int64)
        place[numbers] = np.arange(len(numbers))
        own = place[self.row]
        (kept,) = np.nonzero(own >= 0)
        return Reads(own[kept], self.position[kept], self.token[kept], self.answer[kept])


@dataclass(frozen=True, slots=True)
class Values:
    """The log-probabilities from one forward pass, kept on the model's device.

    Args:
        answers: For each log-probability, the index of the answer whose score includes it.
        logprobs: Log-probabilities of tokens in nats, of shape (values,).
    """

    answers: Sequence[int] | NDArray[np.int64]
    logprobs: torch.Tensor

    def fetched(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return ``answers`` and ``logprobs`` as NumPy arrays in CPU memory.

        Raises:
            ScoringError: If the forward pass failed.
        """
        return np.asarray(self.answers, np.int64), on_host(self.logprobs)


Found = list[Values]
"""The log-probabilities from one or more forward passes.

Fetch the log-probabilities only after all passes have been started; otherwise, the host waits for
each pass.
"""


@dataclass(slots=True)
class Tally:
    """The sum of each answer's token log-probabilities, independent of summation order."""

    _pending: Found = field(default_factory=list)

    def add(self, found: Found) -> None:
        """Add the log-probabilities from one or more forward passes."""
        self._pending += found

    def totals(self, answers: int) -> NDArray[np.float64]:
        """Return the sum of each answer's log-probabilities in nats, of shape (answers,).

        Args:
            answers: Number of answers; each answer must have at least one log-probability.

        Raises:
            ScoringError: If a log-probability is not finite, or a forward pass failed.
        """
        fetched = [one.fetched() for one in self._pending]
        which = np.concatenate([np.empty(0, np.int64), *(one for one, _ in fetched)])
        values = np.concatenate([np.empty(0, np.float32), *(one for _, one in fetched)])
        if not np.isfinite(values).all():
            (wrong, *_) = values[~np.isfinite(values)].tolist()
            raise ScoringError(
                f"the model returned a log-probability of {wrong}; its number format may have "
                "overflowed: try --dtype float32"
            )
        counts = np.bincount(which, minlength=answers)
        totals = np.bincount(which, values.astype(np.float64), answers).astype(np.float64)
        # A sum of one or two numbers is rounded at most once, in any order. Longer sums are
        # computed exactly.
        several = np.flatnonzero(counts > _ONCE)
        if several.size:
            order = np.argsort(which, kind="stable")
            ends = np.cumsum(counts)
            for answer in several.tolist():
                own = order[ends[answer] - counts[answer] : ends[answer]]
                totals[answer] = math.fsum(values[own].tolist())
        return totals


def read_off(logits: torch.Tensor, wanted: Sequence[Sequence[tuple[int, Read]]]) -> Found:
    """Return tokens' log-probabilities, normalised over the vocabulary in float32.

    Args:
        logits: The logits, of shape (rows, columns, vocabulary).
        wanted: For each row of ``logits``, pairs of a column index and the token to score at that
            column.
    """
    reads = [(row, column, read) for row, part in enumerate(wanted) for column, read in part]
    if not reads:
        return []
    # Several answers may read the same position: normalise each position once.
    distinct = dict.fromkeys((row, column) for row, column, _ in reads)
    places = {place: number for number, place in enumerate(distinct)}
    rows, columns = on_device(list(places), logits.device).unbind(-1)
    values = read_values(
        logits[rows, columns],
        [places[row, column] for row, column, _ in reads],
        [read.token for _, _, read in reads],
    )
    return [Values([read.answer for _, _, read in reads], values)]


def read_values(
    logits: torch.Tensor,
    which: Sequence[int] | NDArray[np.int64],
    tokens: Sequence[int] | NDArray[np.int64],
) -> torch.Tensor:
    """Compute the log-probability, in nats, of each token in ``tokens`` from the logits.

    The log-probabilities are normalised over the whole vocabulary and computed in float32.

    Args:
        logits: The logits, of shape (positions, vocabulary).
        which: For each returned log-probability, its index along the first axis of ``logits``.
        tokens: For each returned log-probability, the id of its token.
    """
    import torch

    # In parts, because each part is copied to float once or twice.
    totals = torch.cat([part.float().logsumexp(dim=-1) for part in torch.split(logits, _PART)])
    at, token = on_device(np.stack([which, tokens]), logits.device)
    return logits[at, token].float() - totals[at]


def on_device(
    numbers: Sequence[int] | Sequence[Sequence[int]] | NDArray[np.int64], device: torch.device
) -> torch.Tensor:
    """Copy integers, or rows of integers, to a device; copies to a GPU are asynchronous."""
    import torch

    made = torch.as_tensor(np.asarray(numbers))
    if device.type == "cuda":
        made = made.pin_memory()
    return made.to(device, non_blocking=True)


def on_host(values: torch.Tensor) -> NDArray[np.float32]:
    """Copy values to CPU memory after the device has computed them.

    Some devices report an error in a forward pass only when values are copied to CPU memory.

    Raises:
        ScoringError: If a forward pass failed.
    """
    try:
        fetched: NDArray[np.float32] = values.cpu().numpy()
    except RuntimeError as error:
        raise ScoringError(f"the model failed on its device: {error}") from error
    return fetched


def padded(
    rows: Sequence[Sequence[int]], pad: int, device: torch.device, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded token ids and their attention mask, of shape (rows, maximum length)."""
    longest = max(len(row) for row in rows)
    ids, mask = [], []
    for row in rows:
        fill = [pad] * (longest - len(row))
        zeros, ones = [0] * len(fill), [1] * len(row)
        ids.append([*fill, *row] if left else [*row, *fill])
        mask.append(zeros + ones if left else ones + zeros)
    return on_device(ids, device), on_device(mask, device)
