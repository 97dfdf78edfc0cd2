"""Makes sure, while a server's model is asked, that it is still the model that it was.

A server may change in ways that a few texts now and then do not show at once. So more of them are
asked again every ten minutes and at the end; where they fail, what was stored since they last
passed is withdrawn from the store, so that no later run takes it for the model's.
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
    """Checks a model now and then while it is asked, and at the end.

    Args:
        model: Who is asked; one that does not change is left alone.
        store: Where its answers are published meanwhile.
        seconds: How long after a check the next one is due.
        clock: The time in seconds.

    Yields:
        What is called after each publication.

    Raises:
        UnreliableError: It no longer answers as it did; what was published since the last check is
            withdrawn.
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
