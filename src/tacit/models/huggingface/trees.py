"""A prompt's inputs as a tree: what all answers share, and how each goes on."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tacit.models.huggingface.logprobs import Read, Row
from tacit.models.huggingface.prefix_tree import shared_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.huggingface.alignment import Tokens


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
