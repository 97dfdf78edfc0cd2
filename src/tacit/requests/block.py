"""Blocks: requests whose answers are computed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A group of requests whose answers were stored together."""

    requests: tuple[Any, ...]
    tokens: int
    ended: int


@dataclass(frozen=True, slots=True)
class Block:
    """Requests of one class whose answers are computed together.

    ``inputs`` is what a model encoded when it cut the block; it stays in this process.
    """

    requests: tuple[Any, ...]
    tokens: int
    inputs: Any = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Block], tuple[tuple[Any, ...], int]]:
        return Block, (self.requests, self.tokens)

    @property
    def of(self) -> type:
        """The class of the requests."""
        return type(self.requests[0])

    @property
    def whole(self) -> Part:
        """The ``Part`` that contains all requests of this block."""
        return Part(self.requests, self.tokens, len(self.requests))

    @property
    def shares(self) -> list[int]:
        """The block's number of tokens, divided evenly among the requests of the block."""
        number = len(self.requests)
        ends = [self.tokens * at // number for at in range(number + 1)]
        return [end - begin for begin, end in pairwise(ends)]
