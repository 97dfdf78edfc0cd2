"""Recheck, during a run, whether a server still serves the model that it served at the start.

During a run, Tacit checks a server at most once a minute with a few texts. Checks with only a few
texts may not reveal a change of the model immediately. Every ten minutes and at the end of a run,
Tacit performs a recheck, which is more thorough than the checks in between. In a recheck, Tacit
repeats requests that the server answered in the preflight (before the run), and compares the
answers. If a recheck fails, the answers that were stored since the last successful recheck are
withdrawn from the store, so that no later run reuses these answers.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.errors import UnreliableError
from tacit.models.base import Rechecks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.engine.store import Store

SECONDS = 600.0


@contextmanager
def rechecking(
    model: object,
    store: Store,
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[], None]]:
    """Recheck a model at regular intervals during a ``with`` block, and once at its end.

    Args:
        model: The model that is queried. If the model does not implement the protocol ``Rechecks``,
            its answers are not rechecked.
        store: The store to which the model's answers are written.
        seconds: The minimum time between two rechecks, in seconds.
        clock: A function that returns the current time in seconds.

    Yields:
        A function that the caller must call each time answers have been stored.

    Raises:
        UnreliableError: If the answers of the model have changed. Answers that were stored since
            the last successful recheck are withdrawn from the store.
    """
    sound, checked = len(store.published), clock()

    def check() -> None:
        nonlocal sound, checked
        if isinstance(model, Rechecks) and len(store.published) > sound:
            model.recheck()
        sound, checked = len(store.published), clock()

    def published() -> None:
        if clock() - checked >= seconds:
            check()

    try:
        yield published
        check()
    except UnreliableError:
        store.withdraw(store.published[sound:])
        raise
