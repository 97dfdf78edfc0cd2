"""How long to wait before a server that failed is asked again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Backoff:
    """Waits that double, each cut short by chance so that many who failed do not return together.

    Args:
        attempts: How often the same is asked at most.
        first: The longest first wait, in seconds.
        most: The longest wait of all, in seconds, also where the server asks for a longer one.
        sleep: Waits so many seconds.
        draw: A number from 0 to 1.
    """

    attempts: int = 8
    first: float = 0.5
    most: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random

    def wait(self, failures: int, asked: float | None = None) -> None:
        """Waits after a failure.

        Args:
            failures: How often it has failed so far, at least once.
            asked: How many seconds the server asked to be left alone for.
        """
        longest = min(self.most, self.first * 2.0 ** (failures - 1))
        seconds = longest * (0.5 + self.draw() / 2)
        self.sleep(max(seconds, min(asked or 0.0, self.most)))
