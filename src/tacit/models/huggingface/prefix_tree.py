"""Sequences of tokens in arrays, in order, with what each shares with the one before it.

In order, sequences are a prefix tree that is walked depth first: what one shares with the one
before it is a path that is already there, and the rest is new. A sequence that begins another one
is part of it, and what is read off it is read off the longer one.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import eq
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.models.huggingface.logprobs import Read, Reads, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.models.huggingface.alignment import Tokens


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


@dataclass(frozen=True, slots=True)
class Tree:
    """A prompt's distinct inputs.

    Args:
        trunk: The tokens that all of them begin with.
        rows: The inputs, whole; one that another begins with is not there twice.
    """

    trunk: tuple[int, ...]
    rows: tuple[Row, ...]

    @property
    def branches(self) -> bool:
        """Whether several rows go on from a trunk."""
        return len(self.rows) > 1 and bool(self.trunk)

    @property
    def tokens(self) -> int:
        """The tokens to compute when the trunk is computed once."""
        return len(self.trunk) + sum(len(row.ids) - len(self.trunk) for row in self.rows)

    @property
    def row_tokens(self) -> int:
        """The tokens to compute when every row is computed whole."""
        return sum(len(row.ids) for row in self.rows)


def tree_of(first: int, answers: Sequence[Tokens]) -> Tree:
    """The fewest rows that hold every answer's input, with what is read off them.

    Args:
        first: The number of the first answer among all.
        answers: The inputs.
    """
    inputs = sorted({answer.ids[:-1] for answer in answers})
    # Sorted, a sequence stands right before those that begin with it, and these hold it.
    kept = [one for one, following in pairwise([*inputs, ()]) if following[: len(one)] != one]
    rows = tuple(Row(ids) for ids in kept)
    for number, answer in enumerate(answers):
        needed = answer.ids[:-1]
        # The first that stands not before it begins with it.
        rows[bisect_left(kept, needed)].reads.extend(
            Read(at - 1, answer.ids[at], first + number) for at in range(answer.begin, answer.end)
        )
    return Tree(_shared(kept[0], kept[-1]), rows)


def _shared(first: tuple[int, ...], last: tuple[int, ...]) -> tuple[int, ...]:
    """What two sequences begin with alike; of sorted ones, the first and last share what all do."""
    return first if first is last else first[: shared_length(first, last)]


LEAST = 64
"""The shortest beginning that is kept, in tokens; of a full pack, a sixteenth."""


def prefix_lengths(ordered: Rows, length: int) -> Ints:
    """For each row, how many of its first tokens are kept with others'; 0 where nothing is.

    What is kept is read off nowhere, and shared by rows that no single pack holds.

    Args:
        ordered: The rows, in order.
        length: The longest pack, in tokens.
    """
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
    """Rows in order, divided where they share least, as long as no pack holds a part's."""
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
    """The tokens of some rows' prefix tree."""
    return shared[part.start] + sum(lengths[at] - shared[at] for at in part)
