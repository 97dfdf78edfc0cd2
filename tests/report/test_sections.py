from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.block import Entry
from tacit.findings.display import Details, Headline
from tacit.findings.spec import ANSWERS, OVERVIEW, PAPER, TABLES, Column
from tacit.report.differences import differences
from tacit.report.sections import Mark, details, section, tables, tiles
from tacit.runs.comparison import by_probe, check_comparable, refusals, warnings_of_questions
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.runs.run import Run
from tests.probes.parts.measured import probe_of
from tests.report.conftest import DRAWINGS


def test_tabs_and_filters_follow_the_declarations_and_the_answers(one_of: dict[str, Run]) -> None:
    """The overview is first, and the paper's figures and tables are last."""
    found = section([one_of["parts"]])
    tabs = {tab.title: tab for tab in found.tabs}
    assert list(tabs)[:2] == [OVERVIEW, ANSWERS]
    assert list(tabs)[-2:] == [PAPER, TABLES]
    for tab in tabs.values():
        assert {each.declared.tab for each in tab.figures} <= {tab.title}
        assert {each.spec.tab for each in tab.tables} <= {tab.title}
    assert set(found.filters) == {"relation", "thing"}
    for name, values in found.filters.items():
        assert list(values) == sorted(set(tabs[ANSWERS].tables[0].table[name]))


def test_a_mark_is_a_value_of_a_table_with_its_chance_level(one_of: dict[str, Run]) -> None:
    """The chance level is a column, a number or another headline's value."""
    run = one_of["consistency"]
    shown = {tile.label: tile.marks[run.name] for tile in tiles([run])}
    row = run.tables["consistency"].row(0, named=True)
    first = shown["Conceptual consistency"]
    assert first.about == f"chance {row['chance']:.3f}, best 1.000, n = 12 anchor questions"
    assert first.positions["reference"] == f"left-{round(10_000 * row['chance'])}"
    assert shown["AUROC of the yes-margin"].positions["reference"] == "left-5000"
    guess = run.tables["anchor_baselines"].filter(baseline="random")["accuracy"].item()
    assert shown["Anchor accuracy"].entry.chance == guess


def test_a_gain_is_shown_only_if_the_verdict_shows_something(one_of: dict[str, Run]) -> None:
    run = one_of["parts"]
    for name in ("constant", "weak"):
        summary = {**run.summary, "verdict": {"verdict": name, "reason": ""}}
        shown = tiles([replace(run, manifest={**run.manifest, "summary": summary})])
        assert ("Accuracy after repair" in {tile.label for tile in shown}) == (name == "weak")


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


PROBE = probe_of(*DRAWINGS)


def runs_of_beliefs(folder: Path, *names: str) -> Sequence[Run]:
    """Runs with beliefs of each drawing's own, a third of them missing."""
    values = [0.9, 0.2, None]
    p = [values[(number + len(row[1])) % 3] for number, row in enumerate(PROBE.statements.rows())]
    found = PROBE.measure_beliefs(
        PROBE.statements.with_columns(p_true=pl.Series(p, dtype=pl.Float64))
    )
    for name in names:
        run = RunFolder(folder / name, {"probe": "parts", "model": name})
        run.begin({"model": {"kind": "beliefs", "name": name}, "data": {"things.tsv": "abc"}})
        run.finish(found)
    return read_runs([folder])


def tables_of(runs: Sequence[Run]) -> dict[str, Details]:
    return {each.spec.name: each for each in (*tables(runs), *details(runs))}


def test_undecided_constraints_are_shown_where_there_are_any(
    tmp_path: Path, one_of: dict[str, Run]
) -> None:
    """In the tables, in a sentence and between models; not where every belief is there."""
    some = runs_of_beliefs(tmp_path, "mine", "yours")
    statements = tables_of(some[:1])["parts-0-statements"].table
    assert statements.height == PROBE.statements.height
    for runs, undecided in (([one_of["parts"]], False), (some, True)):
        found = tables_of(runs)
        for name in ("parts-violation", "parts-violation-by-drawing"):
            shown = found[name].spec.in_table(found[name].table)
            assert ("undecided" in [column.name for column in shown]) == undecided
    said = section(some).blocks[some[0].name].control or ""
    micro = next(row for row in some[0].summary["violation"] if row["constraint"] == "micro")
    assert f"{micro['undecided']} constraints are undecided" in said
    compared = differences(some)
    assert compared is not None
    table, _ = compared.tables
    assert "note" in table.table.columns


@pytest.fixture(scope="module")
def of_parts(all_runs: Sequence[Run]) -> list[Run]:
    return [run for run in all_runs if run.probe == "parts"]


def other(run: Run, request: Mapping[str, Any], manifest: Mapping[str, Any]) -> Run:
    """The run as if it had other options, or another manifest."""
    return replace(run, request={**run.request, **request}, manifest={**run.manifest, **manifest})


def test_models_on_the_same_data_are_compared(all_runs: Sequence[Run]) -> None:
    """Runs that differ in the model alone are compared, and nothing speaks against it."""
    assert refusals(all_runs) == {}
    check_comparable(all_runs)
    of_probes = by_probe(all_runs).values()
    assert not [each for mine in of_probes for each in warnings_of_questions(mine)]
    section = differences(all_runs)
    assert section is not None
    assert section.warnings == ()
    (table,) = (each for each in section.tables if each.spec.name == "comparison")
    assert set(table.table["probe"]) == {"parts", "consistency", "assumptions"}
    names = {column.name for column in table.spec.in_table(table.table)}
    assert "first_chance" in names
    assert "note" not in names


@pytest.mark.parametrize(
    ("request_of_bea", "manifest", "reason"),
    [
        ({}, {"data": {"things.tsv": "other"}}, "the data differ between ada and bea: things.tsv"),
        ({"preset": "macaw"}, {}, "preset differs between ada and bea: plain and macaw"),
        ({}, {"versions": [{"tacit": "0.0.1"}]}, r"version of Tacit differs .* and 0\.0\.1"),
    ],
)
def test_what_differs_beside_the_model_is_refused(
    of_parts: list[Run], request_of_bea: dict[str, Any], manifest: dict[str, Any], reason: str
) -> None:
    """Runs of other data, options or versions are compared only if that is wanted."""
    ada, bea = of_parts
    runs = [ada, other(bea, request_of_bea, manifest)]
    with pytest.raises(RequestError, match=reason) as refused:
        check_comparable(runs)
    assert refused.value.exit_code == 2
    assert "--force" in str(refused.value)
    check_comparable(runs, force=True)


def test_a_file_of_another_name_is_the_same_data(of_parts: list[Run]) -> None:
    """What a file holds counts, and not where it lies; one run is nothing to compare."""
    moved = [
        other(run, {"drawings": folder}, {"data": {f"{folder}/things.tsv": "x"}})
        for run, folder in zip(of_parts, "ab", strict=True)
    ]
    check_comparable(moved)
    with pytest.raises(RequestError, match="nothing to compare: 1 run"):
        check_comparable(moved[:1], force=True)
