"""Sorted token sequences, with the length of the prefix that adjacent sequences share."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.models.huggingface.logprobs import Read, Reads, Row

if TYPE_CHECKING:
    from tacit.models.huggingface.alignment import Tokens


Ints: TypeAlias = "NDArray[np.int64]"

_CELLS = 2**22
"""The maximum number of tokens, including padding, in one comparison of sequences."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of token ids, and the tokens to score in the sequences."""

    ids: Ints
    starts: Ints
    reads: Reads

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Rows:
        """Convert ``Row`` objects to one ``Rows`` object."""
        lengths = [len(row.ids) for row in rows]
        ids = [token for row in rows for token in row.ids]
        return cls(np.array(ids, np.int64), starts_of(np.array(lengths, np.int64)), Reads.of(rows))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The number of tokens in each sequence."""
        return np.diff(self.starts)

    def row(self, number: int) -> tuple[int, ...]:
        """Return the token ids of the sequence with the given index."""
        return tuple(self.ids[self.starts[number] : self.starts[number + 1]].tolist())

    def take(self, numbers: Ints) -> Rows:
        """Return the sequences with the given indices, in the given order."""
        lengths = self.lengths[numbers]
        ids = self.ids[ragged(self.starts[:-1][numbers], lengths)]
        return Rows(ids, starts_of(lengths), self.reads.of_rows(numbers, len(self)))

    def behind(self, size: int) -> Rows:
        """Return each row without its first ``size`` tokens."""
        lengths = self.lengths - size
        ids = self.ids[ragged(self.starts[:-1] + size, lengths)]
        reads = self.reads
        return Rows(
            ids,
            starts_of(lengths),
            Reads(reads.row, reads.position - size, reads.token, reads.answer),
        )

    def ordered(self) -> Rows:
        """Return sorted sequences; a sequence that is a prefix of another is merged into it."""
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
        # A merged sequence is a prefix of the next one that remains.
        longer = kept[np.searchsorted(kept, rows.reads.row)]
        reads = rows.reads
        return Rows(
            rows.ids, rows.starts, Reads(longer, reads.position, reads.token, reads.answer)
        ).take(kept)

    @cached_property
    def shared(self) -> Ints:
        """The length of the prefix that each sequence shares with the previous sequence."""
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
        """Return a range of sequences as a table of tokens, padded with -1."""
        lengths = self.lengths[begin:end]
        width = int(lengths.max(initial=0))
        table = np.full((end - begin, width), -1, np.int64)
        table[np.arange(width) < lengths[:, None]] = self.ids[self.starts[begin] : self.starts[end]]
        return table


def starts_of(lengths: Ints) -> Ints:
    """Return the starts of consecutive segments of given lengths, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """Return the indices of all elements of several segments, one segment after another."""
    own = starts_of(lengths)
    return np.repeat(starts - own[:-1], lengths) + np.arange(own[-1])


def rows_of(first: int, answers: Sequence[Tokens]) -> tuple[Row, ...]:
    """Return the distinct inputs of a prompt's answers, which are numbered from ``first``."""
    inputs = sorted({answer.ids[:-1] for answer in answers})
    # In sorted order, a prefix comes directly before the sequences that begin with it, and is part
    # of them.
    kept = [one for one, following in pairwise([*inputs, ()]) if following[: len(one)] != one]
    rows = tuple(Row(ids) for ids in kept)
    for number, answer in enumerate(answers):
        needed = answer.ids[:-1]
        # The first sequence that sorts at or after it starts with it.
        rows[bisect_left(kept, needed)].reads.extend(
            Read(at - 1, answer.ids[at], first + number) for at in range(answer.begin, answer.end)
        )
    return rows


LEAST = 64
"""The minimum length of a cached prefix: 1/16 of a full pack of 1024 tokens."""


def prefix_lengths(ordered: Rows, length: int) -> Ints:
    """Return, for each row, the length of the prefix to cache, or 0 to cache no prefix."""
    kept = np.zeros(len(ordered), np.int64)
    first = np.full(len(ordered), np.iinfo(np.int64).max)
    np.minimum.at(first, ordered.reads.row, ordered.reads.position)
    late = np.flatnonzero(first >= LEAST)
    if not late.size:
        return kept
    rows, reads = ordered.take(late), first[late].tolist()
    lengths, shared = rows.lengths.tolist(), rows.shared.tolist()
    for part in _parts(lengths, shared, range(len(rows)), length):
        least = min((shared[at] for at in part[1:]), default=0)
        size = min(least, *(reads[at] for at in part))
        if size >= LEAST and _tokens(lengths, shared, part) > length:
            kept[late[part.start : part.stop]] = size
    return kept


def _parts(
    lengths: Sequence[int], shared: Sequence[int], part: range, length: int
) -> Iterator[range]:
    """Split the sorted rows wherever adjacent rows share the fewest tokens."""
    if not part:
        return
    least = min((shared[at] for at in part[1:]), default=0)
    cuts = [part.start, *(at for at in part[1:] if shared[at] == least), part.stop]
    parts = [range(begin, end) for begin, end in pairwise(cuts)]
    if len(parts) > 1 and (
        least < LEAST or all(_tokens(lengths, shared, one) > length for one in parts)
    ):
        for one in parts:
            yield from _parts(lengths, shared, one, length)
    else:
        yield part


def _tokens(lengths: Sequence[int], shared: Sequence[int], part: range) -> int:
    """Return the number of tokens in the prefix tree of the given rows."""
    return shared[part.start] + sum(lengths[at] - shared[at] for at in part)
