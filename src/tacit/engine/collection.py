"""Keeps Python's garbage collector from going through hundreds of thousands of requests again.

Requests and answers hold no cycles, so there is nothing to find among them, and looking takes up to
half of the host's time.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Turns the collector off; for work that ends soon, and makes many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def frozen() -> Iterator[None]:
    """Leaves what is there alone; what is made meanwhile is collected as ever."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
