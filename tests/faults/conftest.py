"""One warm process for all faults, and the run that nothing happened to."""

from collections.abc import Iterator

import pytest

from tests.faults.running import PEACH, Warm, findings_of


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    with Warm() as started:
        yield started


@pytest.fixture(scope="session")
def whole(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    ended = warm.run(folder, *PEACH, "--out", "run")
    assert ended.status == 0, ended.said
    return findings_of(folder / "run")
