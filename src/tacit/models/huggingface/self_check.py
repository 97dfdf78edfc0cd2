"""Check whether batches, packs and caches are as exact as scoring each input alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.models.huggingface.logprobs import Read, Row
from tacit.models.huggingface.prefix_tree import Rows

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from tacit.models.huggingface.batching import Budget

    Floats = NDArray[np.float64]

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
"""The length in tokens of the longest input of the checks."""


def cut(stream: Sequence[int], before: Sequence[int], length: int, depth: int) -> list[Row]:
    """Cut inputs of equal length, which share beginnings, from a stream of tokens."""
    stem = [*before, *_slice(stream, 0, depth)][:depth]
    made = [stem]
    kept = (depth // 2, depth // 4, 1, depth - 1, depth // 4 + 1)
    while len(made) < _FEWEST or (_tokens(made) < length and len(made) < length):
        shared = kept[(len(made) - 1) % len(kept)]
        made.append(stem[:shared] + _slice(stream, depth * len(made), depth - shared))
    last = max(made[2:])
    made = [*made[:2], last, *(ids for ids in made[2:] if ids is not last)]
    return renumbered([read_often(ids) for ids in made])


_FEWEST = 4


def _slice(stream: Sequence[int], begin: int, size: int) -> list[int]:
    # The stream is read again with a shift, so that no input is repeated.
    return [stream[(at + at // len(stream)) % len(stream)] for at in range(begin, begin + size)]


def _tokens(made: Iterable[Sequence[int]]) -> int:
    rows = Rows.of([Row(tuple(ids)) for ids in made]).ordered()
    return int((rows.lengths - rows.shared).sum())


def read_often(ids: Sequence[int]) -> Row:
    """Return an input of which every third token is scored."""
    places = range(len(ids) - 1)[2::3] or [max(0, len(ids) - 2)]
    return Row(tuple(ids), [Read(at, ids[(at + 1) % len(ids)], 0) for at in places])


def renumbered(rows: Sequence[Row]) -> list[Row]:
    """Return rows whose scored tokens are answers that are numbered through."""
    numbers = count()
    return [
        Row(row.ids, [Read(one.position, one.token, next(numbers)) for one in row.reads])
        for row in rows
    ]


def answers_of(rows: Iterable[Row]) -> list[int]:
    """Return the answer of each scored token, in order."""
    return [read.answer for row in rows for read in row.reads]


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


@dataclass
class Checks:
    """What the checks found, as it is recorded for the next time that the model is loaded."""

    against: str | None = None
    own: float = 0.0
    errors: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    packed: list[int] = field(default_factory=lambda: [0] * 4)
    done: bool = False
    save: Callable[[Checks], None] = field(default=lambda _: None, compare=False, repr=False)

    @property
    def limit(self) -> float:
        """The largest error, in nats, with which a way to compute is accepted."""
        return max(FLOOR, FACTOR * self.own)

    @property
    def description(self) -> dict[str, Any]:
        """The measured errors, for a manifest."""
        alone = None if self.against is None else self.own
        return {"against": self.against, "alone": alone, **self.errors}

    def accepts(self, way: str) -> bool:
        """Whether a way to compute was checked, and is as exact as scoring each input alone."""
        return way in self.errors and way not in self.refused

    def measure(
        self,
        way: str,
        reference: Reference,
        answers: Sequence[int],
        compute: Callable[[], Floats],
    ) -> bool:
        """Measure the error of a way to compute, and return whether it is accepted."""
        self.refused.pop(way, None)
        try:
            found = compute()
            error = float(np.abs(found - reference.alone[answers]).max())
            if not (error <= SURE and reference.may_suffice):
                error = float(np.abs(found - reference.exact[answers]).max())
        except Exception as failure:  # noqa: BLE001 - any failure turns the way off, and is logged
            self.refused[way] = FAILS + _first_line(failure.__cause__ or failure)
            return False
        self.errors[way] = error
        if not error <= self.limit:
            self.refused[way] = _compared(error, self.own, self.against)
        return way not in self.refused

    def confirms(
        self, found: Floats, alone: Callable[[], Floats], model: PreTrainedModel
    ) -> str | None:
        """Compare log-probabilities of the run's own inputs with those of the inputs alone."""
        plain = alone()
        error, own, against = float(np.abs(found - plain).max()), self.own, self.against
        if error <= self.limit:
            return None
        if against != BATCHES:
            wide = wide_format(model.dtype)
            with widened(wide):
                exact = alone()
            error, own = (float(np.abs(one - exact).max()) for one in (found, plain))
            against = _name_of(wide)
        return None if error <= max(FLOOR, FACTOR * own) else _compared(error, own, against)

    def finish(self) -> None:
        """Record the checks."""
        self.done = True
        self.save(self)


class Reference:
    """Log-probabilities of the checks' inputs, scored alone."""

    def __init__(
        self,
        checks: Checks,
        model: PreTrainedModel,
        budget: Budget,
        score: Callable[[], Floats],
        again: Callable[[], Floats],
    ) -> None:
        self._checks, self._model, self._budget = checks, model, budget
        self._score, self._again = score, again
        self.alone = score()

    @property
    def may_suffice(self) -> bool:
        """Whether the wider pass is needed only if a way differs from scoring inputs alone."""
        quantised = getattr(self._model.config, "quantization_config", None) is not None
        return not quantised and _name_of(wide_format(self._model.dtype)) == "float64"

    @cached_property
    def exact(self) -> Floats:
        """The log-probabilities in the wider number format; ``alone`` if its pass fails."""
        wide, tokens = wide_format(self._model.dtype), self._budget.tokens
        try:
            with widened(wide):
                exact = self._score()
        except Exception as failure:  # noqa: BLE001 - quantised layers fail in many ways
            log.info("no pass in %s: %s", wide, failure)
            self._budget.tokens = tokens
            self._checks.against = BATCHES
            self._checks.own = float(np.abs(self._again() - self.alone).max())
            return self.alone
        self._checks.against = _name_of(wide)
        self._checks.own = float(np.abs(self.alone - exact).max())
        return exact


def _compared(error: float, own: float, against: str | None) -> str:
    """Return a clause with an error, and the error of scoring each input alone."""
    if against == BATCHES:
        return (
            f"it changes log-probabilities by {error:.2g} nats, and another batch size by "
            f"{own:.2g} nats"
        )
    return (
        f"its log-probabilities are {error:.2g} nats from {against}, and those of inputs scored "
        f"alone {own:.2g} nats"
    )


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
