from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tacit.runs.comparison import unsized
from tacit.runs.notes import missing
from tacit.runs.reading import read_runs
from tests.report.conftest import assumptions_run, consistency_run, parts_run


def test_metrics_are_the_values_of_the_headlines(tmp_path: Path) -> None:
    """By the labels of the headlines, which have the values of the rows that they show."""
    (run,) = read_runs([consistency_run(tmp_path / "run")])
    row = run.tables["consistency"].row(0, named=True)
    assert json.loads((tmp_path / "run" / "metrics.json").read_text()) == run.metrics
    for end in ("", "_low", "_high"):
        assert run.metrics[f"consistency/auroc{end}"] == row[f"auroc{end}"]
    assert (run.metrics["consistency/auroc_n"], run.metrics["consistency/auroc_chance"]) == (
        12,
        0.5,
    )
    assert run.block is not None
    assert run.verdict == run.block.verdict
    (other,) = read_runs([assumptions_run(tmp_path / "other")])
    table = other.tables["elicitation_by_relation"].filter(preface=True, over="vocabulary")
    for relation, value in table.select("relation", "map").rows():
        label = f"mean_average_precision_{relation}".replace(" ", "_")
        assert other.metrics[f"assumptions/{label}"] == pytest.approx(value)


def test_the_size_of_a_computed_sample_is_a_metric(tmp_path: Path) -> None:
    (run,) = read_runs([parts_run(tmp_path / "run")])
    rate = run.tables["violation"].row(
        by_predicate=(pl.col("constraint") == "micro") & (pl.col("stage") == "before"), named=True
    )
    n = run.metrics["parts/constraint_violations_n"]
    assert n == rate["applicable"] - rate["undecided"] > 0


def test_runs_have_the_order_that_is_given_or_that_of_their_starts(tmp_path: Path) -> None:
    first, second = tmp_path / "runs" / "b", tmp_path / "runs" / "a"
    for folder in (first, second):
        parts_run(folder)
    assert [run.folder for run in read_runs([tmp_path / "runs"])] == [first, second]
    assert [run.folder for run in read_runs([second, first])] == [second, first]


def test_a_model_of_unknown_size_is_in_no_table_of_slopes(tmp_path: Path) -> None:
    """The warning names the options that give what is unknown."""
    (run,) = read_runs([parts_run(tmp_path / "run")])
    (line,) = unsized([run])
    assert line.endswith("are unknown; repeat the run with --family and --parameters")
    manifest = {**run.manifest, "model": {"family": "opt", "parameters": 1}}
    assert not list(unsized([replace(run, manifest=manifest)]))


def test_what_is_missing_is_counted() -> None:
    """Skipped prompts, answers without a score, unparsed replies."""
    votes = {"replies": 10, "unparsed": 4, "truncated": 1}
    lines = missing({"skipped": 2, "unscored": {"outside": 3}, "votes": votes})
    assert [line.split()[0] for line in lines] == ["2", "3", "4"]
    votes["unparsed"] = 0
    assert not list(missing({"skipped": 0, "votes": votes}))
