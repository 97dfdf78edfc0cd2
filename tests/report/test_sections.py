from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.report.content import Table
from tacit.report.sections import section
from tacit.runs.reading import read_runs
from tests.report.conftest import consistency_run

if TYPE_CHECKING:
    from pathlib import Path


def test_a_filter_offers_what_its_columns_hold(tmp_path: Path) -> None:
    """And in the tables these columns are called as it is, so that it finds their rows."""
    consistency_run(tmp_path / "run", n=30)
    runs = read_runs([tmp_path / "run"])
    found = section(runs)
    assert found.keys == {"relation": ("HasA", "IsA"), "concept": ("object", "part")}
    blocks = {block.id: block for block in found.blocks if isinstance(block, Table)}
    for name, values in found.keys.items():
        table = blocks[f"consistency-consistency-by-{name}"]
        assert name in {column.name for column in table.columns}
        assert sorted(table.frame[name]) == list(values)


def test_headlines_are_cells_of_tables_and_say_what_chance_gives(runs: Path) -> None:
    """A table may be one that is made from the summary; chance is a column or a number."""
    (run, _) = (each for each in read_runs([runs]) if each.probe == "consistency")
    tiles = {tile.label: tile.marks[0] for tile in section([run]).tiles}
    found, known = (run.summary[name] for name in ("consistency", "background_score"))
    first = tiles["Conceptual consistency (CC)"]
    assert first.about == f"chance level {found['chance']:.3f}, n = 12 anchor questions"
    assert first.reference == found["chance"]
    score = tiles["Background score"]
    assert (score.at, score.low, score.high) == tuple(
        known[name] for name in ("value", "value_low", "value_high")
    )
    assert score.about.endswith("n = 2 relations")
    assert score.reference == 0.5
    assert tiles["Anchor accuracy"].at == run.summary["anchor_accuracy"][0]["value"]
    assert tiles["Lift above chance"].reference == 0.5
