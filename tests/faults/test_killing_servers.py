from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.killing_servers import WAYS, kill_all

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.running import Warm

pytestmark = pytest.mark.slow

MOMENTS = {"completions": 2, "chat": 3, "samples": 3}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_killed_while_a_server_is_asked_goes_on_to_the_same_findings(
    tmp_path: Path, warm: Warm, way: str
) -> None:
    """By the byte, and without asking again what was stored."""
    for one in kill_all(warm, tmp_path, way, MOMENTS[way], seed=1):
        assert one.same, one
        assert one.once, one
