from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.killing import kill_all, line_of
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
