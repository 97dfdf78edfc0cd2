"""How much is asked between two writes to the store, where it may be any part of a block."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PERIOD = 60.0
"""Seconds: who is killed loses what was answered in about half of them."""

_GROWTH = 4
"""By how much a part may be larger than the one before, whose time may have been an exception."""

Item = TypeVar("Item")


@dataclass
class Pace:
    """Parts whose answers come in half a period, by the time that the part before them took.

    It is for models behind a server: what these answer does not depend on what they are asked
    beside it. A model in this process computes whole blocks, so that the same run gives the same.

    Args:
        least: How many items are under way at once; no part but a block's last has fewer, so that
            a server that takes longer than half a period for one is asked as many at once.
        period: In seconds.
        clock: Tells seconds.
    """

    least: int
    period: float = PERIOD
    clock: Callable[[], float] = time.monotonic
    _size: int = field(init=False)

    def __post_init__(self) -> None:
        self._size = self.least

    def parts(self, items: Sequence[Item]) -> Iterator[Sequence[Item]]:
        """The items in parts; each is answered and stored before the next one is taken."""
        at = 0
        while at < len(items):
            part = items[at : at + self._size]
            begun = self.clock()
            yield part
            self._learn(len(part), self.clock() - begun)
            at += len(part)

    def _learn(self, items: int, seconds: float) -> None:
        most = max(self._size, items * _GROWTH)
        fitting = most if seconds <= 0 else int(items * self.period / 2 / seconds)
        self._size = max(self.least, min(fitting, most))
