from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tacit.findings.spec import Column, Layout, TableSpec
from tacit.present.results import MOST_MEASURES, print_comparison
from tacit.present.tables import laid_out, latex, markdown, print_table

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


def test_a_table_for_a_page_or_a_paper() -> None:
    """In LaTeX and Markdown, what would be a command is escaped; an interval is in brackets."""
    columns = (Column("name", "50 % & more"), Column("x", "x", "percent", ends=("low", "high")))
    table = pl.DataFrame({"name": ["a_b|c", "d"], "x": [0.5, None], "low": [0.25, None]})
    rows = laid_out(TableSpec("t", "T", "", columns), table.with_columns(high=pl.col("low") * 3))
    assert markdown(*rows).splitlines() == [
        "| 50 % & more | x |",
        "| --- | ---: |",
        "| a_b\\|c | 50.0\N{NO-BREAK SPACE}% [25.0, 75.0] |",
        "| d | undefined |",
    ]
    assert latex(*rows).splitlines()[2:6] == [
        r"50 \% \& more & x \\",
        r"\midrule",
        r"a\_b|c & 50.0~\% [25.0, 75.0] \\",
        r"d & undefined \\",
    ]


def test_what_differs_is_printed_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Of many measures, those whose interval excludes 0, then the main ones."""
    measures = [f"m{number}" for number in range(MOST_MEASURES + 4)]
    differ = {"m12": (0.1, 0.3), "m13": (-0.3, -0.1)}
    ends = ("difference_low", "difference_high")
    both = {"first": "a", "second": "b", "first_value": 0.5, "second_value": 0.6}
    shared: dict[str, Any] = {**both, "difference": 0.1, "n": 20, "note": None}
    rows = [
        {"measure": name, "main": name == "m7", **shared}
        | dict(zip(ends, differ.get(name, (-1, 1)), strict=True))
        for name in measures
    ]
    runs: Any = type("Runs", (dict,), {})(dict.fromkeys("ab", SimpleNamespace(verdict=None)))
    runs.probe, runs.comparison, runs.flips = "parts", pl.DataFrame(rows), None
    runs.flips = pl.DataFrame(schema={"first": pl.String, "second": pl.String, "n": pl.Int64})
    print_comparison(runs)
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split()[0] for line in lines if line.lstrip().startswith("m") and "0.5" in line]
    assert shown == ["m12", "m13", "m7", *measures[:7]]
    assert "10 of 14 measures are shown; the intervals of 2 exclude 0 (not corrected" in lines[-2]
