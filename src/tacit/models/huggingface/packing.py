"""Token sequences (rows) as arrays, their prefix tree, and packs, which store a prefix once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

LEAST = 64
"""The minimum length of a cached prefix: 1/16 of a full pack of 1024 tokens."""

_CELLS = 2**22
"""The maximum number of tokens, including padding, in one comparison of sequences."""

# Cut a pack where inputs share least, provided that this fraction of its length is filled.
_LATEST = 7 / 8


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
        starts = starts_of(np.array(list(map(len, rows)), np.int64))
        ids = np.fromiter(chain.from_iterable(rows), np.int64, int(starts[-1]))
        return cls(ids, starts, Reads(*np.array(reads, np.int64).reshape(-1, 4).T))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Ints:
        return self.ids[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def lengths(self) -> Ints:
        """The number of tokens in each sequence."""
        return np.diff(self.starts)

    def take(self, numbers: Ints) -> Rows:
        """Return the sequences with the given indices, in the given order."""
        lengths = self.lengths[numbers]
        ids = self.ids[ragged(self.starts[:-1][numbers], lengths)]
        row_of = np.full(len(self), -1, np.int64)
        row_of[numbers] = np.arange(len(numbers))
        old = self.reads
        row = row_of[old.row]
        kept = row >= 0
        reads = Reads(row[kept], old.position[kept], old.token[kept], old.answer[kept])
        return Rows(ids, starts_of(lengths), reads)


@dataclass(frozen=True, eq=False)
class Tree:
    """Sorted rows, none a prefix of another, and what each shares with those before."""

    rows: Rows
    shared: Ints

    @classmethod
    def of(cls, rows: Rows) -> Tree:
        """Sort rows; a row that is equal to another, or a prefix of it, is merged into it."""
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

    def by_prefix(self, length: int) -> list[Tree]:
        """Divide rows by the long prefixes before more than ``length`` other tokens of rows."""
        rows, shared = self.rows, self.shared
        begins = np.flatnonzero(shared < LEAST)
        if len(begins) == len(rows):
            return [self]
        common = rows.lengths.copy()
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


@dataclass(frozen=True, eq=False)
class Pack:
    """A part of a prefix tree of token sequences (rows), stored in depth-first order.

    A token is seen by the tokens behind it, up to its index in ``ends``.
    """

    tree: Tree
    ids: Ints
    depths: Ints
    ends: Ints
    reads: Reads

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def spans(self) -> Ints:
        """For each row, the distance in the pack between its first and its last token."""
        index = np.arange(len(self.ids))
        first = np.maximum.accumulate(np.where(self.depths == self.tree.cached, index, 0))
        leaves = np.flatnonzero(self.ends == index + 1)  # one for each row, in their order
        return leaves - first[leaves]

    def again(self, length: int) -> list[Pack]:
        """Return ``[self]`` if the pack has at most ``length`` tokens, else shorter packs."""
        return [self] if len(self) <= length else packs_of(self.tree, length)


def packs_of(tree: Tree, length: int) -> list[Pack]:
    """Group sorted rows into packs of at most ``length`` tokens; a longer row is one pack."""
    return [_pack(tree, *bounds) for bounds in pairwise(_cuts(tree, length))]


def sizes_of(pack: Pack) -> tuple[int, int, int, int]:
    """Return the lengths of a pack, its longest row and cached prefix, and the greatest span."""
    tree = pack.tree
    return len(pack), int(tree.rows.lengths.max()), tree.cached, int(pack.spans.max())


def added_tokens(tree: Tree, length: int) -> Ints:
    """Return how many tokens each row adds to its pack (a group of rows; see ``packs_of``)."""
    added = tree.rows.lengths - tree.shared
    begins = _cuts(tree, length)[:-1]
    added[begins] = tree.rows.lengths[begins] - tree.cached
    return added


def _cuts(tree: Tree, length: int) -> list[int]:
    """Return the index of each pack's first row, and the number of rows."""
    shared = tree.shared
    added = starts_of(tree.rows.lengths - shared)
    cuts = [0]
    while cuts[-1] < len(shared):
        begin = cuts[-1]
        # A pack that ends at row ``end`` has added[end] - before tokens, because the path of its
        # first row is computed again.
        before = added[begin] - shared[begin] + tree.cached
        end = int(np.searchsorted(added, before + length, side="right")) - 1
        end = max(end, begin + 1)
        if end < len(shared):
            late = int(np.searchsorted(added, before + length * _LATEST))
            late = max(late, begin + 1)
            if late <= end:
                least = shared[late : end + 1][::-1]
                end -= int(least.argmin())
        cuts.append(end)
    return cuts


def _pack(tree: Tree, begin: int, end: int) -> Pack:
    """Return consecutive rows as a pack, with a tree of their own."""
    rows, shared = tree.rows.take(np.arange(begin, end)), tree.shared[begin:end].copy()
    shared[:1] = tree.cached
    lengths, reads = rows.lengths, rows.reads
    starts = starts_of(lengths - shared)
    column = np.arange(int(lengths.max()))
    is_new = (column >= shared[:, None]) & (column < lengths[:, None])
    # Index of the token in each column of a row: a new token's, or that of the last row with a new
    # token there.
    index = np.full(is_new.shape, -1, np.int64)
    index[is_new] = np.arange(starts[-1])
    np.maximum.accumulate(index, axis=0, out=index)
    # The subtree of a token ends at the first later row that does not share the token.
    leaves = np.full((len(rows) + 1, len(column)), starts[-1], np.int64)
    leaves[:-1][shared[:, None] <= column] = np.broadcast_to(starts[:-1, None], is_new.shape)[
        shared[:, None] <= column
    ]
    ends = np.minimum.accumulate(leaves[::-1], axis=0)[::-1][1:]
    return Pack(
        Tree(rows, shared),
        ids=rows.ids[ragged(rows.starts[:-1] + shared, lengths - shared)],
        depths=np.broadcast_to(column, is_new.shape)[is_new],
        ends=ends[is_new],
        reads=reads._replace(
            row=np.zeros_like(reads.row), position=index[reads.row, reads.position]
        ),
    )


_LONGER = 8
"""The least length of a block, as a multiple of the longest input of its first prompt."""

_FIRST = 256
"""The most tokens of the first block, so that a slow model soon shows progress."""


def cut_neighbours(costs: Ints, longest: Ints, tokens: int) -> list[tuple[int, int]]:
    """Cut sorted prompts into blocks of about so many tokens; return the bounds of each."""
    begins: list[int] = []
    size = limit = 0
    for at, (own, length) in enumerate(zip(costs.tolist(), longest.tolist(), strict=True)):
        if not begins or size + own > limit:
            begins.append(at)
            most = tokens if begins[1:] else min(_FIRST, tokens)
            size, limit = 0, max(most, _LONGER * length)
        size += own
    return list(pairwise([*begins, len(costs)]))
