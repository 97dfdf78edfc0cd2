from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.killing import drawn, kill_all, line_of
from tests.faults.running import Warm

pytestmark = pytest.mark.slow

MOMENTS = int(os.environ.get("TACIT_TEST_KILLS", "6"))
"""One in each phase; 30 are five in each."""


def test_a_run_killed_at_any_moment_goes_on_to_the_same_findings(
    tmp_path: Path, warm: Warm
) -> None:
    """By the byte, and without asking what was stored; the seed is fixed, so are the moments."""
    for turn, one in enumerate(kill_all(warm, tmp_path, MOMENTS, seed=0), 1):
        assert one.same, line_of(turn, one)


def test_thirty_moments_lie_in_all_phases() -> None:
    """At least five while a segment is published and three while planning, some of them later."""
    calls = {
        "planning": [9, 9],
        "scoring": [9] * 8,
        "publishing a segment": [9] * 8,
        "measuring": [9],
        "writing findings": [9],
    }
    moments = drawn(calls, 30, seed=0)
    phases = [last.phase for *_, last in moments]
    assert {phase: phases.count(phase) for phase in calls} == {
        "planning": 5,
        "scoring": 5,
        "publishing a segment": 10,
        "measuring": 5,
        "writing findings": 5,
    }
    assert sum(one.call == 0 for *_, one in moments) == 5
    assert sum(len(each) == 2 for each in moments) == 2
    assert drawn(calls, 30, seed=0) == moments
