"""Show a run's progress on standard error, as a bar or as at most one line per minute."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from tacit.english import several
from tacit.errors import RequestError
from tacit.present.terminal import beneath
from tacit.runs.reporter import Quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from rich.console import Console

    from tacit.runs.estimate import Cost
    from tacit.runs.reporter import Planned, Work


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
def asking(plan: Planned) -> Iterator[Callable[[Work], None]]:
    """Show how many answers are cached, and a run's progress as other answers are stored."""
    stored, total = plan.stored, plan.stored + plan.prompts
    if stored:
        sys.stderr.write(f"tacit: {stored:,} of {several(total, 'answer')} cached and reused\n")
    if not plan.prompts:
        yield lambda _: None
        return
    console = _terminal()
    with _asking_lines(plan) if console is None else _asking_bar(plan, console) as advance:
        yield advance


@contextmanager
def reading(size: int) -> Iterator[Callable[[int], None]]:
    """Show how many of ``size`` bytes have been read."""
    console = _terminal()
    with _reading_lines(size) if console is None else _reading_bar(size, console) as advance:
        yield advance


def duration(seconds: float) -> str:
    """Return a duration as text in seconds, minutes or hours."""
    minute, hour = 60, 3600
    if seconds < minute:
        return f"{seconds:.0f} s"
    if seconds < hour:
        return f"{seconds / minute:.0f} min"
    return f"{seconds / hour:.1f} h"


def _terminal() -> Console | None:
    """Return a console for standard error; None if no progress bar can be shown there."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(file=beneath(sys.stderr))
    return None if console.is_dumb_terminal else console


@contextmanager
def _asking_lines(plan: Planned) -> Iterator[Callable[[Work], None]]:
    lines = Lines(plan.tokens)
    done = tokens = 0

    def advance(work: Work) -> None:
        nonlocal done, tokens
        done, tokens = done + work.ended, tokens + work.tokens
        lines.report(
            tokens,
            lambda seconds: (
                f"answered {done:,} of {plan.prompts:,} prompts, {_rate(done, seconds)}"
            ),
        )

    yield advance


@contextmanager
def _asking_bar(plan: Planned, console: Console) -> Iterator[Callable[[Work], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    begun, done = time.monotonic(), 0
    columns = (
        TextColumn("querying"),
        BarColumn(),
        TextColumn("{task.fields[done]:,} of {task.fields[prompts]:,} prompts"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console) as progress:
        # The bar measures tokens, which determine the time; the text counts prompts.
        task = progress.add_task("", total=plan.tokens, done=0, prompts=plan.prompts, rate="")

        def advance(work: Work) -> None:
            nonlocal done
            done += work.ended
            rate = _rate(done, time.monotonic() - begun)
            progress.update(task, advance=work.tokens, done=done, rate=rate)

        yield advance


@contextmanager
def _reading_lines(size: int) -> Iterator[Callable[[int], None]]:
    from rich.filesize import decimal

    lines = Lines(size)
    yield lambda read: lines.report(read, lambda _: f"read {decimal(read)} of {decimal(size)}")


@contextmanager
def _reading_bar(size: int, console: Console) -> Iterator[Callable[[int], None]]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=size)
        yield lambda read: progress.update(task, completed=read)


def _rate(prompts: int, seconds: float) -> str:
    return f"{prompts / seconds:,.1f} prompts/s" if seconds > 0 else ""


class Progress(Quiet):
    """A reporter that shows progress and warnings on standard error and asks no questions."""

    def asking(self, plan: Planned) -> AbstractContextManager[Callable[[Work], None]]:
        """See ``Reporter.asking``."""
        return asking(plan)

    def warn(self, line: str) -> None:
        """See ``Reporter.warn``."""
        sys.stderr.write(f"tacit: {line}\n")

    def note(self, line: str) -> None:
        """See ``Reporter.note``."""
        sys.stderr.write(f"tacit: {line}\n")


class Terminal(Progress):
    """A terminal reporter that shows progress and warnings and lets the user confirm costs."""

    def __init__(self) -> None:
        show_warnings()
        silence_libraries()

    def confirm(self, costs: Mapping[str, Cost], *, yes: bool) -> None:
        """See ``Reporter.confirm``."""
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
    logging.getLogger("huggingface_hub").propagate = False
    if "transformers" in sys.modules:
        _silence_transformers()
    else:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def _silence_transformers() -> None:
    from transformers.utils import logging as advice

    advice.set_verbosity_error()
    advice.disable_progress_bar()
