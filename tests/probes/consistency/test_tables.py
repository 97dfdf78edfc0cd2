from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.errors import FindingsError
from tacit.findings.compare import schema
from tacit.findings.findings import Findings
from tacit.probes.base import declared
from tacit.probes.consistency.probe import ConsistencyProbe
from tests.probes.consistency.asking_by_hand import Dice, measured, probe_of
from tests.probes.consistency.run_by_hand import CASES, SILENT
from tests.probes.consistency.test_votes import measured as measured_votes

if TYPE_CHECKING:
    from tests.probes.consistency.run_by_hand import Run

DECLARED = declared(ConsistencyProbe)


def test_findings_are_as_declared(run: Run) -> None:
    """However anchors are answered; a column that no run declares is refused."""
    tables = ConsistencyProbe.tables
    assert run.found.check(tables) is run.found
    anchors = run.found.tables["anchors"].with_columns(more=1)
    spoilt = Findings(run.found.questions, {**run.found.tables, "anchors": anchors})
    with pytest.raises(FindingsError, match="undeclared column more"):
        spoilt.check(tables)


def test_findings_of_votes_are_as_declared() -> None:
    """Their columns are optional."""
    found = measured_votes()
    assert found.check(ConsistencyProbe.tables) is found
    assert "positive_share" in found.tables["facts"].columns


def test_each_column_says_what_it_holds() -> None:
    """In a sentence of its own."""
    for spec in DECLARED.tables.values():
        for column in spec.columns:
            assert column.heading
            assert column.meaning.endswith("."), (spec.name, column.name)


def test_tables_made_from_the_findings_hold_their_numbers(run: Run) -> None:
    """Those of the summary, and those of two tables side by side."""
    found, specs = run.found, DECLARED.tables
    score, answered, relations = (
        found.table(specs[name]) for name in ("background_score", "anchor_accuracy", "relations")
    )
    assert score is not None
    assert answered is not None
    assert relations is not None
    row = score.row(0, named=True)
    known = found.summary["background_score"]
    assert {name: row[name] for name in known} == known
    assert row["positive_accuracy"] == found.summary["positive_accuracy"]
    assert row["n"] == found.summary["with_background_score"]
    assert answered.to_dicts() == found.summary["anchor_accuracy"]
    by_relation = found.tables["background_by_relation"]
    assert len(relations) == len(found.tables["consistency_by_relation"])
    for row in relations.to_dicts():
        of = by_relation.filter(relation=row["name"]).row(0, named=True)
        assert (row["facts"], row["score"]) == (of["facts"], of["background_score"])


def test_a_table_that_is_made_is_not_kept(run: Run) -> None:
    """Among the findings it is refused."""
    made = run.found.table(DECLARED.tables["relations"])
    assert made is not None
    kept = Findings(run.found.questions, {**run.found.tables, "relations": made})
    with pytest.raises(FindingsError, match="a table relations that the probe does not declare"):
        kept.check(ConsistencyProbe.tables)


def test_models_are_compared_in_the_columns_of_every_comparison(run: Run) -> None:
    """Their types as well."""
    other = measured(probe_of(CASES), Dice(7, SILENT))
    table = ConsistencyProbe.compare({"one": run.found, "other": other})
    assert table.schema == pl.Schema(schema())
    assert set(table["n"]) != {0}
