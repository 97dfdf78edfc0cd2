"""Rechecks that a server's model has not changed during a run.

The few texts that are checked often may not reveal a change of the server at once. More texts are
therefore checked every ten minutes and at the end of the run. If a check fails, answers that were
stored since the last successful check are withdrawn from the store, so that no later run reuses
them.
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
    """Recheck a model periodically while it is queried, and at the end.

    Args:
        model: The model that is queried; ignored if it does not implement ``Rechecks``.
        store: The store to which its answers are published.
        seconds: Minimum time between two checks.
        clock: Returns the time in seconds.

    Yields:
        A function to call after each publication.

    Raises:
        UnreliableError: The model has changed; answers published since the last successful check
            are withdrawn.
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
