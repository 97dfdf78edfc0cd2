from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit.findings.block import Entry
from tacit.findings.display import Headline
from tacit.findings.spec import ANSWERS, OVERVIEW, PAPER, TABLES, Column
from tacit.report.sections import Mark, section
from tacit.runs.reading import read_runs


def test_a_filter_offers_the_values_of_the_answers(runs: Path) -> None:
    (run, _) = (each for each in read_runs([runs]) if each.probe == "parts")
    found = section([run])
    (answers,) = (tab.tables for tab in found.tabs if tab.title == ANSWERS)
    assert set(found.filters) == {"relation", "thing"}
    for name, values in found.filters.items():
        assert list(values) == sorted(set(answers[0].table[name]))


def test_a_mark_is_a_value_of_a_table_with_its_chance_level(runs: Path) -> None:
    """The chance level is a column, a number or another headline's value."""
    (run, _) = (each for each in read_runs([runs]) if each.probe == "consistency")
    tiles = {tile.label: tile.marks[run.name] for tile in section([run]).tiles}
    row = run.tables["consistency"].row(0, named=True)
    first = tiles["Conceptual consistency"]
    assert first.about == f"chance {row['chance']:.3f}, best 1.000, n = 12 anchor questions"
    assert first.positions["reference"] == f"left-{round(10_000 * row['chance'])}"
    assert tiles["AUROC of the yes-margin"].positions["reference"] == "left-5000"
    guess = run.tables["anchor_baselines"].filter(baseline="random")["accuracy"].item()
    assert tiles["Anchor accuracy"].entry.chance == guess


def test_a_gain_is_shown_only_if_the_verdict_shows_something(runs: Path) -> None:
    (run, _) = (each for each in read_runs([runs]) if each.probe == "parts")
    for name in ("constant", "weak"):
        summary = {**run.summary, "verdict": {"verdict": name, "reason": ""}}
        tiles = section([replace(run, manifest={**run.manifest, "summary": summary})]).tiles
        assert ("Accuracy after repair" in {tile.label for tile in tiles}) == (name == "weak")


def test_tabs_follow_the_declarations(runs: Path) -> None:
    """The overview is first, and the paper's figures and tables are last."""
    (run, _) = (each for each in read_runs([runs]) if each.probe == "parts")
    tabs = {tab.title: tab for tab in section([run]).tabs}
    assert list(tabs)[:2] == [OVERVIEW, ANSWERS]
    assert list(tabs)[-2:] == [PAPER, TABLES]
    for tab in tabs.values():
        assert {each.declared.tab for each in tab.figures} <= {tab.title}
        assert {each.spec.tab for each in tab.tables} <= {tab.title}


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.25, "left-2500", "right-7500"),
        (1.154, "left-10000", "right-0"),
        (-0.2, "left-0", "right-10000"),
    ],
)
def test_an_interval_beyond_the_scale_ends_with_the_scale(
    value: float, low: str, high: str
) -> None:
    """Student's interval may include values below 0 and above 1."""
    column = Column("x", "x", "percent", ends=("low", "high"))
    entry = Entry({"x": None, "low": value, "high": value}, column)
    mark = Mark(Headline("x", "", "t", "x"), entry)
    assert mark.positions == {"low": low, "high": high}
