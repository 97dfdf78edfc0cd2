"""Check at load time that packing and padding do not change log-probabilities."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit.errors import ScoringError
from tacit.models.huggingface.adapters import quantised
from tacit.models.huggingface.batching import Budget, in_batches
from tacit.models.huggingface.logprobs import Read, Row, Tally
from tacit.models.huggingface.packing import packs_of
from tacit.models.huggingface.prefix_tree import LEAST, Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from transformers import PreTrainedModel

    from tacit.models.huggingface.logprobs import Found
    from tacit.models.huggingface.packed_passes import Packer


T = TypeVar("T")


def made_up(vocabulary: int, longest: int) -> tuple[Row, Row]:
    """Return a short and a long sequence, each with a token to score at every position."""
    spread = [1 + (i * 7919) % (vocabulary - 1) for i in range(longest)]
    short, long = (
        Row(tuple(ids), [Read(at, spread[0], number) for at in range(len(ids))])
        for number, ids in enumerate((spread[: 1 + longest // 4], spread[::-1]))
    )
    return short, long


def padding_difference(score: Callable[[Sequence[T]], Found], rows: Sequence[T]) -> float:
    """Score rows in one batch and one by one, and return the largest difference in nats.

    Raises:
        ScoringError: If a forward pass fails.
    """

    def scored(most: int) -> list[float]:
        found: Found = []
        in_batches(
            [1] * len(rows),
            Budget(most),
            lambda batch: found.extend(score([rows[i] for i in batch])),
        )
        return [float(value) for one in found for value in one.fetched()[1]]

    return max(abs(a - b) for a, b in zip(scored(len(rows)), scored(1), strict=True))


def tolerance(model: PreTrainedModel, size: float = 0.0) -> float:
    """Return the largest log-probability change, in nats, that rounding alone can explain.

    In some quantised layers, the rounding of a token's values depends on the other tokens in the
    forward pass. The spacing of representable half-precision values increases with their magnitude;
    for example, bfloat16 values between 32 and 64 are 0.25 apart.

    Args:
        model: The model.
        size: Magnitude of the model's logits, as measured by ``sizes_of_logits``.
    """
    import torch

    exact = model.dtype in {torch.float32, torch.float64} and quantised(model.config) is None
    return 1e-4 if exact else 0.1 + torch.finfo(model.dtype).eps * size


@contextmanager
def sizes_of_logits(model: PreTrainedModel) -> Iterator[list[float]]:
    """Collect the magnitudes of the largest and the median logit in each forward pass."""
    sizes: list[float] = []

    def measure(_model: object, _given: object, output: Any) -> None:  # noqa: ANN401 - any model
        logits = output.logits.float()
        # Not the largest magnitude of all logits: some models have minus infinity for tokens that
        # they never write.
        typical = (logits.amax(dim=-1), logits.median(dim=-1).values)
        sizes.extend(float(logit.abs().max()) for logit in typical)

    hook = model.register_forward_hook(measure)
    try:
        yield sizes
    finally:
        hook.remove()


_DEPTH = 32
_FEW = 4 * _DEPTH
_COMPARED = 8
_COMPARED_BEHIND = 3


@dataclass(frozen=True, slots=True)
class Packing:
    """Whether several prompts can be packed, and the maximum length of a pack.

    Args:
        length: Maximum length of a pack in tokens; 0 if prompts are not packed.
        depth: Number of tokens in the longest row that was checked, not counting the cached prefix.
        difference: The largest change in a log-probability caused by packing, in nats; None if the
            change was not measured or if packing fails.
        refused: The reason why prompts are not packed; None if prompts are packed.
    """

    length: int
    depth: int = 0
    difference: float | None = None
    refused: str | None = None


@dataclass(frozen=True)
class Check:
    """Compares the log-probabilities of rows with and without packing.

    Args:
        packer: Object that scores rows (token sequences) that are combined into packs.
        plain: Function that scores rows without packing; it is called with only a few rows.
        vocabulary: Number of tokens in the vocabulary.
        length: Maximum length of a pack in tokens.
        deepest: Maximum number of tokens in one row (token sequence).
        tolerance: The largest change in a log-probability, in nats, that rounding alone can
            explain.
    """

    packer: Packer
    plain: Callable[[Sequence[Row]], Tally]
    vocabulary: int
    length: int
    deepest: int
    tolerance: float

    def packing(self) -> Packing:
        """Compare the log-probabilities of packed token rows with those of unpacked rows.

        The packed rows form one pack of the maximum length and several short packs. The pack of the
        maximum length is needed because a local attention window affects only packs that are longer
        than the window.
        """
        full = made_up_pack(self.vocabulary, self.length, self.deepest)
        few = made_up_pack(self.vocabulary, min(_FEW, self.length), min(_DEPTH, self.deepest))
        several = min(_FEW, self.length) // 2
        return self._compared(
            lambda: self._differences(full, self.length) + self._differences(few, several),
            max(len(row.ids) for row in full),
        )

    def keeping(self) -> Packing:
        """Compare scores of rows packed after a cached prefix with scores of unpacked rows."""
        size = min(self.deepest, self.length) - _DEPTH
        if size < LEAST:
            return Packing(0, refused=f"the model takes only {self.deepest} tokens")
        begin = _spread(self.vocabulary, 0, size)
        rows = [
            Row(begin + row.ids, [Read(size + r.position, r.token, r.answer) for r in row.reads])
            for row in made_up_pack(self.vocabulary, self.length, _DEPTH)
        ]
        return self._compared(lambda: self._differences(rows, self.length, begin), _DEPTH)

    def _compared(self, differences: Callable[[], list[float]], depth: int) -> Packing:
        try:
            difference = max(differences())
        except ScoringError as error:
            reason = _first_line(error.__cause__ or error)
            return Packing(0, refused=f"the forward pass fails: {reason}")
        if not difference <= self.tolerance:
            told = f"log-probabilities with and without packing differ by {difference:.2g} nats"
            return Packing(0, difference=difference, refused=told)
        return Packing(self.length, depth, difference)

    def _differences(
        self, rows: Sequence[Row], length: int, begin: tuple[int, ...] = ()
    ) -> list[float]:
        """Return the log-probability changes (nats) that packing causes in a few rows.

        Raises:
            ScoringError: If a forward pass fails, or the model returns a value that is not finite.
        """
        packed = Tally()
        ordered = Rows.of(rows).ordered().behind(len(begin))
        self.packer.score(packs_of(ordered, length), packed, begin)
        some = _some_of(rows, _COMPARED_BEHIND if begin else _COMPARED)
        read = [one.answer for row in some for one in row.reads]
        answers = sum(len(row.reads) for row in rows)
        differences = packed.totals(answers)[read] - self.plain(some).totals(answers)[read]
        return [float(one) for one in np.abs(differences)]


def made_up_pack(vocabulary: int, length: int, deepest: int) -> list[Row]:
    """Return sorted token sequences that share prefixes of different lengths.

    Together, the sequences fill one pack: a prefix tree of sequences that are scored together.

    The longest row (token sequence) has half as many tokens as the pack, but at most ``deepest``.
    If the model has an attention window that its config does not declare, a long token sequence
    reveals the window.

    Args:
        vocabulary: Number of tokens in the vocabulary.
        length: Maximum total number of tokens in the returned rows; a shared prefix counts only
            once.
        deepest: Maximum number of tokens in one row (token sequence).
    """
    deep, depth = min(deepest, length // 2), min(deepest, length, _DEPTH)
    # Many rows share a quarter or a half of ``depth`` tokens with the first row, so that some come
    # far after it in the pack.
    kept = (depth // 4, depth // 2, depth // 4 + 1, depth - 1, 1, depth // 2)
    stem = _spread(vocabulary, 0, max(deep, depth))
    made = [stem]
    for number in range(1, length):
        shared = kept[number % len(kept)] if number > 1 else 0
        own = _spread(vocabulary, len(stem) + number * depth, depth - shared)
        made.append((*stem[:shared], *own))
        rows = Rows.of([Row(ids) for ids in made]).ordered()
        if int((rows.lengths - rows.shared).sum()) > length:
            made.pop()
            break
    return _read_everywhere(sorted(made))


def _spread(vocabulary: int, begin: int, length: int) -> tuple[int, ...]:
    return tuple(1 + ((begin + at) * 7919) % (vocabulary - 1) for at in range(length))


def _read_everywhere(made: Sequence[tuple[int, ...]]) -> list[Row]:
    """Return rows with a one-token answer to score at every position."""
    rows, answers = list[Row](), 0
    for ids in made:
        rows.append(Row(ids, [Read(at, ids[at - 1], answers + at) for at in range(len(ids))]))
        answers += len(ids)
    return rows


def _some_of(rows: Sequence[Row], few: int) -> list[Row]:
    """Return a few evenly spaced rows, and the longest row."""
    step = (len(rows) - 1) / (few - 1)
    deepest = max(range(len(rows)), key=lambda at: len(rows[at].ids))
    return [rows[at] for at in sorted({deepest, *(round(n * step) for n in range(few))})]


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
