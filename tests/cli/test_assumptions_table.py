from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl
import pytest

from tacit.cli.run import echo_runs
from tacit.findings.findings import Findings
from tacit.findings.verdict import Verdict
from tacit.probes.assumptions.block import standing
from tacit.runs.run import Run, Runs
from tests.probes.assumptions.small_run import small_run

Printed = Callable[[Findings], list[str]]
Wording = Literal["sentence", "blank-last"] | None


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """The lines that a terminal of 80 columns shows."""
    monkeypatch.setenv("COLUMNS", "80")

    def lines(findings: Findings) -> list[str]:
        request, manifest = {"probe": "assumptions"}, {"summary": findings.summary}
        run = Run(None, "roberta-large", request, manifest, findings.tables, findings.questions)
        echo_runs(Runs((run,)))
        *told, _ = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").splitlines()
        return told

    return lines


@pytest.fixture
def printed(shown: Printed) -> Printed:
    """The same, each with single spaces."""
    return lambda findings: [" ".join(line.split()) for line in shown(findings)]


@pytest.mark.parametrize("wording", [None, "sentence", "blank-last"])
def test_nothing_is_wider_than_the_terminal(shown: Printed, wording: Wording) -> None:
    """No column of a table is cut, nor any number or interval broken."""
    findings = small_run(wording=wording)
    lines = shown(findings)
    below = next(at for at, line in enumerate(lines) if line.startswith("Verdict: "))
    assert max(map(len, lines[:below])) <= 80
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)
    row = findings.tables["elicitation_by_relation"].row(0, named=True)
    assert any(f"{row['map_low']:.3f} to {row['map_high']:.3f}" in line for line in lines)


def test_retrieval_is_printed_by_number_of_properties(printed: Printed) -> None:
    """Each with interval, chance, share of first places and n."""
    findings = small_run()
    row = findings.tables["retrieval_by_number"].row(
        by_predicate=pl.col("category").is_null()
        & (pl.col("order") == "top-decreasing")
        & (pl.col("n") == 4),
        named=True,
    )
    lines = printed(findings)
    at = next(at for at, line in enumerate(lines) if line.startswith("sentence 4 "))
    assert lines[at] == (
        f"sentence 4 {row['mrr']:.3f} {row['chance_mrr']:.3f} {100 * row['probability']:.1f} % "
        f"{100 * row['first']:.1f} % {row['concepts']}"
    )
    assert lines[at + 1].startswith(f"{row['mrr_low']:.3f} to {row['mrr_high']:.3f} ")


def test_whole_sentences_have_no_column_of_the_probability(printed: Printed) -> None:
    """It is the word's, and unknown."""
    with_it, without = (printed(small_run(wording=wording)) for wording in (None, "sentence"))
    assert any("probability" in line for line in with_it)
    assert not any("probability" in line for line in without)


def test_what_is_not_there_is_not_printed(printed: Printed) -> None:
    """Neither a table without rows nor a summary without entries, other than the verdict."""
    tables = {name: table.clear() for name, table in small_run().tables.items()}
    summary = standing(tables)
    verdict = str(Verdict.of(summary["verdict"]))
    lines = printed(Findings(pl.DataFrame(), tables, summary))
    assert [line for line in lines if line and "Elicitation" not in line] == [verdict]
