"""Runs that ask a server are killed at moments drawn from a seed, and go on."""

import os
import random
import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from tests.faults.running import PARTS_OF_A_PEACH, Ended, Warm, findings_of
from tests.models import tiny
from tests.models.openai.model import Toy
from tests.models.openai.serving import Asked, Sent, Serving, serving

pytestmark = pytest.mark.slow

WAYS: dict[str, tuple[int, tuple[str, ...]]] = {
    "completions": (2, ()),
    "chat": (3, ("--api", "chat")),
    "samples": (3, ("--api", "chat", "--samples", "20")),
}
"""How many runs are killed, and the options of each way to ask a server."""

PERIOD = 0.05
SETUP = f"""
import os
from tacit.engine import local
local.PERIOD = {PERIOD}
with open("pid", "w") as file:
    file.write(str(os.getpid()))
"""


@dataclass
class Killer:
    """Counts a server's requests, and kills the run a moment after one of them."""

    draws: random.Random
    asked: int = 0
    _folder: Path | None = None
    _moment: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, folder: Path, moment: int | None) -> None:
        """Restart the count, and kill the run of a folder at the given request, if one is given."""
        self.asked, self._folder, self._moment = 0, folder, moment

    def __call__(self, asked: Asked, server: Serving) -> Sent:
        with self._lock:
            self.asked += 1
            if self._folder and self.asked == self._moment:
                process = int((self._folder / "pid").read_text(encoding="utf-8"))
                wait = self.draws.uniform(0, PERIOD)
                threading.Timer(wait, os.kill, (process, signal.SIGKILL)).start()
            delay = self.draws.uniform(0, 0.02)
        return Sent.of(server.answer(asked.body), delay=delay)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_killed_while_a_server_is_asked_goes_on_to_the_same_findings(
    tmp_path: Path, warm: Warm, way: str
) -> None:
    """By the byte, and without asking again what was stored."""
    draws = random.Random(1)  # noqa: S311 - drawn to be drawn again
    killer, (number, options) = Killer(draws), WAYS[way]
    with serving(Toy(tiny.gpt2_like().backend_tokenizer)) as server:
        server.respond = killer
        known = ("--model", server.address, "--concurrency", "4", "--yes", "--out", "run")

        def run(folder: Path) -> Ended:
            return warm.run(folder, *PARTS_OF_A_PEACH, *known, *options, setup=SETUP)

        whole = tmp_path / "whole"
        killer.arm(whole, None)
        assert run(whole).status == 0
        requests = killer.asked
        for turn in range(number):
            folder, moment = tmp_path / str(turn), draws.randint(1, requests)
            killer.arm(folder, moment)
            assert run(folder).status == -signal.SIGKILL, f"at request {moment}"
            ended = run(folder)
            assert (ended.status, "damaged" in ended.said) == (0, False), ended.said
            assert findings_of(folder / "run") == findings_of(whole / "run"), moment
            assert answers(folder).is_unique().all(), f"asked again after request {moment}"
            assert answers(folder).height == answers(whole).height


def answers(folder: Path) -> pl.DataFrame:
    files = [*folder.glob(".tacit/scores/*/[0-9]*"), *folder.glob(".tacit/votes/*/[0-9]*")]
    keys = pl.selectors.by_name("text", "separator", "answer", "number", require_all=False)
    return pl.concat([pl.read_parquet(file).select(keys) for file in files])
