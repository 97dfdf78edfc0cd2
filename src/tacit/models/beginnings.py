"""Long beginnings that many inputs share, such as instructions with examples.

A pack holds all that its rows begin with, so a beginning that many packs share would be computed in
each of them. Where that is much, it is computed once and kept as keys and values.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tacit.models.packing import shared_length
from tacit.models.reading import Read, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST = 64
"""The shortest beginning that is kept, in tokens; of a full pack, a sixteenth."""


def kept_beginnings(rows: Sequence[Row], length: int) -> list[tuple[int, ...]]:
    """For each row, what is kept of it with others; empty where nothing is.

    What is kept is read off nowhere, and shared by rows that no single pack holds.

    Args:
        rows: In any order.
        length: The longest pack, in tokens.
    """
    kept: list[tuple[int, ...]] = [()] * len(rows)
    late = [number for number, row in enumerate(rows) if _first_read(row) >= LEAST]
    late.sort(key=lambda number: rows[number].ids)
    ordered = [rows[number] for number in late]
    shared = [0, *(shared_length(a.ids, b.ids) for a, b in pairwise(ordered))]
    for part in _parts(ordered, shared, range(len(ordered)), length):
        least = min((shared[at] for at in part[1:]), default=0)
        size = min(least, *(_first_read(ordered[at]) for at in part))
        if size >= LEAST and _tokens(ordered, shared, part) > length:
            for at in part:
                kept[late[at]] = ordered[at].ids[:size]
    return kept


def behind(row: Row, size: int) -> Row:
    """What follows a row's first tokens, and what is read there."""
    reads = [Read(read.position - size, read.token, read.answer) for read in row.reads]
    return Row(row.ids[size:], reads)


def _first_read(row: Row) -> int:
    return min(read.position for read in row.reads)


def _parts(
    ordered: Sequence[Row], shared: Sequence[int], part: range, length: int
) -> Iterator[range]:
    """Rows in order, divided where they share least, as long as no pack holds a part's."""
    if not part:
        return
    least = min((shared[at] for at in part[1:]), default=0)
    cuts = [part.start, *(at for at in part[1:] if shared[at] == least), part.stop]
    parts = [range(begin, end) for begin, end in pairwise(cuts)]
    if len(parts) > 1 and (
        least < LEAST or all(_tokens(ordered, shared, one) > length for one in parts)
    ):
        for one in parts:
            yield from _parts(ordered, shared, one, length)
    else:
        yield part


def _tokens(ordered: Sequence[Row], shared: Sequence[int], part: range) -> int:
    """The tokens of some rows' prefix tree."""
    return shared[part.start] + sum(len(ordered[at].ids) - shared[at] for at in part)
