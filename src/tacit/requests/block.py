"""Blocks: requests whose answers are computed together."""

from __future__ import annotations

from dataclasses import dataclass, field
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
