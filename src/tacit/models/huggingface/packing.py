"""Packs: rows that contain several prompts' inputs but store each shared prefix once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.models.huggingface.prefix_tree import Ints, Reads, Tree, ragged, starts_of

# Cut a pack where inputs share least, provided that this fraction of its length is filled.
_LATEST = 7 / 8


@dataclass(frozen=True, eq=False)
class Pack:
    """A part of a prefix tree of token sequences (rows), stored in depth-first order."""

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
    return [_pack(tree.part(begin, end)) for begin, end in pairwise(_cuts(tree, length))]


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


def _pack(tree: Tree) -> Pack:
    rows, shared, reads = tree.rows, tree.shared, tree.rows.reads
    lengths = rows.lengths
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
        tree,
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


def cut_neighbours(costs: Ints, longest: Ints, tokens: int) -> list[Ints]:
    """Cut sorted prompts into blocks of about so many tokens; return the indices of each."""
    begins: list[int] = []
    size = limit = 0
    for at, (own, length) in enumerate(zip(costs.tolist(), longest.tolist(), strict=True)):
        if not begins or size + own > limit:
            begins.append(at)
            most = tokens if begins[1:] else min(_FIRST, tokens)
            size, limit = 0, max(most, _LONGER * length)
        size += own
    return [np.arange(begin, end) for begin, end in pairwise([*begins, len(costs)])]
