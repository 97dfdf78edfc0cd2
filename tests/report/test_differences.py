from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import RequestError
from tacit.report.differences import differences
from tacit.runs.comparison import (
    by_probe,
    check_comparable,
    refusals,
    warnings_of_questions,
)
from tacit.runs.reading import read_runs
from tacit.runs.run import Run


@pytest.fixture(scope="module")
def of_parts(runs: Path) -> list[Run]:
    return [read_runs([runs / f"parts-{name}"])[0] for name in ("ada", "bea")]


def other(run: Run, request: Mapping[str, Any], manifest: Mapping[str, Any]) -> Run:
    """The run as if it had other options, or another manifest."""
    return replace(run, request={**run.request, **request}, manifest={**run.manifest, **manifest})


@pytest.mark.slow
def test_models_on_the_same_data_are_compared(runs: Path) -> None:
    """Runs that differ in the model alone are compared, and nothing speaks against it."""
    found = read_runs([runs])
    assert refusals(found) == {}
    check_comparable(found)
    section = differences(found)
    assert section is not None
    (table,) = (each for each in section.tables if each.spec.name == "comparison")
    assert set(table.table["probe"]) == {"parts", "consistency", "assumptions"}


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
    """What a file holds counts, and not where it lies."""
    check_comparable(
        [
            other(run, {"drawings": folder}, {"data": {f"{folder}/things.tsv": "x"}})
            for run, folder in zip(of_parts, "ab", strict=True)
        ]
    )


def test_one_run_is_nothing_to_compare(of_parts: list[Run]) -> None:
    """A single run is refused, even when forced."""
    with pytest.raises(RequestError, match="nothing to compare: 1 run"):
        check_comparable(of_parts[:1], force=True)


def test_the_same_wording_is_not_warned_of(runs: Path) -> None:
    """Nor has a table without notes a column for them."""
    found = read_runs([runs])
    assert not [each for mine in by_probe(found).values() for each in warnings_of_questions(mine)]
    section = differences(found)
    assert section is not None
    assert section.warnings == ()
    table, _ = section.tables
    assert "note" not in {column.name for column in table.spec.in_table(table.table)}
    assert "first_chance" in {column.name for column in table.spec.in_table(table.table)}
    assert "mean reciprocal rank, 1 property stated (sentence)" in set(table.table["measure"])
