"""Many prompts' inputs as one row: what they begin with alike stands in it once.

The inputs, in order, are walked as a prefix tree, depth first: each token stands behind those that
it follows in every input that it is part of, and sees these alone. A pack is as much of the tree as
fits a row; where the tree is cut, the path to the cut is computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tacit.models.huggingface.logprobs import Reads
from tacit.models.huggingface.prefix_tree import Rows, starts_of

if TYPE_CHECKING:
    from tacit.models.huggingface.prefix_tree import Ints

# Of a pack: the cut is made where inputs share least, if a pack need not be shorter than this.
_LATEST = 7 / 8


@dataclass(frozen=True, eq=False)
class Pack:
    """A piece of the prefix tree of many rows.

    Args:
        rows: The rows that it is made of, in order.
        ids: The tokens, each behind the one that it follows.
        depths: How many tokens each one follows in its own rows, which is its position there.
        ends: Index behind the last token that has this one before it; a token sees itself and
            those before it whose ``ends`` lie behind it.
        reads: What is read off; the position is an index in the pack, the row 0.
    """

    rows: Rows
    ids: Ints
    depths: Ints
    ends: Ints
    reads: Reads

    def __len__(self) -> int:
        return len(self.ids)

    def again(self, length: int) -> list[Pack]:
        """The same rows in packs of another length; itself where it is no longer."""
        return [self] if len(self) <= length else packs_of(self.rows, length)


def packs_of(ordered: Rows, length: int) -> list[Pack]:
    """Rows, in order, in packs of at most so many tokens; a longer row has a pack of its own."""
    cuts = [0, *_cuts(ordered, length)]
    return [
        _pack(ordered.take(np.arange(begin, end)), ordered.shared[begin:end])
        for begin, end in pairwise(cuts)
    ]


def added_tokens(ordered: Rows, length: int) -> Ints:
    """How many tokens each row, in order, adds to the packs that ``packs_of`` makes."""
    added = ordered.lengths - ordered.shared
    begins = [0, *_cuts(ordered, length)][:-1]
    added[begins] = ordered.lengths[begins]
    return added


def _cuts(ordered: Rows, length: int) -> list[int]:
    """Behind which rows, counted, the packs end."""
    lengths, shared = ordered.lengths, ordered.shared
    added = starts_of(lengths - shared)
    cuts: list[int] = []
    begin = 0
    while begin < len(ordered):
        # The pack's tokens with so many rows: its first row's path is computed again.
        before = added[begin] - shared[begin]
        end = int(np.searchsorted(added, before + length, side="right")) - 1
        end = max(end, begin + 1)
        if end < len(ordered):
            late = int(np.searchsorted(added, before + length * _LATEST))
            late = max(late, begin + 1)
            if late <= end:
                least = shared[late : end + 1][::-1]
                end -= int(least.argmin())
        cuts.append(end)
        begin = end
    return cuts


def _pack(rows: Rows, shared: Ints) -> Pack:
    """The pack of some rows in order, given what each shares with the one before it."""
    lengths = rows.lengths
    shared = shared.copy()
    shared[0] = 0
    starts = starts_of(lengths - shared)
    column = np.arange(int(lengths.max()))
    is_new = (column >= shared[:, None]) & (column < lengths[:, None])
    # The token that stands at a column of a row: its own, or that of the last row that had its own.
    index = np.full(is_new.shape, -1, np.int64)
    index[is_new] = np.arange(starts[-1])
    np.maximum.accumulate(index, axis=0, out=index)
    # A token's path ends with the first later row that does not share it.
    leaves = np.full((len(rows) + 1, len(column)), starts[-1], np.int64)
    leaves[:-1][shared[:, None] <= column] = np.broadcast_to(starts[:-1, None], is_new.shape)[
        shared[:, None] <= column
    ]
    ends = np.minimum.accumulate(leaves[::-1], axis=0)[::-1][1:]
    reads = rows.reads
    return Pack(
        rows,
        ids=rows.table(0, len(rows))[is_new],
        depths=np.broadcast_to(column, is_new.shape)[is_new],
        ends=ends[is_new],
        reads=Reads(
            np.zeros_like(reads.row), index[reads.row, reads.position], reads.token, reads.answer
        ),
    )
