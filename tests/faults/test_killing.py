"""Runs are killed at moments drawn from a seed, and go on."""

import json
import os
import random
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.faults.moments import Moment
from tests.faults.running import PEACH, SMALL_BLOCKS, Warm, findings_of

pytestmark = pytest.mark.slow

MOMENTS = int(os.environ.get("TACIT_TEST_KILLS", "6"))
"""One in each phase; 30 are five in each."""

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
    findings: Mapping[str, bytes]
    segments: int
    calls: Mapping[str, Sequence[int]]


def unbroken(warm: Warm, folder: Path) -> Unbroken:
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


def resumes(warm: Warm, folder: Path, moments: tuple[Moment, ...], whole: Unbroken) -> bool:
    """Kills a run at each of the moments, and lets it go on to its end.

    It is to end with the findings of the unbroken run and as many segments: nothing that was stored
    is asked again.
    """
    for moment in moments:
        ended = warm.run(folder, *_RUN, setup=_ARM.format(moment=asdict(moment)) + SMALL_BLOCKS)
        assert ended.status == -signal.SIGKILL, ended.said
        met = json.loads((folder / "killed.json").read_text(encoding="utf-8"))
        assert met == asdict(moment)
    ended = warm.run(folder, *_RUN)
    assert ended.status == 0, ended.said
    assert "damaged" not in ended.said
    findings, segments = findings_of(folder / "run"), len(_segments(folder))
    return findings == whole.findings and segments == whole.segments


def _segments(folder: Path) -> list[Path]:
    return list(folder.glob(".tacit/scores/*/[0-9]*.parquet"))


def test_a_run_killed_at_any_moment_goes_on_to_the_same_findings(
    tmp_path: Path, warm: Warm
) -> None:
    """By the byte, and without asking what was stored; the seed is fixed, so are the moments."""
    whole = unbroken(warm, tmp_path / "whole")
    for turn, moments in enumerate(drawn(whole.calls, MOMENTS, seed=0), 1):
        assert resumes(warm, tmp_path / f"{turn:02}", moments, whole), moments
