"""An interface for reporting a run's progress, and a reporter that writes only a log."""

from __future__ import annotations

import logging
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from tacit.engine.plan import Part, Plan
    from tacit.runs.estimate import Cost

log = logging.getLogger("tacit")


class Reporter(Protocol):
    """An object that receives the progress, warnings and costs of a run."""

    def asking(self, plan: Plan) -> AbstractContextManager[Callable[[Part], None]]:
        """Show progress; the context manager yields a function to call when answers are stored."""
        ...

    def warn(self, line: str) -> None:
        """Show a warning."""
        ...

    def note(self, line: str) -> None:
        """Show a message that is not a warning."""
        ...

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """Show the cost of querying each server, and ask the user for confirmation."""
        ...


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


class Quiet:
    """A reporter that shows no progress and logs warnings to the logger ``tacit``."""

    def asking(self, plan: Plan) -> AbstractContextManager[Callable[[Part], None]]:
        """See ``Reporter.asking``."""
        del plan
        return nullcontext(lambda _: None)

    def warn(self, line: str) -> None:
        """See ``Reporter.warn``."""
        log.warning("%s", line)

    def note(self, line: str) -> None:
        """See ``Reporter.note``."""
        log.info("%s", line)

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """See ``Reporter.confirm``."""
        if yes or not costs:
            return
        name, cost = next(iter(costs.items()))
        raise RequestError(f"{name}: {cost.sentence}. Give yes=True to confirm this cost")
