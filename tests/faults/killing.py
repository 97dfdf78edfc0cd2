"""Kills runs at moments drawn from a seed, and lets them go on: ``python -m tests.faults.killing``.

Prints a line for each: the phase, the moment in it, and whether the run that goes on ends with the
findings of one that nothing happened to.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.faults.moments import Moment
from tests.faults.running import PEACH, SMALL_BLOCKS, Warm, findings_of

_RUN = (*PEACH, "--out", "run")
_PUBLISHING = "publishing a segment"
_HALF = "half a file"
# Of 30 moments ten lie in publishing, five of them where half of a file is written.
_TURNS = (_PUBLISHING, "planning", "scoring", _HALF, "measuring", "writing findings")

_COUNT = """
from pathlib import Path
from tests.faults.moments import count
count(Path("calls.jsonl"))
"""
_ARM = """
from tests.faults.moments import Moment
Moment(**{moment}).arm()
"""


@dataclass(frozen=True)
class Unbroken:
    """A run that nothing happened to."""

    findings: Mapping[str, bytes]
    segments: int
    calls: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Killed:
    """A run that was killed, perhaps twice, and went on.

    Args:
        segments: How many segments the store had when it was last killed.
        leftovers: How many files of other runs or half files lay about then.
        same: Whether it ended with the findings of the unbroken run, and as many segments: nothing
            that was stored was asked again.
    """

    moments: tuple[Moment, ...]
    segments: int
    leftovers: int
    same: bool


def unbroken(warm: Warm, folder: Path) -> Unbroken:
    """Runs without a fault, and counts the calls of each phase."""
    ended = warm.run(folder, *_RUN, setup=_COUNT + SMALL_BLOCKS)
    assert ended.status == 0, ended.said
    calls: dict[str, list[int]] = {}
    for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines():
        phase, made = json.loads(line)
        calls.setdefault(phase, []).append(made)
    return Unbroken(findings_of(folder / "run"), len(_segments(folder)), calls)


def drawn(calls: Mapping[str, Sequence[int]], number: int, seed: int) -> list[tuple[Moment, ...]]:
    """Moments in all phases by turns; every other one in planning is that of a run that goes on."""
    draws = random.Random(seed)  # noqa: S311 - drawn to be drawn again
    found = []
    for turn in range(number):
        name = _TURNS[turn % len(_TURNS)]
        phase = _PUBLISHING if name == _HALF else name
        entry = draws.randrange(len(calls[phase])) + 1
        call = 0 if name == _HALF else draws.randrange(calls[phase][entry - 1]) + 1
        moment = Moment(phase, entry, call)
        again = phase == "planning" and turn // len(_TURNS) % 2 == 1
        before = (Moment("scoring", draws.randrange(2, len(calls["scoring"])), 1),) if again else ()
        found.append((*before, moment))
    return found


def killed(warm: Warm, folder: Path, moments: tuple[Moment, ...], whole: Unbroken) -> Killed:
    """Kills a run at each of the moments, and lets it go on to its end."""
    for moment in moments:
        ended = warm.run(folder, *_RUN, setup=_ARM.format(moment=asdict(moment)) + SMALL_BLOCKS)
        assert ended.status == -signal.SIGKILL, ended.said
        met = json.loads((folder / "killed.json").read_text(encoding="utf-8"))
        assert met == asdict(moment)
    segments, leftovers = len(_segments(folder)), len(list(folder.rglob(".*-*")))
    ended = warm.run(folder, *_RUN)
    assert ended.status == 0, ended.said
    assert "damaged" not in ended.said
    same = (
        findings_of(folder / "run") == whole.findings and len(_segments(folder)) == whole.segments
    )
    return Killed(moments, segments, leftovers, same)


def kill_all(warm: Warm, folder: Path, number: int, seed: int) -> Iterator[Killed]:
    """Kills so many runs, each in a folder of its own, and tells how each ended."""
    whole = unbroken(warm, folder / "whole")
    for turn, moments in enumerate(drawn(whole.calls, number, seed), 1):
        yield killed(warm, folder / f"{turn:02}", moments, whole)


def line_of(turn: int, one: Killed) -> str:
    told = ", then ".join(
        f"{moment.phase} {moment.entry}, "
        + (f"call {moment.call:,}" if moment.call else "half of the file written")
        for moment in one.moments
    )
    end = "the same findings" if one.same else "OTHER FINDINGS"
    return f"{turn:2}  {told}: {one.segments} segments, {one.leftovers} half files; {end}"


def main() -> None:
    """Kills, tells, and ends with 1 where a run ended otherwise than it should."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--moments", type=int, default=30)
    asked.add_argument("--seed", type=int, default=0)
    options = asked.parse_args()
    good = True
    with Warm() as warm, tempfile.TemporaryDirectory() as folder:
        runs = kill_all(warm, Path(folder), options.moments, options.seed)
        for turn, one in enumerate(runs, 1):
            sys.stdout.write(line_of(turn, one) + "\n")
            sys.stdout.flush()
            good &= one.same
    sys.exit(0 if good else 1)


def _segments(folder: Path) -> list[Path]:
    return list(folder.glob(".tacit/scores/*/[0-9]*.parquet"))


if __name__ == "__main__":
    main()
