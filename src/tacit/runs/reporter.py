"""Reports the progress of a run: to a person at a terminal, or to a program's log."""

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
    """What is asked and stored together."""

    @property
    def ended(self) -> int:
        """How many prompts are answered with it."""
        ...

    @property
    def tokens(self) -> int:
        """How much work it is."""
        ...


class Planned(Protocol):
    """What is still to be asked, of any model."""

    @property
    def prompts(self) -> int:
        """How many prompts there are."""
        ...

    @property
    def tokens(self) -> int:
        """How much work they are."""
        ...


class Reporter(Protocol):
    """Is told how a run gets on."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
        """Shows how far a plan is; what it gives is called with all that is stored."""
        ...

    def warn(self, line: str) -> None:
        """Shows what a person should know."""
        ...

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """Shows what asking servers costs, by their addresses, and asks whether it is meant.

        Raises:
            RequestError: It is not meant, or nobody can be asked.
        """
        ...


class Quiet:
    """Shows no progress; logs warnings as ``tacit``'s."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
        """See ``Reporter.asking``."""
        del plan
        return nullcontext(lambda _: None)

    def warn(self, line: str) -> None:
        """See ``Reporter.warn``."""
        log.warning("%s", line)

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """See ``Reporter.confirm``.

        Raises:
            RequestError: ``yes`` is not given.
        """
        if yes or not costs:
            return
        name, cost = next(iter(costs.items()))
        raise RequestError(f"{name}: {cost.sentence}. Give yes=True to confirm this cost")
