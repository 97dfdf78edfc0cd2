from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.errors import FindingsError
from tacit.findings.findings import Findings
from tacit.probes.consistency.probe import ConsistencyProbe
from tests.probes.consistency.test_votes import measured as measured_votes

if TYPE_CHECKING:
    from tests.probes.consistency.run_by_hand import Run


def test_findings_are_as_declared(run: Run) -> None:
    """However anchors are answered; a column that no run declares is refused."""
    tables = ConsistencyProbe.tables.values()
    assert run.found.check(tables) is run.found
    anchors = run.found.tables["anchors"].with_columns(more=1)
    spoilt = Findings(run.found.questions, {**run.found.tables, "anchors": anchors})
    with pytest.raises(FindingsError, match="undeclared column more"):
        spoilt.check(tables)


def test_findings_of_votes_are_as_declared() -> None:
    """Their columns are optional."""
    found = measured_votes()
    assert found.check(ConsistencyProbe.tables.values()) is found
    assert "positive_share" in found.tables["facts"].columns


def test_the_background_score_and_the_accuracy_are_those_of_the_summary(run: Run) -> None:
    """A row of either table has the numbers of the summary."""
    row = run.found.tables["background_score"].row(0, named=True)
    known = run.found.summary["background_score"]
    assert {name: row[name] for name in known} == known
    assert row["n"] == run.found.summary["with_background_score"]
    accuracy = run.found.tables["anchor_accuracy"].to_dicts()
    assert accuracy == run.found.summary["anchor_accuracy"]
