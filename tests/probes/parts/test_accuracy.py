"""Accuracy of random stages on the demo's drawings, against plain counting and resampling."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.probes.parts import accuracy
from tacit.probes.parts.accuracy import shifted
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.repair import STAGES
from tests.probes.parts.measured import PARTS, only
from tests.statistics.samples import mean, resampled

Row = dict[str, Any]

SETS = ("all", "agreed by all annotators", "without symmetric relations")
STATEMENT = ("thing", "annotator", "subject", "relation", "object")
ALWAYS = "always_true"


@cache
def beliefs() -> pl.DataFrame:
    """Statements with labels, of which a second annotator of half of the things shares most."""
    drawings = PartsProbe.read(tacit.demo_data("drawings")).drawings
    others = [
        replace(each, annotator="other", relations=each.relations[1:]) for each in drawings[::2]
    ]
    probe = replace(PartsProbe.read(tacit.demo_data("drawings")), drawings=(*drawings, *others))
    n, random = probe.statements.height, np.random.default_rng(1)
    missing, p = random.random(n) < 0.1, random.random(n)
    stages = {stage: random.random(n) < 0.6 for stage in STAGES}
    return probe.statements.with_columns(
        pl.Series("p_true", np.where(missing, np.nan, p), nan_to_null=True),
        *(pl.Series(stage, values) for stage, values in stages.items()),
    ).join(probe.gold, on=STATEMENT, how="left", maintain_order="left")


@cache
def tables() -> dict[str, pl.DataFrame]:
    return accuracy.tables(beliefs(), PARTS.symmetric)


@cache
def labelled() -> list[Row]:
    return beliefs().drop_nulls("label").to_dicts()


@cache
def in_set(name: str) -> list[Row]:
    if name == "all":
        return labelled()
    if name == SETS[2]:
        return [row for row in labelled() if row["relation"] not in PARTS.symmetric]
    annotators, labels = defaultdict(set), defaultdict(list)
    for row in labelled():
        annotators[row["thing"]].add(row["annotator"])
        labels[row["thing"], row["subject"], row["relation"], row["object"]].append(row["label"])
    common = {
        key
        for key, of in labels.items()
        if len(of) == len(annotators[key[0]]) > 1 and len(set(of)) == 1
    }
    keys = [(row["thing"], row["subject"], row["relation"], row["object"]) for row in labelled()]
    return [row for key, row in zip(keys, labelled(), strict=True) if key in common]


def right(row: Row, stage: str) -> bool:
    return bool(row["label"] if stage == ALWAYS else row[stage] is row["label"])


def by_hand(rows: Iterable[Row], stage: str) -> tuple[int, int, float | None]:
    """Those with a belief, those without, and the share of the former that is right."""
    verdicts = [None if row["p_true"] is None else right(row, stage) for row in rows]
    known = [one for one in verdicts if one is not None]
    return len(known), verdicts.count(None), sum(known) / len(known) if known else None


@pytest.mark.parametrize("table", ["accuracy", "accuracy_by_relation", "accuracy_by_thing"])
def test_accuracy_is_what_plain_counting_gives(table: str) -> None:
    """Of each set and gold label, of each relation and of each thing, in every stage."""
    found = tables()[table].to_dicts()
    for row in found:
        rows = in_set(row["set"]) if "set" in row else labelled()
        if row.get("gold", "all") != "all":
            rows = [one for one in rows if one["label"] is (row["gold"] == "true")]
        for key in {"relation", "thing"} & row.keys():
            rows = [one for one in rows if one[key] == row[key]]
        assert (row["n"], row["missing"], row["accuracy"]) == by_hand(rows, row["stage"])
        if ALWAYS in row:
            assert row[ALWAYS] == by_hand(rows, ALWAYS)[2]
    if table == "accuracy":
        keys = [(row["set"], row["gold"], row["stage"]) for row in found]
        golds = ("all", "true", "false")
        assert keys == [(of, gold, stage) for of in SETS for gold in golds for stage in STAGES]
    else:
        key = table.removeprefix("accuracy_by_")
        assert len(found) == 4 * len({row[key] for row in labelled()})


def test_drawings_reach_the_accuracies_that_plain_counting_gives() -> None:
    """In whole numbers: right times 100 against s times asked."""
    drawings: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in labelled():
        drawings[row["thing"], row["annotator"]].append(row)
    for row in tables()["accuracy_by_drawing"].to_dicts():
        for stage in STAGES:
            counted = by_hand(drawings[row["thing"], row["annotator"]], stage)
            assert (row["n"], row["missing"], row[stage]) == counted
    known = [[row for row in rows if row["p_true"] is not None] for rows in drawings.values()]
    known = [rows for rows in known if rows]

    def reaching(s: int, stage: str) -> float:
        enough = [100 * sum(right(row, stage) for row in rows) >= s * len(rows) for rows in known]
        return sum(enough) / len(enough)

    for row in tables()["accuracy_at"].to_dicts():
        assert (row["n"], row["share"]) == (len(known), reaching(row["s"], row["stage"]))
        assert row[ALWAYS] == reaching(row["s"], ALWAYS)
    assert tables()["accuracy_at"]["s"].unique().sort().to_list() == [50, 60, 70, 80, 90, 100]


@pytest.mark.parametrize("name", SETS)
def test_baselines_and_gains_are_what_plain_counting_gives(name: str) -> None:
    """Of judges who always say true or false, or what most labels of the relation are.

    A gain is split into a shift of the threshold and consistency: the shift makes as many beliefs
    true as the stage has, the highest ones.
    """
    labels: dict[str, list[bool]] = defaultdict(list)
    for row in in_set(name):
        if row["p_true"] is not None:
            labels[row["relation"]].append(row["label"])
    n, true = sum(map(len, labels.values())), sum(map(sum, labels.values()))
    majority = sum(max(sum(of), len(of) - sum(of)) for of in labels.values())
    rows = tables()["accuracy_baselines"].filter(set=name)
    assert dict(rows.select("baseline", pl.struct("n", "accuracy")).iter_rows()) == {
        "always true": {"n": n, "accuracy": true / n},
        "always false": {"n": n, "accuracy": (n - true) / n},
        "majority by relation": {"n": n, "accuracy": majority / n},
    }
    known = beliefs().drop_nulls("p_true")
    if name == SETS[2]:
        known = known.filter(~pl.col("relation").is_in(PARTS.symmetric))
    mine = [row for row in in_set(name) if row["p_true"] is not None]
    for stage in STAGES[1:]:
        most = sorted(known["p_true"], reverse=True)[: int(known[stage].sum())]
        shift = sum((row["p_true"] >= most[-1]) is row["label"] for row in mine)
        before, after = (sum(right(row, of) for row in mine) for of in ("before", stage))
        gains = tables()["accuracy_gain"].filter(set=name, objective=stage)
        assert dict(gains.select("part", "gain").iter_rows()) == pytest.approx(
            {
                "whole": (after - before) / n,
                "shift of the threshold": (shift - before) / n,
                "consistency": (after - shift) / n,
            }
        )


def test_intervals_are_what_plain_resampling_gives() -> None:
    """Of a share, and of a gain, whose two sides share their resamples."""
    rows = [row for row in labelled() if row["p_true"] is not None]
    stages = ("paper", "margin", "before")
    paper, margin, before = (np.array([right(row, of) for row in rows], int) for of in stages)
    share = only(tables()["accuracy"], set="all", gold="all", stage="paper")
    gain = only(tables()["accuracy_gain"], set="all", objective="margin", part="whole")
    for name, row, each in (("accuracy", share, paper), ("gain", gain, margin - before)):
        ends = resampled([one["thing"] for one in rows], mean(each))
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, abs=1e-12)


def test_of_more_than_40_things_20_are_best_and_20_worst() -> None:
    twice = pl.concat([beliefs(), beliefs().with_columns(thing=pl.col("thing") + " 2")])
    found = accuracy.tables(twice, PARTS.symmetric)["accuracy_by_thing"].filter(stage="before")
    assert found["band"].to_list() == ["best 20"] * 20 + ["middle"] * 8 + ["worst 20"] * 20


def test_a_shift_gives_the_ties_at_its_threshold_their_share() -> None:
    """Two true of .9, .5, .5, .5: the first, and a third of each of the others."""
    third = 1 / 3
    beliefs = pl.DataFrame(
        {
            "p_true": [0.5, 0.9, None, 0.5, 0.5, 0.1],
            "repaired": [True, True, True, False, False, False],
            "nothing": [False] * 6,
        }
    )
    found = beliefs.select(shifted("repaired"), none=shifted("nothing"))
    assert found.to_series(0).to_list() == [third, 1.0, None, third, third, 0.0]
    assert found["none"].to_list() == [0.0, 0.0, None, 0.0, 0.0, 0.0]
