from pathlib import Path

import pytest

from tests.golden.record import check, of_consistency


@pytest.mark.slow
def test_runs_of_consistency_find_what_they_found(tmp_path: Path) -> None:
    check(tmp_path, of_consistency)
