"""A reporter receives a run's progress, warnings and costs; this one writes only a log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.engine.ask import Plan
    from tacit.requests.kind import Part
    from tacit.runs.estimate import Cost

log = logging.getLogger("tacit")


class Reporter:
    """Logs warnings to the logger ``tacit``, and shows no progress."""

    def asking(self, plan: Plan) -> AbstractContextManager[Callable[[Part], None]]:
        """Show progress; the context manager yields a function to call when answers are stored."""
        del plan
        return nullcontext(lambda _: None)

    def warn(self, line: str) -> None:
        log.warning("%s", line)

    def note(self, line: str) -> None:
        """Log a message that is not a warning."""
        log.info("%s", line)

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """Refuse the cost of querying servers unless it is confirmed."""
        if yes or not costs:
            return
        name, cost = next(iter(costs.items()))
        raise RequestError(f"{name}: {cost.sentence}. Give yes=True to confirm this cost")


@contextmanager
def resumable(kept: Callable[[], str] | str = "all answers so far are stored") -> Iterator[None]:
    """If the work in a ``with`` block is interrupted, let the exception say what is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        if not error.args:
            kept = kept if isinstance(kept, str) else kept()
            error.args = (f"{kept}; run the same command again to resume",)
        raise
