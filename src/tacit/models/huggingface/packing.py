"""Token sequences (rows) as arrays, their prefix tree, and packs, which store a prefix once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

LEAST = 64
"""The minimum length of a cached prefix: 1/16 of a full pack of 1024 tokens."""

# Cut a pack where inputs share least, provided that this fraction of its length is filled.
_LATEST = 7 / 8


class Reads(NamedTuple):
    """Tokens to score, the row and the position that predict each, and the answer it is part of.

    In a pack, the position is the token's index, and the row is that of the pack in its batch.
    """

    row: Ints
    position: Ints
    token: Ints
    answer: Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of token ids, and the tokens to score in the sequences."""

    ids: Ints
    lengths: Ints
    reads: Reads

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], reads: Sequence[tuple[int, ...]] = ()) -> Rows:
        """Convert token sequences, and tuples in the order of the fields of ``Reads``."""
        lengths = np.array(list(map(len, rows)), np.int64)
        ids = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return cls(ids, lengths, Reads(*np.array(reads, np.int64).reshape(-1, 4).T))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, number: int) -> Ints:
        return self.ids[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def starts(self) -> Ints:
        """The index of each sequence's first token, and the end of the last sequence."""
        return starts_of(self.lengths)

    def take(self, numbers: Ints) -> Rows:
        """Return the sequences with the given indices, in the given order."""
        lengths = self.lengths[numbers]
        ids = self.ids[ragged(self.starts[numbers], lengths)]
        row_of = np.full(len(self), -1, np.int64)
        row_of[numbers] = np.arange(len(numbers))
        old = self.reads
        row = row_of[old.row]
        kept = row >= 0
        reads = Reads(row[kept], old.position[kept], old.token[kept], old.answer[kept])
        return Rows(ids, lengths, reads)


@dataclass(frozen=True, eq=False)
class Tree:
    """Sorted rows, none a prefix of another, and how many tokens each shares with those before.

    ``prefix`` is what all rows begin with, if it is computed before them and cached.
    """

    rows: Rows
    shared: Ints
    prefix: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: Rows) -> Tree:
        """Sort rows; a row that is equal to another, or a prefix of it, is merged into it."""
        own = rows.ids.astype(">i4").tobytes()
        keys = [own[begin:end] for begin, end in pairwise((rows.starts * 4).tolist())]
        by_key = sorted(range(len(keys)), key=keys.__getitem__)
        is_kept = np.ones(len(keys), bool)
        is_kept[:-1] = [not keys[after].startswith(keys[at]) for at, after in pairwise(by_key)]
        order, kept = np.array(by_key, np.int64), np.flatnonzero(is_kept)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        # A merged row is a prefix of the next one that remains.
        longer = order[kept[np.searchsorted(kept, rank[rows.reads.row])]]
        rows = replace(rows, reads=rows.reads._replace(row=longer)).take(order[kept])
        # Compare each token with the one at the same position in the row before.
        before = np.append(0, rows.lengths)[:-1]
        other = rows.ids[np.arange(len(rows.ids)) - np.repeat(before, rows.lengths)]
        differs = np.append(np.flatnonzero(rows.ids != other), len(rows.ids))
        starts = rows.starts[:-1]
        alike = differs[np.searchsorted(differs, starts)] - starts
        return cls(rows, np.minimum(alike, np.minimum(before, rows.lengths)))

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
                # Two rows share what each row behind the first, up to the second, shares.
                less = np.minimum.reduceat(shared[: own[-1] + 1], np.append(0, own[:-1] + 1))
                less[0] = 0
                trees.append(Tree(rows.take(own), less, tuple(rows[own[0]][:size].tolist())))
        return trees

    def cut(self, length: int) -> list[Tree]:
        """Cut the rows into packs of at most ``length`` tokens; a longer row is one pack.

        What the first row of a pack shares with another pack is computed again. The first pack has
        the cached prefix among its own tokens, so that it is counted once.
        """
        shared, kept = self.shared, len(self.prefix)
        added = starts_of(self.rows.lengths - shared)
        packs: list[Tree] = []
        begin = 0
        while begin < len(shared):
            # A pack that ends at row ``end`` has added[end] - before tokens.
            before = added[begin] - shared[begin] + kept
            end = int(np.searchsorted(added, before + length, side="right")) - 1
            end = max(end, begin + 1)
            late = max(int(np.searchsorted(added, before + length * _LATEST)), begin + 1)
            if late <= end < len(shared):
                end -= int(shared[late : end + 1][::-1].argmin())
            own = shared[begin:end].copy()
            own[0] = kept if packs else shared[0]
            packs.append(Tree(self.rows.take(np.arange(begin, end)), own, self.prefix))
            begin = end
        return packs


def starts_of(lengths: Ints) -> Ints:
    """Return the starts of consecutive segments of given lengths, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """Return the indices of all elements of several segments, one segment after another."""
    own = starts_of(lengths)
    return np.repeat(starts - own[:-1], lengths) + np.arange(own[-1])


@dataclass(frozen=True, eq=False)
class Pack:
    """The tokens of a prefix tree, except the cached ones, in depth-first order.

    A token is seen by the tokens behind it, up to its index in ``ends``. ``spans`` is, for each
    row, the distance in the pack between its first and its last token. ``sizes`` are the lengths
    of the pack, its longest row and its cached prefix, and the greatest span.
    """

    tree: Tree
    ids: Ints
    depths: Ints
    ends: Ints
    reads: Reads
    spans: Ints
    sizes: tuple[int, int, int, int]

    @classmethod
    def of(cls, tree: Tree) -> Pack:
        """Arrange the tokens of a tree that ``Tree.cut`` returned."""
        rows, shared, kept = tree.rows, tree.shared.copy(), len(tree.prefix)
        shared[0] = kept
        lengths, reads = rows.lengths, rows.reads
        starts = starts_of(lengths - shared)
        column = np.arange(int(lengths.max()))
        is_new = (column >= shared[:, None]) & (column < lengths[:, None])
        # Index of the token in each column of a row: a new token's, or that of the last row with a
        # new token there.
        index = np.full(is_new.shape, -1, np.int64)
        index[is_new] = np.arange(starts[-1])
        np.maximum.accumulate(index, axis=0, out=index)
        # The subtree of a token ends at the first later row that does not share the token.
        leaves = np.full((len(rows) + 1, len(column)), starts[-1], np.int64)
        leaves[:-1] = np.where(shared[:, None] <= column, starts[:-1, None], starts[-1])
        ends = np.minimum.accumulate(leaves[::-1], axis=0)[::-1][1:]
        spans = starts[1:] - 1 - index[:, kept]
        return cls(
            tree,
            ids=rows.ids[ragged(rows.starts[:-1] + shared, lengths - shared)],
            depths=np.broadcast_to(column, is_new.shape)[is_new],
            ends=ends[is_new],
            reads=reads._replace(
                row=np.zeros_like(reads.row), position=index[reads.row, reads.position]
            ),
            spans=spans,
            sizes=(int(starts[-1]), len(column), kept, int(spans.max())),
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
