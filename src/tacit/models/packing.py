"""Many prompts' inputs as one row: what they begin with alike stands in it once.

The inputs, in order, are walked as a prefix tree, depth first: each token stands behind those that
it follows in every input that it is part of, and sees these alone. A pack is as much of the tree as
fits a row; where the tree is cut, the path to the cut is computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from operator import eq
from typing import TYPE_CHECKING

from tacit.models.reading import Read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.reading import Row

# Of a pack: the cut is made where inputs share least, if a pack need not be shorter than this.
_LATEST = 7 / 8


@dataclass(frozen=True, slots=True)
class Pack:
    """A piece of the prefix tree of many rows.

    Args:
        rows: The rows that it is made of, in order.
        ids: The tokens, each behind the one that it follows.
        depths: How many tokens each one follows in its own rows, which is its position there.
        ends: Index behind the last token that has this one before it; a token sees itself and
            those before it whose ``ends`` lie behind it.
        reads: What is read off; the position is an index in the pack.
    """

    rows: tuple[Row, ...]
    ids: tuple[int, ...]
    depths: tuple[int, ...]
    ends: tuple[int, ...]
    reads: tuple[Read, ...]

    def again(self, length: int) -> list[Pack]:
        """The same rows in packs of another length; itself where it is no longer."""
        return [self] if len(self.ids) <= length else packs_of(self.rows, length)


def packs_of(rows: Sequence[Row], length: int) -> list[Pack]:
    """All rows in packs of at most so many tokens; a row that is longer has a pack of its own."""
    ordered = sorted(rows, key=lambda row: row.ids)
    packs = []
    begin = 0
    for end in _cuts(ordered, length):
        packs.append(_pack(ordered[begin:end]))
        begin = end
    return packs


def added_tokens(rows: Sequence[Row], length: int) -> list[int]:
    """How many tokens each row adds to the packs that ``packs_of`` makes, in the rows' order."""
    order = sorted(range(len(rows)), key=lambda number: rows[number].ids)
    ordered = [rows[number] for number in order]
    begins = {0, *_cuts(ordered, length)}
    added = [0] * len(rows)
    before: tuple[int, ...] = ()
    for at, number in enumerate(order):
        ids = rows[number].ids
        added[number] = len(ids) - (0 if at in begins else shared_length(before, ids))
        before = ids
    return added


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """With how many tokens two sequences begin alike."""
    alike = list(map(eq, one, other))
    return alike.index(False) if False in alike else len(alike)


def _cuts(ordered: Sequence[Row], length: int) -> list[int]:
    """Behind which rows, counted, the packs end."""
    shared = [0, *(shared_length(a.ids, b.ids) for a, b in pairwise(ordered))]
    cuts: list[int] = []
    begin = 0
    while begin < len(ordered):
        sizes = _sizes(ordered, shared, begin, length)
        end = begin + len(sizes)
        if end < len(ordered):
            late = [n for n, size in enumerate(sizes, begin + 1) if size >= length * _LATEST]
            end = min(reversed(late), key=lambda at: shared[at], default=end)
        cuts.append(end)
        begin = end
    return cuts


def _sizes(ordered: Sequence[Row], shared: Sequence[int], begin: int, length: int) -> list[int]:
    """The pack's tokens with one row, with two, … as far as it fits: with one at least."""
    sizes: list[int] = []
    size = 0
    for number in range(begin, len(ordered)):
        size += len(ordered[number].ids) - (shared[number] if sizes else 0)
        if sizes and size > length:
            break
        sizes.append(size)
    return sizes


def _pack(ordered: Sequence[Row]) -> Pack:
    ids: list[int] = []
    depths: list[int] = []
    ends: list[int] = []
    reads: list[Read] = []
    path: list[int] = []
    before: tuple[int, ...] = ()
    for row in ordered:
        shared = shared_length(before, row.ids)
        for index in path[shared:]:
            ends[index] = len(ids)
        path[shared:] = range(len(ids), len(ids) + len(row.ids) - shared)
        ids += row.ids[shared:]
        depths += range(shared, len(row.ids))
        ends += [0] * (len(row.ids) - shared)
        reads += [Read(path[read.position], read.token, read.answer) for read in row.reads]
        before = row.ids
    for index in path:
        ends[index] = len(ids)
    return Pack(tuple(ordered), tuple(ids), tuple(depths), tuple(ends), tuple(reads))
