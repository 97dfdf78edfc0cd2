from __future__ import annotations

import polars as pl
import pytest

from tacit.findings.spec import Column, Layout, TableSpec
from tacit.present.tables import print_table

WIDE = TableSpec(
    "wide",
    "Wide",
    "Many columns.",
    columns=(
        Column("name", "name"),
        *(
            Column(f"x{i}", "a heading of several words", "score", ends=(f"low{i}", f"high{i}"))
            for i in range(3)
        ),
    ),
    printed=Layout(),
)


def test_headings_are_broken_before_names_and_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    """They are longer than what stands below them, and fit 80 columns beside one another."""
    name = "ReceivesAction"
    numbers = {f"{kind}{i}": 0.5 for kind in ("x", "low", "high") for i in range(3)}
    print_table(WIDE, pl.DataFrame([{"name": name, **numbers}]), "title")
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == [name, *["0.500"] * 3] for line in lines)
    assert any(line.split() == ["0.500", "to", "0.500"] * 3 for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_name_longer_than_the_window_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    name = "x" * 100
    print_table(
        TableSpec("one", "One", "", (Column("name", "name"),)),
        pl.DataFrame({"name": [name]}),
        "title",
    )
    assert capsys.readouterr().out.count("x") == 100
