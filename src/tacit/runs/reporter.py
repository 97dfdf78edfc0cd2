"""Reporters of a run's progress: an interface, and an implementation that only logs warnings."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from tacit.runs.estimate import Cost

log = logging.getLogger("tacit")


class Work(Protocol):
    """Requests that are answered and stored together."""

    @property
    def ended(self) -> int:
        """The number of prompts that are now answered completely."""
        ...

    @property
    def tokens(self) -> int:
        """The number of processed tokens."""
        ...


class Planned(Protocol):
    """Requests to process, for any model."""

    @property
    def prompts(self) -> int:
        """The number of prompts."""
        ...

    @property
    def tokens(self) -> int:
        """The number of tokens to process."""
        ...

    @property
    def stored(self) -> int:
        """The number of other prompts whose answers are cached."""
        ...


class Reporter(Protocol):
    """Receives the progress of a run."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
        """Show a plan's progress; the context yields a function to call with stored work."""
        ...

    def warn(self, line: str) -> None:
        """Show a warning."""
        ...

    def note(self, line: str) -> None:
        """Show a fact that is no warning."""
        ...

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """Show the cost of querying servers, by address, and ask for confirmation.

        Raises:
            RequestError: The user declines, or cannot be asked.
        """
        ...


class Quiet:
    """Shows no progress; logs warnings to the logger ``tacit``."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
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
        """See ``Reporter.confirm``.

        Raises:
            RequestError: There is a cost and ``yes`` is False.
        """
        if yes or not costs:
            return
        name, cost = next(iter(costs.items()))
        raise RequestError(f"{name}: {cost.sentence}. Give yes=True to confirm this cost")
