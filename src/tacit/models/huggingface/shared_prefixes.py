"""Long beginnings that many inputs share, such as instructions with examples.

A pack holds all that its rows begin with, so a beginning that many packs share would be computed in
each of them. Where that is much, it is computed once and kept as keys and values.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.models.huggingface.prefix_tree import Ints, Rows

LEAST = 64
"""The shortest beginning that is kept, in tokens; of a full pack, a sixteenth."""


def kept_beginnings(ordered: Rows, length: int) -> Ints:
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
