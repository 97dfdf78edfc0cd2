"""Kills runs that ask a server, at moments drawn from a seed, and lets them go on.

``python -m tests.faults.killing_servers`` prints a line for each: how the server was asked, at
which request the run was killed, and whether it ended as one that nothing happened to.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from tests.faults.running import PARTS_OF_A_PEACH, Warm, findings_of
from tests.models import tiny
from tests.models.openai.serving import Manners, Serving, Toy, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WAYS = {
    "completions": (),
    "chat": ("--api", "chat"),
    "samples": ("--api", "chat", "--samples", "20"),
}
"""The options of each way to ask a server."""

_PERIOD = 0.05
_SETUP = f"""
import os
from tacit.engine import ask
ask.PERIOD = {_PERIOD}
with open("pid", "w") as file:
    file.write(str(os.getpid()))
"""


@dataclass
class Killer:
    """Counts a server's requests, and kills the run a moment after one of them.

    Args:
        draws: How long each answer takes, so that answers come out of order, and how long after a
            request the run is killed.
        asked: How many requests there were since it was armed.
    """

    draws: random.Random
    asked: int = 0
    _folder: Path | None = None
    _moment: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, folder: Path, moment: int | None) -> None:
        """Counts anew; kills the run of a folder at its request of that number, None at none."""
        self.asked, self._folder, self._moment = 0, folder, moment

    def __call__(self, _: int) -> float:
        """Counts a request; returns the seconds that the server takes over it."""
        with self._lock:
            self.asked += 1
            if self._folder and self.asked == self._moment:
                process = int((self._folder / "pid").read_text(encoding="utf-8"))
                wait = self.draws.uniform(0, _PERIOD)
                threading.Timer(wait, os.kill, (process, signal.SIGKILL)).start()
            return self.draws.uniform(0, 0.02)


@dataclass(frozen=True)
class Whole:
    """A run that nothing happened to.

    Args:
        findings: The bytes of its questions and findings.
        requests: How often it asked the server.
        answers: How many answers it left in the store.
    """

    findings: Mapping[str, bytes]
    requests: int
    answers: int


@dataclass(frozen=True)
class Killed:
    """A run that was killed, and went on.

    Args:
        way: How the server was asked.
        moment: At which request it was killed.
        answers: How many answers were in the store then.
        same: Whether it ended with the findings of the undisturbed run.
        once: Whether it ended with each answer in the store once: none of those was asked again.
    """

    way: str
    moment: int
    answers: int
    same: bool
    once: bool

    def __str__(self) -> str:
        """What happened, in a line."""
        end = "the same findings" if self.same else "OTHER FINDINGS"
        again = "" if self.once else ", STORED ANSWERS ASKED AGAIN"
        return f"{self.way}, request {self.moment}: {self.answers} answers stored; {end}{again}"


def kill_all(warm: Warm, folder: Path, way: str, number: int, seed: int) -> Iterator[Killed]:
    """Kills so many runs of one server, each in a folder of its own, and tells how each ended."""
    draws = random.Random(seed)  # noqa: S311 - drawn to be drawn again
    killer = Killer(draws)
    with _served(killer) as server:
        killer.arm(folder, None)
        whole = _unbroken(warm, folder / f"{way}-whole", server, killer, way)
        for turn in range(number):
            moment = draws.randint(1, whole.requests)
            killer.arm(folder / f"{way}-{turn:02}", moment)
            yield _killed(warm, folder / f"{way}-{turn:02}", server, (way, moment), whole)


@contextmanager
def _served(killer: Killer) -> Iterator[Serving]:
    language = Toy(tiny.gpt2_like().backend_tokenizer)
    with serving(language, Manners(slow=killer)) as server:
        yield server


def _arguments(server: Serving, way: str) -> tuple[str, ...]:
    known = ("--model", server.address, "--concurrency", "4", "--yes", "--out", "run")
    return (*PARTS_OF_A_PEACH, *known, *WAYS[way])


def _unbroken(warm: Warm, folder: Path, server: Serving, killer: Killer, way: str) -> Whole:
    ended = warm.run(folder, *_arguments(server, way), setup=_SETUP)
    assert ended.status == 0, ended.said
    answers = _answers(folder)
    assert answers.is_unique().all()
    return Whole(findings_of(folder / "run"), killer.asked, answers.height)


def _killed(
    warm: Warm, folder: Path, server: Serving, killed: tuple[str, int], whole: Whole
) -> Killed:
    way, moment = killed
    ended = warm.run(folder, *_arguments(server, way), setup=_SETUP)
    assert ended.status == -signal.SIGKILL, ended.said
    before = _answers(folder).height
    ended = warm.run(folder, *_arguments(server, way), setup=_SETUP)
    assert ended.status == 0, ended.said
    assert "damaged" not in ended.said
    same = findings_of(folder / "run") == whole.findings
    once = _answers(folder)
    return Killed(
        way, moment, before, same, once.is_unique().all() and once.height == whole.answers
    )


def _answers(folder: Path) -> pl.DataFrame:
    """What each row of a folder's store is an answer to."""
    files = [*folder.glob(".tacit/scores/*/[0-9]*"), *folder.glob(".tacit/votes/*/[0-9]*")]
    keys = pl.selectors.by_name("text", "separator", "answer", "number", require_all=False)
    return pl.concat([pl.read_parquet(file).select(keys) for file in files] or [pl.DataFrame()])


def main() -> None:
    """Kills, tells, and ends with 1 where a run ended otherwise than it should."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--moments", type=int, default=20, help="for each way to ask")
    asked.add_argument("--seed", type=int, default=0)
    options = asked.parse_args()
    good = True
    with Warm() as warm, tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            for one in kill_all(warm, Path(folder), way, options.moments, options.seed):
                sys.stdout.write(f"{one}\n")
                sys.stdout.flush()
                good &= one.same and one.once
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
