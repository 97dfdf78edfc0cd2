"""Runs of the whole probe, each made once for all tests."""

import pytest

from tacit.findings.findings import Findings
from tests.probes.consistency.asking_by_hand import Dice
from tests.probes.consistency.planted_by_hand import planted
from tests.probes.consistency.run_by_hand import CASES, SILENT, Run


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(Run(CASES, Dice(3, SILENT), anchoring=("choice", "verify")), id="both"),
        pytest.param(Run(CASES, Dice(5, SILENT), anchoring=("verify", "choice")), id="verify"),
        pytest.param(Run(CASES, Dice(5, SILENT), metas=5, answering="count"), id="count"),
    ],
)
def run(request: pytest.FixtureRequest) -> Run:
    """A run of a model that says anything, worked by hand beside."""
    of: Run = request.param
    return of


@pytest.fixture(scope="session")
def clear() -> Findings:
    return planted(40, 40)
