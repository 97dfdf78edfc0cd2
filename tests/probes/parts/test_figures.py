"""Figures of random beliefs about the demo's drawings show what the tables hold."""

import json
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE, Chart
from tacit.findings.findings import Findings
from tacit.probes.parts.figures import FIGURES
from tacit.probes.parts.probe import PartsProbe
from tests.probes.drawing import drawn, rows, svg, texts
from tests.probes.parts.measured import believing

Tables: TypeAlias = Mapping[str, pl.DataFrame]


@pytest.fixture(scope="module")
def found() -> Tables:
    """The findings from random beliefs, of which one in ten is missing."""
    probe = PartsProbe.read(tacit.demo_data("drawings"))
    made = np.random.default_rng(0).random((2, probe.questions.height))
    return believing(probe, [None if no < 0.1 else float(p) for p, no in made.T]).tables


def of_one(tables: Tables) -> Shown:
    return Shown({"m": Findings(pl.DataFrame(), tables)}, {}, HOUSE)


def chart_of(name: str, tables: Tables) -> Chart:
    return drawn(FIGURES[name](of_one(tables)))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("accuracy_at", "share"),
        ("accuracy_by_relation", "accuracy"),
        ("best_and_worst_things", "accuracy"),
        ("relations", "accuracy"),
        ("worst_things", "accuracy"),
        ("violations", "rate"),
    ],
)
def test_a_figure_shows_the_values_of_its_table(name: str, column: str, found: Tables) -> None:
    """Values and intervals before and after repair with one objective, and no other stage."""
    names = dict.fromkeys(("best_and_worst_things", "worst_things"), "accuracy_by_thing")
    names |= {"relations": "accuracy_by_relation", "violations": "violation"}
    table = found[names.get(name, name)]
    alone = name in {"relations", "worst_things", "violations"}
    stages = {"before"} if alone else {"before", "paper"}
    held = [row for row in rows(chart_of(name, found)) if row.get("stage")]
    assert {row["stage"] for row in held} == stages
    drawn = table.filter(pl.col("stage").is_in(stages))
    drawn = drawn.sort("accuracy", "n", "thing").head(15) if name == "worst_things" else drawn
    for row in drawn.to_dicts():
        wanted = row | {"value": row[column]}
        assert row[column] is None or any(wanted.items() <= one.items() for one in held), row


def test_the_improvement_is_a_line_of_its_own(found: Tables) -> None:
    """The share after repair minus the share before it, with the number of drawings."""
    chart = chart_of("accuracy_at", found)
    better = {row["s"]: row["value"] for row in rows(chart) if row.get("series") == "improvement"}
    shares = found["accuracy_at"].pivot("stage", index="s", values="share")
    assert better == {row["s"]: row["paper"] - row["before"] for row in shares.to_dicts()}
    assert any("n = 24 drawings" in text for text in texts(svg(chart)))


def test_relations_fall_by_accuracy_before_repair(found: Tables) -> None:
    chart = chart_of("accuracy_by_relation", found).to_dict()
    before = found["accuracy_by_relation"].filter(stage="before")
    ranked = before.sort("accuracy", descending=True, nulls_last=True, maintain_order=True)
    expected = [f"{row['relation']} ({row['n']:,})" for row in ranked.to_dicts()]
    assert json.dumps({"domain": expected}) in json.dumps(chart)
    missing = f"{before['missing'].sum()} labelled statements excluded"
    assert missing in " ".join(chart["title"]["subtitle"])


def test_the_best_and_the_worst_stand_side_by_side(found: Tables) -> None:
    """With their ranks; the figure of all things has those between."""
    said = set(texts(svg(chart_of("best_and_worst_things", found))))
    headings = ("m: best: things 1 to 12 by accuracy", "m: worst: things 13 to 24 by accuracy")
    things = found["accuracy_by_thing"]
    first = things.row(0, named=True)
    assert {*headings, f"1. {first['thing']} ({first['n']})"} <= said
    assert FIGURES["all_things"](of_one(found)) is None
    middle = things.with_columns(
        band=pl.when(pl.col("rank") > 2).then(pl.lit("middle")).otherwise("band")
    )
    tables = {"accuracy_by_thing": middle}
    chart = chart_of("all_things", tables)
    assert {row["rank"] for row in rows(chart) if "rank" in row} == set(range(3, 25))
    assert {"m: things 3 to 22 by accuracy", "m: things 23 to 24 by accuracy"} <= set(
        texts(svg(chart))
    )


def test_violations_have_both_baselines_as_ticks(found: Tables) -> None:
    """Of the raw beliefs alone, with the number of decided constraints."""
    chart = chart_of("violations", found)
    table = found["violation"].filter(stage="before")
    ticks = {
        (row["label"].partition(" (")[0], row["series"]): row["reference"]
        for row in rows(chart)
        if row.get("reference") is not None
    }
    for row in table.to_dicts():
        for name, column in (("shuffled beliefs", "shuffled"), ("always true", "always_true")):
            assert ticks.get((row["constraint"], name)) == row[column]
    (micro,) = table.filter(constraint="micro").to_dicts()
    decided = micro["applicable"] - micro["undecided"]
    assert {f"micro ({decided:,})", "shuffled beliefs"} <= set(texts(svg(chart)))
    assert "published" not in str(chart.to_dict())
    counts = {"drawings": 300, "statements": 216_580}
    whole = Shown({"m": Findings(pl.DataFrame(), found, counts)}, {}, HOUSE)
    published = [row for row in rows(FIGURES["violations"](whole)) if "(published)" in str(row)]
    assert any(row.get("reference") == 0.3218 for row in published)
