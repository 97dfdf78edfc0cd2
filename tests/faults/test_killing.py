import os
from pathlib import Path

import pytest

from tests.faults.killing import drawn, resumes, unbroken
from tests.faults.running import Warm

pytestmark = pytest.mark.slow

MOMENTS = int(os.environ.get("TACIT_TEST_KILLS", "6"))
"""One in each phase; 30 are five in each."""


def test_a_run_killed_at_any_moment_goes_on_to_the_same_findings(
    tmp_path: Path, warm: Warm
) -> None:
    """By the byte, and without asking what was stored; the seed is fixed, so are the moments."""
    whole = unbroken(warm, tmp_path / "whole")
    for turn, moments in enumerate(drawn(whole.calls, MOMENTS, seed=0), 1):
        assert resumes(warm, tmp_path / f"{turn:02}", moments, whole), moments
