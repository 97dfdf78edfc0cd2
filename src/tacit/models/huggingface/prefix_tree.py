"""Sequences of tokens in arrays, in order, with what each shares with the one before it.

In order, sequences are a prefix tree that is walked depth first: what one shares with the one
before it is a path that is already there, and the rest is new. A sequence that begins another one
is part of it, and what is read off it is read off the longer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import eq
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.models.huggingface.logprobs import Reads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.models.huggingface.logprobs import Row

Ints: TypeAlias = "NDArray[np.int64]"

_CELLS = 2**22
"""The most tokens, padding included, that are compared at once."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of token ids, and what is read off them.

    Args:
        ids: The tokens of all sequences, one after the other.
        starts: Where each sequence begins in ``ids``, and the end of the last.
        reads: What is read off; rows are counted from 0.
    """

    ids: Ints
    starts: Ints
    reads: Reads

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Rows:
        """The same, from single sequences."""
        lengths = [len(row.ids) for row in rows]
        ids = [token for row in rows for token in row.ids]
        return cls(np.array(ids, np.int64), starts_of(np.array(lengths, np.int64)), Reads.of(rows))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each."""
        return np.diff(self.starts)

    def row(self, number: int) -> tuple[int, ...]:
        """The tokens of one."""
        return tuple(self.ids[self.starts[number] : self.starts[number + 1]].tolist())

    def take(self, numbers: Ints) -> Rows:
        """Some of them, in that order, with what is read off these."""
        lengths = self.lengths[numbers]
        ids = self.ids[ragged(self.starts[:-1][numbers], lengths)]
        return Rows(ids, starts_of(lengths), self.reads.of_rows(numbers, len(self)))

    def behind(self, size: int) -> Rows:
        """What follows the first tokens of each, of which nothing is read."""
        lengths = self.lengths - size
        ids = self.ids[ragged(self.starts[:-1] + size, lengths)]
        reads = self.reads
        return Rows(
            ids,
            starts_of(lengths),
            Reads(reads.row, reads.position - size, reads.token, reads.answer),
        )

    def ordered(self) -> Rows:
        """In the order of their tokens; one that begins the next is part of it."""
        own = self.ids.astype(">i4").tobytes()
        bounds = (self.starts * 4).tolist()
        keys = [own[begin:end] for begin, end in pairwise(bounds)]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        rows = self.take(order)
        whole = np.ones(len(rows), bool)
        whole[:-1] = rows.shared[1:] < rows.lengths[:-1]
        if whole.all():
            return rows
        (kept,) = np.nonzero(whole)
        # The next one that is kept begins with it.
        longer = kept[np.searchsorted(kept, rows.reads.row)]
        reads = rows.reads
        return Rows(
            rows.ids, rows.starts, Reads(longer, reads.position, reads.token, reads.answer)
        ).take(kept)

    @cached_property
    def shared(self) -> Ints:
        """With how many tokens each begins like the one before it; 0 for the first."""
        lengths = self.lengths
        found = np.zeros(len(self), np.int64)
        step = max(2, _CELLS // max(1, int(lengths.max(initial=1))))
        for begin in range(0, len(self) - 1, step):
            end = min(begin + step + 1, len(self))
            table = self.table(begin, end)
            alike = table[1:] == table[:-1]
            differs = np.concatenate([~alike, np.ones((len(alike), 1), bool)], axis=1)
            least = np.minimum(lengths[begin + 1 : end], lengths[begin : end - 1])
            found[begin + 1 : end] = np.minimum(differs.argmax(axis=1), least)
        return found

    def table(self, begin: int, end: int) -> Ints:
        """Some of them as a table of their tokens, filled up with -1."""
        lengths = self.lengths[begin:end]
        width = int(lengths.max(initial=0))
        table = np.full((end - begin, width), -1, np.int64)
        table[np.arange(width) < lengths[:, None]] = self.ids[self.starts[begin] : self.starts[end]]
        return table


def starts_of(lengths: Ints) -> Ints:
    """Where pieces of such lengths begin, one after the other, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """The indices of pieces that begin somewhere and have such lengths, one after the other."""
    own = starts_of(lengths)
    return np.repeat(starts - own[:-1], lengths) + np.arange(own[-1])


def shared_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """With how many tokens two sequences begin alike."""
    alike = list(map(eq, one, other))
    return alike.index(False) if False in alike else len(alike)
