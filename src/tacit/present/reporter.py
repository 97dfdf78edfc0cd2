"""How a run gets on, on a terminal: progress and warnings on standard error."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import typer

from tacit.errors import RequestError
from tacit.present import progress
from tacit.runs.reporter import Quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from tacit.runs.cost import Cost
    from tacit.runs.reporter import Planned, Work


class Progress(Quiet):
    """Shows progress and warnings on standard error; asks nobody anything."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
        """See ``Reporter.asking``."""
        return progress.asking(plan)

    def warn(self, line: str) -> None:
        """See ``Reporter.warn``."""
        sys.stderr.write(f"tacit: {line}\n")


class Terminal(Progress):
    """Shows progress and warnings on standard error, and asks whether a cost is meant.

    The libraries' own progress bars and advice are not shown.
    """

    def __init__(self) -> None:
        show_warnings()
        silence_libraries()

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """See ``Reporter.confirm``.

        Raises:
            RequestError: Nobody is there to be asked, or it is not meant.
        """
        for name, cost in costs.items():
            self.warn(f"{name}: {cost.sentence}")
        if yes or not costs:
            return
        if not sys.stdin.isatty():
            raise RequestError(
                "nobody is at the terminal to confirm this cost: give --yes to confirm it"
            )
        if not typer.confirm("Ask?", err=True):
            raise RequestError("nothing was asked")


def show_warnings() -> None:
    """Shows Tacit's log of warnings on standard error."""
    logging.basicConfig(format="tacit: %(message)s", level=logging.WARNING)


def silence_libraries() -> None:
    """Silences the advice and the progress bars of transformers, where it is installed.

    What huggingface_hub reports of its own is shown once, by its own handler.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger("huggingface_hub").propagate = False
    if "transformers" in sys.modules:
        _silence_transformers()
    else:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def _silence_transformers() -> None:
    from transformers.utils import logging as advice

    advice.set_verbosity_error()
    advice.disable_progress_bar()
