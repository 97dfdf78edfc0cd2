"""Tests of how a comparison is printed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tacit.present.results import MOST_MEASURES, print_comparison


def test_what_differs_is_printed_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Of many measures, those whose interval excludes 0, then the main ones."""
    measures = [f"m{number}" for number in range(MOST_MEASURES + 4)]
    differ = {"m12": (0.1, 0.3), "m13": (-0.3, -0.1)}
    rows = [
        {
            "first": "a",
            "second": "b",
            "measure": name,
            "first_value": 0.5,
            "second_value": 0.6,
            "difference": 0.1,
            "n": 20,
            "note": None,
            **dict(
                zip(("difference_low", "difference_high"), differ.get(name, (-1, 1)), strict=True)
            ),
            "main": name == "m7",
        }
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
