"""Rechecks that a server's model has not changed during a run.

Once a minute, a server is checked with a few texts only, which may not reveal a change immediately.
Every ten minutes and at the end of a run, the server is therefore rechecked with more texts. If a
recheck fails, answers that were stored since the last successful recheck are withdrawn from the
store, so that no later run reuses them.
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
    """Recheck a model periodically while the model is queried, and once at the end.

    Args:
        model: The model that is queried; a model that does not implement ``Rechecks`` is not
            rechecked.
        store: The store to which the model's answers are published.
        seconds: Minimum time between two checks.
        clock: Returns the time in seconds.

    Yields:
        A function to call after each publication of answers.

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
