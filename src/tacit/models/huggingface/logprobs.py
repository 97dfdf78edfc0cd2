"""Compute logits only where tokens are scored, and sum log-probabilities per answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ScoringError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def head_of(model: PreTrainedModel) -> torch.nn.Module | None:
    """Return the language-model head, which computes logits from hidden states."""
    head: torch.nn.Module | None = model.get_output_embeddings()
    return head


def is_plain(head: torch.nn.Module | None) -> TypeGuard[torch.nn.Linear]:
    """Return whether a head is a matrix in CPU memory, so that its product can be split."""
    import torch

    return type(head) is torch.nn.Linear and head.weight.is_cpu and "forward" not in vars(head)


@contextmanager
def compared(model: PreTrainedModel, head: torch.nn.Module | None) -> Iterator[list[bool]]:
    """Collect, for each forward pass, whether the model's logits are exactly the head's output."""
    import torch

    outputs: list[torch.Tensor] = []
    equal: list[bool] = []

    def compare(_model: object, _given: object, output: Any) -> None:  # noqa: ANN401 - any class
        equal.append(bool(outputs) and torch.equal(outputs[-1].to(output.logits), output.logits))

    hooks = [model.register_forward_hook(compare)]
    if head is not None:
        hooks.append(head.register_forward_hook(lambda _head, _given, out: outputs.append(out)))
    try:
        yield equal
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def narrowed(head: torch.nn.Module, rows: torch.Tensor, columns: torch.Tensor) -> Iterator[None]:
    """Compute logits only at the given positions, with the shape (1, positions, vocabulary)."""

    def cut(_head: object, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return (_at(given[0], rows, columns).unsqueeze(0), *given[1:])

    hook = head.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def captured(head: torch.nn.Module) -> Iterator[list[torch.Tensor]]:
    """Collect the hidden states that a head receives, instead of computing logits."""
    states: list[torch.Tensor] = []

    def keep(given: torch.Tensor) -> torch.Tensor:
        states.append(given)
        return given[..., :1]

    vars(head)["forward"] = keep
    try:
        yield states
    finally:
        del vars(head)["forward"]


def _at(states: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return the hidden states at the given rows and columns."""
    return states[rows.to(states.device), columns.to(states.device)]


_PART = 64
_LOGITS = 2**18
_ONCE = 2


@dataclass(frozen=True, slots=True)
class Read:
    """A token to score, and the input position at which the model predicts the token."""

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
    """Tokens to score in several rows (token sequences), as arrays; see ``Read``."""

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
        row_of = np.full(rows, -1, np.int64)
        row_of[numbers] = np.arange(len(numbers))
        own = row_of[self.row]
        (kept,) = np.nonzero(own >= 0)
        return Reads(own[kept], self.position[kept], self.token[kept], self.answer[kept])


@dataclass(frozen=True, slots=True)
class Values:
    """The log-probabilities from one forward pass, kept on the model's device."""

    answers: Sequence[int] | NDArray[np.int64]
    logprobs: torch.Tensor

    def fetched(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return ``answers`` and ``logprobs`` as NumPy arrays in CPU memory."""
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
        """Return the sum of each answer's log-probabilities in nats, of shape (answers,)."""
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
        repeated = np.flatnonzero(counts > _ONCE)
        if repeated.size:
            order = np.argsort(which, kind="stable")
            ends = np.cumsum(counts)
            for answer in repeated.tolist():
                own = order[ends[answer] - counts[answer] : ends[answer]]
                totals[answer] = math.fsum(values[own].tolist())
        return totals


def read_off(logits: torch.Tensor, wanted: Sequence[Sequence[tuple[int, Read]]]) -> Found:
    """Return tokens' log-probabilities, normalised over the vocabulary in float32."""
    reads = [(row, column, read) for row, part in enumerate(wanted) for column, read in part]
    if not reads:
        return []
    # Several answers may read the same position: normalise each position once.
    distinct = dict.fromkeys((row, column) for row, column, _ in reads)
    places = {position: number for number, position in enumerate(distinct)}
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
    """Compute the log-probability, in nats, of each token in ``tokens`` from the logits."""
    import torch

    # In parts, because each part is copied to float once or twice.
    totals = torch.cat([part.float().logsumexp(dim=-1) for part in torch.split(logits, _PART)])
    at, token = on_device(np.stack([which, tokens]), logits.device)
    return logits[at, token].float() - totals[at]


def read_states(
    states: torch.Tensor,
    head: torch.nn.Linear,
    which: NDArray[np.int64],
    tokens: NDArray[np.int64],
) -> torch.Tensor:
    """Compute tokens' log-probabilities, in nats, from hidden states."""
    import torch

    linear, weight = torch.nn.functional.linear, head.weight
    bias = weight.new_zeros(len(weight)) if head.bias is None else head.bias
    words = max(1, _LOGITS // len(states))
    parts = zip(torch.split(weight, words), torch.split(bias, words), strict=True)
    totals = torch.stack([linear(states, *part).float().logsumexp(dim=-1) for part in parts])
    at, token = torch.from_numpy(which), torch.from_numpy(tokens)
    own = (states[at].float() * weight[token].float()).sum(dim=-1) + bias[token].float()
    return own - totals.logsumexp(dim=0)[at]


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
    """Copy values to CPU memory after the device has computed them."""
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
