from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from tacit.cli.assumptions_table import echo_assumptions

from tacit.findings.findings import Findings
from tests.probes.assumptions.findings_by_hand import Made

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[[Findings], list[str]]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """The lines that a terminal of 80 columns shows, each with single spaces."""
    monkeypatch.setenv("COLUMNS", "80")

    def lines(findings: Findings) -> list[str]:
        echo_assumptions(findings, "roberta-large")
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return lines


def test_every_heading_names_the_model_and_the_wording(printed: Printed) -> None:
    """Retrieval its own, the others that of elicitation."""
    text = " ".join(printed(Made(wording="blank-last").findings()))
    assert "roberta-large, wording blank-last: concept retrieval from k properties" in text
    for table in ("Table 1", "Table 2", "Table 3"):
        assert f"{table}, roberta-large, wording blank-last: " in text


def test_nothing_is_wider_than_the_terminal(
    printed: Printed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No column of a table is cut."""
    assert printed(Made().findings())
    monkeypatch.setenv("COLUMNS", "80")
    echo_assumptions(Made().findings(), "m")
    out = capsys.readouterr().out
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    sentences = out.index(" concepts, ")
    assert max(map(len, out[:sentences].splitlines())) <= 80


def test_retrieval_is_printed_by_number_of_properties(printed: Printed) -> None:
    """Each with interval, share of first places and n."""
    findings = Made(skill=1).findings()
    row = findings.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order="top-decreasing", n=4
    )
    mrr, low, high, concepts = row.select("mrr", "mrr_low", "mrr_high", "concepts").row(0)
    wanted = f"4 {mrr:.3f} {low:.2f} to {high:.2f} "
    line = next(line for line in printed(findings) if line.startswith(wanted))
    assert line.endswith(f" {concepts}")


def test_small_probabilities_keep_their_magnitude(printed: Printed) -> None:
    """Such as those of whole sentences, which no decimals show."""
    findings = Made().findings()
    name = "retrieval_by_number"
    tiny = findings.tables[name].with_columns(
        probability=pl.lit(3e-31), probability_low=pl.lit(1e-31), probability_high=pl.lit(5e-31)
    )
    lines = printed(Findings(findings.questions, {**findings.tables, name: tiny}, findings.summary))
    assert sum("3e-31 1e-31 to 5e-31" in line for line in lines) == 6


def test_two_wordings_are_two_tables(printed: Printed) -> None:
    """The paper's and the other."""
    one, two = Made().findings(), Made(wording="blank-last").findings()
    name = "retrieval_by_number"
    both = pl.concat([two.tables[name], one.tables[name]])
    lines = printed(Findings(one.questions, {**one.tables, name: both}, one.summary))
    assert "roberta-large, wording blank-last: concept retrieval from k properties" in lines
    assert "roberta-large, wording sentence: concept retrieval from k properties" in lines


def test_people_stand_beside_the_model(printed: Printed) -> None:
    """Table 1: the five most frequent responses, and the best candidates with probability."""
    findings = Made().findings()
    lines = printed(findings)
    first = lines.index("people frequency model probability")
    assert lines[first + 2].startswith("fur 28 ")
    assert lines[first + 2].endswith(" 0.48")
    best = findings.tables["elicitation_top"].filter(
        concept="bear", relation="has", preface=True, over="vocabulary", place=1
    )["word"][0]
    assert f" {best} " in lines[first + 2]
    assert any("a bear has ___." in line for line in lines)


def test_another_concept_stands_in_for_the_papers(printed: Printed) -> None:
    """The first that has the relation."""
    lines = printed(Made(concepts=("tiger", "duck")).findings())
    assert any("a tiger has ___." in line for line in lines)


def test_princes_own_words_are_starred(printed: Printed) -> None:
    """Table 3, with probabilities in brackets."""
    text = " ".join(printed(Made().findings()))
    assert "person* [0.48], child [0.24]" in text
    assert "history* [0.24]" in text


def test_what_is_undefined_is_a_dash(printed: Printed) -> None:
    """Never 0."""
    findings = Made().findings()
    agreement = findings.tables["agreement"].with_columns(spearman=pl.lit(None, pl.Float64))
    lines = printed(
        Findings(findings.questions, {**findings.tables, "agreement": agreement}, findings.summary)
    )
    row = next(line for line in lines if line.startswith("made of "))
    assert row.endswith(" - 16")


def test_what_is_not_there_is_not_printed(printed: Printed) -> None:
    """Neither a table without rows nor a summary without entries is told of."""
    assert [line for line in printed(Findings(pl.DataFrame(), {}, {})) if line] == []
    tables = {name: table.clear() for name, table in Made().findings().tables.items()}
    lines = printed(Findings(pl.DataFrame(), tables, {"concepts": 3, "missing": 0}))
    assert [line for line in lines if line] == ["3 concepts"]


def test_what_was_asked_and_left_out_is_told(printed: Printed) -> None:
    """In sentences below the tables."""
    text = " ".join(printed(Made().findings()))
    assert "16 concepts, 160 prompts of retrieval, 80 prompts of elicitation" in text
    assert "Concepts left out: 4 not one word, 4 begins with a vowel sound" in text
    assert "Candidates of retrieval: 20,000 words (shared)" in text
    assert "percentile bootstrap (2,000 resamples), clustered by concept" in text
