"""Ctrl-C: the first one ends the work in order, the second one at once."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERRUPTED = 130
"""The exit code, as of any program that a person interrupts."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Lets a second Ctrl-C within leave at once, whatever the first one is still waiting for.

    Files are published by rename, so that they are whole then too.
    """
    ours = threading.current_thread() is threading.main_thread()
    # Whoever has a handler of their own keeps it.
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _first)
    try:
        yield
    finally:
        # Once interrupted, what Python still waits for at its end can be left at once as well.
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _first(_: int, __: object) -> None:
    signal.signal(signal.SIGINT, _second)
    raise KeyboardInterrupt


def _second(_: int, __: object) -> None:
    os.write(2, b"tacit: interrupted again\n")
    os._exit(INTERRUPTED)
