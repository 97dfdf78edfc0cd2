"""Show a run's progress on standard error, as a bar or as at most one line per minute."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from tacit.english import several
from tacit.errors import RequestError
from tacit.present.terminal import beneath
from tacit.requests.kind import Part
from tacit.runs.reporter import Reporter

if TYPE_CHECKING:
    from tacit.engine.ask import Plan
    from tacit.runs.estimate import Cost


_IMPORTED = ("torchao", "torch.utils._pytree")
"""Loggers that warn because transformers imports torchao, whether a model needs it or not."""

PERIOD = 60.0
"""The minimum number of seconds between two progress lines."""


@dataclass
class Lines:
    """A writer of progress lines to standard error, with at most one line per ``period``."""

    total: int
    period: float = PERIOD
    clock: Callable[[], float] = time.monotonic
    _begun: float = field(init=False)
    _told: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self._told = self.clock()

    def report(self, done: int, line: Callable[[float], str]) -> None:
        """Write a progress line if ``period`` seconds have passed since the previous line."""
        now = self.clock()
        if now - self._told < self.period or done <= 0:
            return
        self._told = now
        seconds = now - self._begun
        left = duration(seconds * (self.total - done) / done)
        sys.stderr.write(f"tacit: {line(seconds)}, about {left} left\n")
        sys.stderr.flush()


@contextmanager
def asking(plan: Plan) -> Iterator[Callable[[Part], None]]:
    """Show how many answers are cached, and a run's progress as other answers are stored."""
    stored, total = plan.stored, plan.stored + plan.prompts
    if stored:
        sys.stderr.write(f"tacit: {stored:,} of {several(total, 'answer')} cached and reused\n")
    if not plan.prompts:
        yield lambda _: None
        return
    prompts = tokens = 0  # tokens determine the time

    def text(seconds: float) -> str:
        rate = f", {prompts / seconds:,.1f} prompts/s" if seconds > 0 else ""
        return f"answered {prompts:,} of {plan.prompts:,} prompts{rate}"

    with _bar(plan.tokens) as show:

        def advance(part: Part) -> None:
            nonlocal prompts, tokens
            prompts, tokens = prompts + part.ended, tokens + part.tokens
            show(tokens, text)

        yield advance


@contextmanager
def reading(size: int, verb: str = "read") -> Iterator[Callable[[int], None]]:
    """Show how many of ``size`` bytes have been read or otherwise dealt with."""
    from rich.filesize import decimal

    with _bar(size) as show:
        yield lambda done: show(done, lambda _: f"{verb} {decimal(done)} of {decimal(size)}")


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int, Callable[[float], str]], None]]:
    """Yield a function that shows how much is done, with a text for the seconds since the start."""
    if not sys.stderr.isatty():
        yield Lines(total).report
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=beneath(sys.stderr))
    if console.is_dumb_terminal:
        yield Lines(total).report
        return

    text, left = TextColumn("{task.description}", markup=False), TextColumn("left")
    begun = time.monotonic()
    with Progress(text, BarColumn(), TimeRemainingColumn(), left, console=console) as progress:
        task = progress.add_task("", total=total)

        def show(done: int, line: Callable[[float], str]) -> None:
            text = line(time.monotonic() - begun)
            progress.update(task, completed=done, description=text)

        yield show


def duration(seconds: float) -> str:
    """Return a duration as text in seconds, minutes or hours."""
    minute, hour = 60, 3600
    if seconds < minute:
        return f"{seconds:.0f} s"
    if seconds < hour:
        return f"{seconds / minute:.0f} min"
    return f"{seconds / hour:.1f} h"


class Progress(Reporter):
    """A reporter that shows progress and warnings on standard error and asks no questions."""

    def asking(self, plan: Plan) -> AbstractContextManager[Callable[[Part], None]]:
        return asking(plan)

    def warn(self, line: str) -> None:
        sys.stderr.write(f"tacit: {line}\n")

    note = warn


class Terminal(Progress):
    """A terminal reporter that shows progress and warnings and lets the user confirm costs."""

    def __init__(self) -> None:
        show_warnings()
        silence_libraries()

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        for name, cost in costs.items():
            self.warn(f"{name}: {cost.sentence}")
        if yes or not costs:
            return
        if not sys.stdin.isatty():
            raise RequestError(
                "this cost must be confirmed, but standard input is not a terminal: give --yes to "
                "confirm it"
            )
        if not typer.confirm("Continue?", err=True):
            raise RequestError("cancelled: no prompt was sent")


def show_warnings() -> None:
    """Show logged warnings on standard error, each preceded by the name of its package."""
    handler = logging.StreamHandler()
    handler.setFormatter(_PackageFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


class _PackageFormatter(logging.Formatter):
    """Formats a log record as the name of the package, followed by the message."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.name.partition('.')[0]}: {record.getMessage()}"


def silence_libraries() -> None:
    """Silence the hints and progress bars of the Hugging Face libraries."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")  # the bar of a GGUF file is no one's but tqdm's
    logging.getLogger("huggingface_hub").propagate = False
    for name in _IMPORTED:
        logging.getLogger(name).setLevel(logging.ERROR)
    if "transformers" in sys.modules:
        _silence_transformers()
    else:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def _silence_transformers() -> None:
    from transformers.utils import logging as advice

    advice.set_verbosity_error()
    advice.disable_progress_bar()
