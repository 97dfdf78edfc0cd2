"""Handling of Ctrl-C: the first one stops the work cleanly, a second one exits at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The conventional exit code after an interrupt."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Exit immediately on a second Ctrl-C, even if the first has not yet stopped the work.

    Output files stay complete, because each file is written under a temporary name and then
    renamed.
    """
    ours = threading.current_thread() is threading.main_thread()
    # Leave another library's handler in place.
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _first)
    try:
        yield
    finally:
        # After an interrupt, keep the handler, so that Ctrl-C also stops the waiting at exit.
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _first(_: int, __: object) -> None:
    signal.signal(signal.SIGINT, _second)
    raise KeyboardInterrupt


def _second(_: int, __: object) -> None:
    os.write(2, b"tacit: interrupted again\n")
    os._exit(INTERRUPTED)
