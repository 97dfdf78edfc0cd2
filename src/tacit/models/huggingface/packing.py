"""Packs: rows that contain several prompts' inputs but store each shared prefix once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.models.huggingface.logprobs import Reads
from tacit.models.huggingface.prefix_tree import Ints, Rows, starts_of

# Cut a pack where inputs share least, provided that this fraction of its length is filled.
_LATEST = 7 / 8


@dataclass(frozen=True, eq=False)
class Pack:
    """A part of a prefix tree of token sequences (rows), stored in depth-first order."""

    rows: Rows
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
        first = np.maximum.accumulate(np.where(self.depths == 0, index, 0))
        leaves = np.flatnonzero(self.ends == index + 1)  # one for each row, in their order
        return leaves - first[leaves]

    def again(self, length: int) -> list[Pack]:
        """Return ``[self]`` if the pack has at most ``length`` tokens, else shorter packs."""
        return [self] if len(self) <= length else packs_of(self.rows, length)


def packs_of(ordered: Rows, length: int) -> list[Pack]:
    """Group sorted rows into packs of at most ``length`` tokens; a longer row is one pack."""
    cuts = [0, *_cuts(ordered, length)]
    return [
        _pack(ordered.take(np.arange(begin, end)), ordered.shared[begin:end])
        for begin, end in pairwise(cuts)
    ]


def added_tokens(ordered: Rows, length: int) -> Ints:
    """Return how many tokens each row adds to its pack (a group of rows; see ``packs_of``)."""
    added = ordered.lengths - ordered.shared
    begins = [0, *_cuts(ordered, length)][:-1]
    added[begins] = ordered.lengths[begins]
    return added


def _cuts(ordered: Rows, length: int) -> list[int]:
    """Return, for each pack, the index after its last row."""
    lengths, shared = ordered.lengths, ordered.shared
    added = starts_of(lengths - shared)
    cuts: list[int] = []
    begin = 0
    while begin < len(ordered):
        # A pack that ends at row ``end`` has added[end] - before tokens, because the path of its
        # first row is computed again.
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
    """Pack sorted rows, given the length of each row's common prefix with the previous row."""
    lengths = rows.lengths
    shared = shared.copy()
    shared[0] = 0
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


_LONGER = 8
"""The least length of a block, as a multiple of the length of its first prompt."""

_FIRST = 256
"""The most tokens of the first block, so that a slow model soon shows progress."""

_STEP = 4096
"""The number of prompts whose tokens are counted in one call, which limits memory."""


def cut_neighbours(number: int, costs: Callable[[Ints], Ints], tokens: int) -> list[Ints]:
    """Cut sorted prompts into blocks of about so many tokens; return the indices of each."""
    parts = [np.arange(at, min(at + _STEP, number)) for at in range(0, number, _STEP)]
    blocks: list[list[int]] = []
    size = limit = 0
    for at, own in enumerate(np.concatenate([costs(part) for part in parts]).tolist()):
        if not blocks or size + own > limit:
            blocks.append([])
            most = tokens if blocks[1:] else min(_FIRST, tokens)
            size, limit = 0, max(most, _LONGER * int(costs(np.array([at])).sum()))
        blocks[-1].append(at)
        size += own
    return [np.array(block) for block in blocks]
