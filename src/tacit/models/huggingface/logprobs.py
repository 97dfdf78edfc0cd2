"""Log-probabilities of tokens: logits only at positions that are read, summed for answers."""

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
    """The parts of a model that may be what its head looks at, likely ones first."""
    parts = [model.base_model]
    if hasattr(model, "get_decoder"):
        parts.append(model.get_decoder())  # OPT's head looks at a part of its base model
    return [part for part in parts if part is not None and part is not model]


def narrowed(body: torch.nn.Module, positions: torch.Tensor) -> AbstractContextManager[None]:
    """Lets the head see one state of each row: its output is of the shape (rows, 1, vocabulary).

    Args:
        body: The part of the model whose output the head sees.
        positions: The place in each row, of shape (rows,).
    """
    import torch

    rows = torch.arange(len(positions), device=positions.device)
    return _sliced_output(body, lambda states: _at(states, rows, positions).unsqueeze(1))


def gathered(
    body: torch.nn.Module, rows: torch.Tensor, columns: torch.Tensor
) -> AbstractContextManager[None]:
    """Lets the head see some states: its output is of the shape (1, places, vocabulary).

    Args:
        body: The part of the model whose output the head sees.
        rows: The row of each place, of shape (places,).
        columns: The place in it, of shape (places,).
    """
    return _sliced_output(body, lambda states: _at(states, rows, columns).unsqueeze(0))


def _at(states: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """The states at some places; a model on several devices may end on another than it begins."""
    return states[rows.to(states.device), columns.to(states.device)]


@contextmanager
def _sliced_output(
    body: torch.nn.Module, cut: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[None]:
    def replace(_body: object, _given: object, output: Any) -> Any:  # noqa: ANN401 - any model's class
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


def narrowing_difference(narrow: torch.Tensor, whole: torch.Tensor) -> float:
    """The largest difference in nats between two predictions, of shape (rows, vocabulary)."""
    return float((narrow.log_softmax(dim=-1) - whole.log_softmax(dim=-1)).abs().max())


_PART = 64
_ONCE = 2


@dataclass(frozen=True, slots=True)
class Read:
    """One token to read off a row.

    Args:
        position: The position in the row whose logits predict the token.
        token: The token's id.
        answer: The answer that its log-probability counts for, by its number among all answers.
    """

    position: int
    token: int
    answer: int


@dataclass(slots=True)
class Row:
    """One sequence of token ids that goes through the model, and what is read off it."""

    ids: tuple[int, ...]
    reads: list[Read] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Reads:
    """Tokens to read off several rows, in arrays of one length; see ``Read``.

    Args:
        row: The row, by its number.
        position: As of a ``Read``.
        token: As of a ``Read``.
        answer: As of a ``Read``.
    """

    row: NDArray[np.int64]
    position: NDArray[np.int64]
    token: NDArray[np.int64]
    answer: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Reads:
        """All that is read off single rows."""
        reads = [
            (number, read.position, read.token, read.answer)
            for number, row in enumerate(rows)
            for read in row.reads
        ]
        return cls(*np.array(reads, np.int64).reshape(-1, 4).T)

    def of_rows(self, numbers: NDArray[np.int64], rows: int) -> Reads:
        """What is read off some of so many rows, which are then counted in that order."""
        place = np.full(rows, -1, np.int64)
        place[numbers] = np.arange(len(numbers))
        own = place[self.row]
        (kept,) = np.nonzero(own >= 0)
        return Reads(own[kept], self.position[kept], self.token[kept], self.answer[kept])


@dataclass(frozen=True, slots=True)
class Values:
    """What is read off one pass, left on its device.

    Args:
        answers: For each value, the answer that it counts for.
        logprobs: Log-probabilities of tokens in nats, of shape (values,).
    """

    answers: Sequence[int] | NDArray[np.int64]
    logprobs: torch.Tensor

    def fetched(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The answers, and the values on the host.

        Raises:
            ScoringError: The pass failed.
        """
        return np.asarray(self.answers, np.int64), on_host(self.logprobs)


Found = list[Values]
"""What is read off some passes. Nobody fetches it before all are under way: the host would wait."""


@dataclass(slots=True)
class Tally:
    """Sums the tokens' log-probabilities of each answer, the same whatever order they come in."""

    _pending: Found = field(default_factory=list)

    def add(self, found: Found) -> None:
        """Takes in what is read off some passes."""
        self._pending += found

    def totals(self, answers: int) -> NDArray[np.float64]:
        """The sum of each answer's log-probabilities in nats, of shape (answers,).

        Args:
            answers: How many there are; something was read for each.

        Raises:
            ScoringError: A sum is no finite number, or a pass failed.
        """
        fetched = [one.fetched() for one in self._pending]
        which = np.concatenate([np.empty(0, np.int64), *(one for one, _ in fetched)])
        values = np.concatenate([np.empty(0, np.float32), *(one for _, one in fetched)])
        if not np.isfinite(values).all():
            (wrong, *_) = values[~np.isfinite(values)].tolist()
            raise ScoringError(
                f"the model gave a log-probability of {wrong}; a small number format overflows: "
                "try --dtype float32"
            )
        counts = np.bincount(which, minlength=answers)
        totals = np.bincount(which, values.astype(np.float64), answers).astype(np.float64)
        # Of one or two numbers, any sum is rounded once. Those of more are added exactly.
        several = np.flatnonzero(counts > _ONCE)
        if several.size:
            order = np.argsort(which, kind="stable")
            ends = np.cumsum(counts)
            for answer in several.tolist():
                own = order[ends[answer] - counts[answer] : ends[answer]]
                totals[answer] = math.fsum(values[own].tolist())
        return totals


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


def read_values(
    logits: torch.Tensor,
    which: Sequence[int] | NDArray[np.int64],
    tokens: Sequence[int] | NDArray[np.int64],
) -> torch.Tensor:
    """Log-probabilities over the whole vocabulary in nats, computed in float32, of shape (values,).

    Args:
        logits: Shape (places, vocabulary).
        which: For each value, the place.
        tokens: For each value, the token.
    """
    import torch

    # In parts, as each takes a float copy or two of what it normalises.
    totals = torch.cat([part.float().logsumexp(dim=-1) for part in torch.split(logits, _PART)])
    at, token = on_device(np.stack([which, tokens]), logits.device)
    return logits[at, token].float() - totals[at]


def on_device(
    numbers: Sequence[int] | Sequence[Sequence[int]] | NDArray[np.int64], device: torch.device
) -> torch.Tensor:
    """Whole numbers, or rows of them, on a device; a GPU fetches them while the host goes on."""
    import torch

    made = torch.as_tensor(np.asarray(numbers))
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
