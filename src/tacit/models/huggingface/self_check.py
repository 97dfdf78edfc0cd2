"""Check once, at load, whether batches and packs are as exact as scoring each input alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.models.huggingface.packing import Ints, Rows
from tacit.models.huggingface.passes import Floats

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

log = logging.getLogger(__name__)

FACTOR, FLOOR = 4, 1e-4
# own + SURE is at most FLOOR if own is at most FLOOR / 3, and at most FACTOR * own if it is more.
SURE = FLOOR - FLOOR / (FACTOR - 1)
TEXT = (
    "Is it true that a river has a bank on either side? A river is made of water and flows to the "
    "sea. Most birds can fly, because they have wings; a penguin cannot. The handle of a cup is on "
    "its outside, and the tea is inside. If somebody asks you whether a spoon is used for eating "
    "soup, the answer is yes. Question: Can a stone feel pain? Answer: no. A house has walls, a "
    "roof, and a door that people go through. In winter it is cold, so they light a fire."
)
"""Text from which the inputs of the checks are cut."""

DEPTH = 22
"""The length in tokens of the longest input of the check at load."""

ALONE = 3
"""The number of inputs that are scored alone."""


def made_up(
    stream: Sequence[int], before: Sequence[int], depth: int, tokens: int
) -> list[tuple[int, ...]]:
    """Cut inputs of equal length, which share beginnings, from a stream of tokens.

    Together, they have at least so many tokens in a prefix tree. The first ``ALONE`` are to be
    scored alone; all but one of them are spread over the tree.
    """
    first = (*before, *_slice(stream, 0, depth))[:depth]
    kept = (depth // 2, depth // 4, 1, depth - 1, depth // 4 + 1)
    rows = list[tuple[int, ...]]()
    size = depth
    while size < tokens or len(rows) < ALONE:
        shared = kept[len(rows) % len(kept)]
        rows.append(first[:shared] + _slice(stream, depth * (len(rows) + 1), depth - shared))
        size += depth - shared
    rows.sort()
    alone = [rows.pop(at * (len(rows) - 1) // (ALONE - 2)) for at in reversed(range(ALONE - 1))]
    return [first, *alone, *rows]


def _slice(stream: Sequence[int], begin: int, size: int) -> tuple[int, ...]:
    # The stream is read again with a shift, so that no input is repeated.
    return tuple(
        stream[(at + at // len(stream)) % len(stream)] for at in range(begin, begin + size)
    )


def read_often(rows: Sequence[tuple[int, ...]], number: int) -> Rows:
    """Score some tokens of the first rows; each scored token is an answer of its own."""
    reads: list[tuple[int, int, int, int]] = []
    for row, ids in enumerate(rows[:number]):
        for at in range(len(ids) - 1)[2::3] or [max(0, len(ids) - 2)]:
            reads.append((row, at, ids[(at + 1) % len(ids)], len(reads)))
    return Rows.of(rows, reads)


def wide_format(dtype: torch.dtype) -> torch.dtype:
    """Return the number format in which a pass is nearly exact, compared with ``dtype``."""
    import torch

    return torch.float64 if dtype in {torch.float32, torch.float64} else torch.float32


_PART = 2**20
"""The number of weights that are converted to the wider format at a time."""


@contextmanager
def widened(wide: torch.dtype) -> Iterator[None]:
    """Compute in a wider number format, whatever the format of the weights."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    aten = torch.ops.aten
    narrow = {torch.float32, torch.bfloat16, torch.float16} - {wide}

    def widen(value: Any) -> Any:  # noqa: ANN401 - any argument
        if isinstance(value, torch.Tensor):
            return value.to(wide) if value.dtype in narrow else value
        return wide if isinstance(value, torch.dtype) and value in narrow else value

    class Widened(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self,
            func: Any,  # noqa: ANN401 - any operation, with any arguments
            types: object,
            args: Any = (),  # noqa: ANN401
            kwargs: Any = None,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            del types
            if func.is_view or func is aten.embedding.default:
                return func(*args, **(kwargs or {}))
            if func._schema.is_mutable and getattr(args[0], "dtype", None) in narrow:  # noqa: SLF001
                raise NotImplementedError(f"{func} changes a tensor of {args[0].dtype} in place")
            if func is aten.mm.default and args[1].dtype in narrow:
                parts = args[1].split(max(1, _PART // len(args[1])), dim=1)
                states = widen(args[0])
                return torch.cat([states @ part.to(wide) for part in parts], dim=1)
            args, kwargs = tree_map(widen, (args, kwargs or {}))
            return tree_map(widen, func(*args, **kwargs))

    class Dequantised(TorchFunctionMode):
        """Multiplies by weights as they are stored, without rounding the activations."""

        def __torch_function__(
            self,
            func: Any,  # noqa: ANN401 - any function, with any arguments
            types: object,
            args: Any = (),  # noqa: ANN401
            kwargs: Any = None,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            del types
            if func is torch.nn.functional.linear and hasattr(args[1], "tensor_data_names"):
                args = (args[0], args[1].dequantize(), *args[2:])
            return func(*args, **(kwargs or {}))

    with Dequantised(), Widened():  # type: ignore[no-untyped-call]
        yield


FAILS = "it fails: "
"""How the reason begins why a way to compute is refused that raises an error."""

BATCHES = "another batch size"


def failed(failure: Exception) -> str:
    """Return the reason why a way to compute that raises an error is refused."""
    lines = str(failure.__cause__ or failure).splitlines()
    return FAILS + (lines[0] if lines else type(failure).__name__)


@dataclass
class Checks:
    """What the check found, as it is recorded for the next time that the model is loaded."""

    against: str | None = None
    own: float = 0.0
    errors: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    packed: list[int] = field(default_factory=lambda: [0] * 4)
    save: Callable[[Checks], None] = field(default=lambda _: None, compare=False, repr=False)

    @property
    def limit(self) -> float:
        """The largest error, in nats, with which a way to compute is accepted."""
        return max(FLOOR, FACTOR * self.own)

    def accepts(self, way: str) -> bool:
        """Whether a way to compute was checked, and is as exact as scoring each input alone."""
        return way in self.errors and way not in self.refused


class Comparison:
    """Compares ways to compute with scoring each input alone.

    ``score`` returns the log-probabilities of all inputs, given the inputs of each pass.
    """

    def __init__(
        self,
        checks: Checks,
        model: PreTrainedModel,
        inputs: int,
        score: Callable[[Sequence[Sequence[int]]], Floats],
    ) -> None:
        self._checks, self._model, self._inputs, self._score = checks, model, inputs, score
        self._each = [[number] for number in range(inputs)]
        self.alone = score(self._each)

    def measure(
        self, way: str, compute: Callable[[], Floats], answers: Ints | slice = slice(None)
    ) -> bool:
        """Measure the error of a way to compute, and return whether it is accepted."""
        checks = self._checks
        try:
            found = compute()
            error = float(np.abs(found - self.alone[answers]).max())
            if not error <= self._sure(way):
                error = float(np.abs(found - self.exact[answers]).max())
        except Exception as failure:  # noqa: BLE001 - any failure turns the way off, and is logged
            checks.refused[way] = failed(failure)
            return False
        checks.errors[way] = max(error, checks.errors.get(way, 0.0))
        if not error <= checks.limit:
            checks.refused[way] = self._shown(error)
        return way not in checks.refused

    def _sure(self, way: str) -> float:
        """Return the difference from scoring inputs alone that needs no wider pass to accept."""
        if way in self._checks.errors or self._checks.accepts("packed"):  # after the check at load
            return self._checks.limit
        quantised = getattr(self._model.config, "quantization_config", None) is not None
        is_single = not quantised and _name_of(wide_format(self._model.dtype)) == "float64"
        return SURE if is_single else -1.0

    @cached_property
    def exact(self) -> Floats:
        """The log-probabilities in the wider number format; ``alone`` if its pass fails."""
        wide, checks = wide_format(self._model.dtype), self._checks
        try:
            with widened(wide):
                exact = self._score(self._each)
        except Exception as failure:  # noqa: BLE001 - quantised layers fail in many ways
            log.info("no pass in %s: %s", wide, failure)
            pairs = [[number, (number + 1) % self._inputs] for number in range(self._inputs)]
            checks.against = BATCHES
            times = min(2, self._inputs)
            self._found_own(self._score(pairs) / times)
            return self.alone
        checks.against = _name_of(wide)
        self._found_own(exact)
        return exact

    def _found_own(self, other: Floats) -> None:
        self._checks.own = max(float(np.abs(self.alone - other).max()), self._checks.own)

    def _shown(self, error: float) -> str:
        """Return a clause with an error, and the error of scoring each input alone."""
        own, against = self._checks.own, self._checks.against
        if against == BATCHES:
            return (
                f"it changes log-probabilities by {error:.2g} nats, and another batch size by "
                f"{own:.2g} nats"
            )
        return (
            f"its log-probabilities are {error:.2g} nats from {against}, and those of inputs "
            f"scored alone {own:.2g} nats"
        )


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
