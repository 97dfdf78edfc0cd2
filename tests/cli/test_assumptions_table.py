from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.cli.run import echo_runs
from tacit.findings.findings import Findings
from tacit.findings.verdict import Verdict
from tacit.probes.assumptions.block import standing
from tacit.runs.comparison import Together
from tacit.runs.reading import Run
from tests.probes.assumptions.findings_by_hand import Made

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[[Findings], list[str]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """The lines that a terminal of 80 columns shows."""
    monkeypatch.setenv("COLUMNS", "80")

    def lines(findings: Findings) -> list[str]:
        request, manifest = {"probe": "assumptions"}, {"summary": findings.summary}
        run = Run(None, "roberta-large", request, manifest, findings.tables, findings.questions)
        echo_runs({run.name: run}, Together())
        *told, _ = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").splitlines()
        return told

    return lines


@pytest.fixture
def printed(shown: Printed) -> Printed:
    """The same, each with single spaces."""
    return lambda findings: [" ".join(line.split()) for line in shown(findings)]


def test_every_heading_names_the_model_and_the_wording(printed: Printed) -> None:
    """Retrieval its own, the others that of elicitation, and the paper that the table is of."""
    text = " ".join(printed(Made(wording="blank-last").findings()))
    assert "roberta-large: concept retrieval from k properties, wording blank-last" in text
    for table in ("Table 1", "Table 2", "Table 3"):
        assert f"({table} of Weir et al. 2020, wording blank-last)" in text


@pytest.mark.parametrize("made", [Made(), Made(kind="causal"), Made(wording="blank-last")])
def test_nothing_is_wider_than_the_terminal(shown: Printed, made: Made) -> None:
    """No column of a table is cut, nor any number or interval broken."""
    findings = made.findings()
    lines = shown(findings)
    below = next(at for at, line in enumerate(lines) if line.startswith("Verdict: "))
    assert below > 40
    assert max(map(len, lines[:below])) <= 80
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)
    row = findings.tables["elicitation_by_relation"].row(0, named=True)
    assert any(f"{row['map_low']:.3f} to {row['map_high']:.3f}" in line for line in lines)


def test_retrieval_is_printed_by_number_of_properties(printed: Printed) -> None:
    """Each with interval, chance, share of first places and n."""
    findings = Made(skill=1).findings()
    row = findings.tables["retrieval_by_number"].row(
        by_predicate=pl.col("category").is_null()
        & (pl.col("order") == "top-decreasing")
        & (pl.col("n") == 4),
        named=True,
    )
    lines = printed(findings)
    at = next(at for at, line in enumerate(lines) if line.startswith("4 "))
    assert lines[at] == (
        f"4 {row['mrr']:.3f} {row['chance_mrr']:.3f} {100 * row['probability']:.1f} % "
        f"{100 * row['first']:.1f} % {row['concepts']}"
    )
    assert lines[at + 1].startswith(f"{row['mrr_low']:.3f} to {row['mrr_high']:.3f} ")


def test_small_probabilities_are_not_nought(printed: Printed) -> None:
    """Such as those of whole sentences, which no decimals show."""
    findings = Made().findings()
    name = "retrieval_by_number"
    tiny = findings.tables[name].with_columns(
        probability=pl.lit(3e-31), probability_low=pl.lit(1e-31), probability_high=pl.lit(5e-31)
    )
    lines = printed(replace(findings, tables={**findings.tables, name: tiny}))
    assert sum(" < 0.1 % " in line for line in lines) == 6
    assert sum(line.endswith(" < 0.1 to < 0.1") for line in lines) == 6


def test_of_whole_sentences_the_probability_among_candidates_is_printed(printed: Printed) -> None:
    """Of a causal model in the wording sentence; its heading says so."""
    findings = Made(kind="causal").findings()
    first = findings.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order="top-decreasing", n=1
    )
    lines = printed(findings)
    line = next(line for line in lines if line.startswith("1 "))
    assert f" {100 * first['renormalised'][0]:.1f} % " in line
    assert {"among", "MRR candidates"} <= set(lines)
    assert "MRR probability" in printed(Made().findings())


def test_two_wordings_are_two_tables(printed: Printed) -> None:
    """The paper's and the other."""
    one, two = Made().findings(), Made(wording="blank-last").findings()
    name = "retrieval_by_number"
    both = pl.concat([two.tables[name], one.tables[name]])
    lines = printed(replace(one, tables={**one.tables, name: both}))
    for wording in ("blank-last", "sentence"):
        title = f"roberta-large: concept retrieval from k properties, wording {wording}"
        assert title in " ".join(lines)
    assert sum(line.startswith(("1 ", "10 ")) for line in lines) == 4


def test_people_stand_beside_the_model(printed: Printed) -> None:
    """Table 1: the five most frequent responses, and the best candidates with probability."""
    findings = Made().findings()
    lines = printed(findings)
    first = lines.index("people frequency model probability")
    assert lines[first + 2].startswith("fur 28 ")
    assert lines[first + 2].endswith(" 0.480")
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
    assert "person* [0.480], child [0.240]" in text
    assert " history* " in text
    assert " leader* " in text


def test_what_is_undefined_is_said_to_be(printed: Printed) -> None:
    """Never 0."""
    findings = Made().findings()
    agreement = findings.tables["agreement"].with_columns(spearman=pl.lit(None, pl.Float64))
    lines = printed(replace(findings, tables={**findings.tables, "agreement": agreement}))
    row = next(line for line in lines if line.startswith("made of "))
    assert row.endswith(" undefined 16")


def test_what_is_not_there_is_not_printed(printed: Printed) -> None:
    """Neither a table without rows nor a summary without entries, other than the verdict."""
    tables = {name: table.clear() for name, table in Made().findings().tables.items()}
    summary = standing(tables)
    verdict = str(Verdict.of(summary["verdict"]))
    lines = printed(Findings(pl.DataFrame(), tables, summary))
    assert " ".join(line for line in lines if line) == verdict
    lines = printed(Findings(pl.DataFrame(), tables, {**summary, "several": 3, "missing": 0}))
    told = (
        f"{verdict} 3 candidates have several tokens; the score of such a candidate is the sum of "
        "the tokens' log-probabilities."
    )
    assert " ".join(line for line in lines if line) == told


def test_what_was_asked_and_left_out_is_told(printed: Printed) -> None:
    """In sentences below the tables."""
    text = " ".join(printed(Made().findings()))
    assert (
        "given 80 elicitation prompts. Each elicitation prompt asks for the properties of a "
        "concept." in text
    )
    assert "The model was given 160 retrieval prompts for 16 concepts" in text
    assert "Concepts left out, by filter: not one word (4), begins with a vowel sound (4)." in text
    assert (
        "In retrieval, each prompt has 20,000 candidate words (option --vocabulary shared)." in text
    )
    assert (
        "percentile bootstrap intervals, computed by resampling concepts (2,000 resamples, seed 0)."
        in text
    )
    assert (
        "Number of candidate words in elicitation: 20,000 words in the set “vocabulary”; 60 words "
        "in the set “sensible”." in text
    )
