"""Recheck, during a run, whether a server still serves the same model.

Once a minute, a server is checked with a few texts. Such a small check may not reveal a change
immediately. Therefore, the server is also rechecked with more texts, every ten minutes and at the
end of a run. If a recheck fails, the answers that were stored since the last successful recheck are
withdrawn from the store. No later run can then reuse them.
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
        model: The model that is queried. A model that does not implement ``Rechecks`` is not
            rechecked.
        store: The store in which the model's answers are published.
        seconds: Minimum time between two checks.
        clock: Returns the time in seconds.

    Yields:
        A function that the caller must call each time answers have been published.

    Raises:
        UnreliableError: If the model has changed. Answers that were published since the last
            successful check are withdrawn.
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
