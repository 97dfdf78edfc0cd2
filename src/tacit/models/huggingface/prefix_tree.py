"""Token sequences (rows) as arrays, and the prefix tree of sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

LEAST = 64
"""The minimum length of a cached prefix: 1/16 of a full pack of 1024 tokens."""

_CELLS = 2**22
"""The maximum number of tokens, including padding, in one comparison of sequences."""


class Reads(NamedTuple):
    """Tokens to score, the row and the position that predict each, and the answer it is part of."""

    row: Ints
    position: Ints
    token: Ints
    answer: Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of token ids, and the tokens to score in the sequences."""

    ids: Ints
    starts: Ints
    reads: Reads

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], reads: Sequence[tuple[int, ...]] = ()) -> Rows:
        """Convert token sequences, and tuples in the order of the fields of ``Reads``."""
        starts = starts_of(np.array([len(ids) for ids in rows], np.int64))
        ids = np.fromiter(chain.from_iterable(rows), np.int64, int(starts[-1]))
        return cls(ids, starts, Reads(*np.array(reads, np.int64).reshape(-1, 4).T))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Ints:
        return self.ids[self.starts[number] : self.starts[number + 1]]

    @property
    def lengths(self) -> Ints:
        """The number of tokens in each sequence."""
        return np.diff(self.starts)

    def take(self, numbers: Ints) -> Rows:
        """Return the sequences with the given indices, in the given order."""
        lengths = self.lengths[numbers]
        ids = self.ids[ragged(self.starts[:-1][numbers], lengths)]
        row_of = np.full(len(self), -1, np.int64)
        row_of[numbers] = np.arange(len(numbers))
        own = row_of[self.reads.row]
        (kept,) = np.nonzero(own >= 0)
        reads = Reads(own[kept], *(column[kept] for column in self.reads[1:]))
        return Rows(ids, starts_of(lengths), reads)


@dataclass(frozen=True, eq=False)
class Tree:
    """Sorted rows, none a prefix of another, and what each shares with those before."""

    rows: Rows
    shared: Ints

    @classmethod
    def of(cls, rows: Rows) -> Tree:
        """Sort rows; a row that is a prefix of another is merged into it."""
        own = rows.ids.astype(">i4").tobytes()
        keys = [own[begin:end] for begin, end in pairwise((rows.starts * 4).tolist())]
        rows = rows.take(np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64))
        shared = _shared(rows)
        whole = np.ones(len(rows), bool)
        whole[:-1] = shared[1:] < rows.lengths[:-1]
        if whole.all():
            return cls(rows, shared)
        (kept,) = np.nonzero(whole)
        # A merged row is a prefix of the next one that remains.
        longer = kept[np.searchsorted(kept, rows.reads.row)]
        rows = Rows(rows.ids, rows.starts, rows.reads._replace(row=longer)).take(kept)
        return cls(rows, _shared(rows))

    @property
    def cached(self) -> int:
        """The length of the prefix of all rows that is computed before them and cached, or 0."""
        return int(self.shared[0]) if len(self.shared) else 0

    def part(self, begin: int, end: int) -> Tree:
        """Return consecutive rows as a tree of their own."""
        shared = self.shared[begin:end].copy()
        shared[:1] = self.cached
        return Tree(self.rows.take(np.arange(begin, end)), shared)

    def by_prefix(self, length: int) -> list[Tree]:
        """Divide rows by the long prefixes that rows of more than ``length`` tokens share."""
        rows, shared = self.rows, self.shared
        begins = np.flatnonzero(shared < LEAST)
        if len(begins) == len(rows):
            return [self]
        common = rows.lengths
        np.minimum.at(common, rows.reads.row, rows.reads.position)
        longer = np.flatnonzero(shared >= LEAST)
        common[longer] = np.minimum(common[longer], shared[longer])
        kept = np.minimum.reduceat(common, begins)
        is_kept = (kept >= LEAST) & (np.add.reduceat(rows.lengths - shared, begins) > length)
        if not is_kept.any():
            return [self]
        group = np.cumsum(shared < LEAST) - 1
        parts = [(np.flatnonzero(group == one), kept[one]) for one in np.flatnonzero(is_kept)]
        parts.append((np.flatnonzero(~is_kept[group]), 0))
        trees = []
        for own, size in parts:
            if len(own):
                some = rows.take(own)
                trees.append(Tree(some, _shared(some)))
                trees[-1].shared[0] = size
        return trees


def _shared(rows: Rows) -> Ints:
    """Return the length of the prefix that each row shares with the row before."""
    lengths = rows.lengths
    found = np.zeros(len(rows), np.int64)
    step = max(2, _CELLS // max(1, int(lengths.max(initial=1))))
    for begin in range(0, len(rows) - 1, step):
        end = min(begin + step + 1, len(rows))
        table = padded(rows.ids[rows.starts[begin] : rows.starts[end]], lengths[begin:end], -1)
        differs = np.ones((end - begin - 1, table.shape[1] + 1), bool)
        differs[:, :-1] = table[1:] != table[:-1]
        least = np.minimum(lengths[begin + 1 : end], lengths[begin : end - 1])
        found[begin + 1 : end] = np.minimum(differs.argmax(axis=1), least)
    return found


def starts_of(lengths: Ints) -> Ints:
    """Return the starts of consecutive segments of given lengths, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """Return the indices of all elements of several segments, one segment after another."""
    own = starts_of(lengths)
    return np.repeat(starts - own[:-1], lengths) + np.arange(own[-1])


def padded(ids: Ints, lengths: Ints, fill: int, multiple: int = 1) -> Ints:
    """Return consecutive segments as the rows of a table, whose width is a multiple."""
    longest = int(lengths.max())
    table = np.full((len(lengths), longest + -longest % multiple), fill, np.int64)
    table[np.arange(table.shape[1]) < lengths[:, None]] = ids
    return table
