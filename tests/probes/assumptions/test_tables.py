"""The declared tables of the probe: what every run has, and what is made for reading."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.errors import FindingsError
from tacit.findings.compare import COMPARISON
from tacit.probes.assumptions.compare import compare
from tacit.probes.assumptions.probe import Assumptions
from tacit.probes.assumptions.sentences import notes, sentences
from tacit.probes.assumptions.tables import TABLES
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.statistics import Bootstrap
from tests.probes.assumptions.findings_by_hand import Made

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.findings.spec import TableSpec, View

FINDINGS = Made().findings()


def views(most: int = 10**6) -> dict[str, View]:
    """The tables for reading by their names."""
    return {view.spec.name: view for view in Assumptions.views(FINDINGS, {}, most)}


@pytest.mark.parametrize("spec", TABLES.values(), ids=lambda spec: spec.name)
def test_every_column_is_declared_with_a_meaning(spec: TableSpec) -> None:
    """A table with another column is refused."""
    assert all(column.meaning.endswith(".") for column in spec.columns)
    tables = {"questions": FINDINGS.questions, **FINDINGS.tables}
    table = tables[spec.name]
    spec.check(table)
    with pytest.raises(FindingsError, match="undeclared column other"):
        spec.check(table.with_columns(other=1))


def test_a_comparison_is_as_declared() -> None:
    """In its columns and what they hold; the terminal shows 1, 4 and 10 properties."""
    table = compare({"a": FINDINGS, "b": Made(seed=1).findings()}, Bootstrap(20))
    COMPARISON.check(table)
    assert set(table.filter("printed")["properties"]) == {None, 1, 4, 10}
    assert set(table.filter(~pl.col("printed"))["properties"]) == {2, 3, 5, 6, 7, 8, 9}
    assert table["figure"].n_unique() == table.height


def test_headlines_are_rows_of_their_tables() -> None:
    """Each names a column of a table that is declared or made for reading, in words."""
    found = views()
    for headline in Assumptions.headlines:
        view = found[headline.table]
        view.spec.check(view.table)
        assert headline.column in view.table.columns
        assert not view.spec.shown
    assert found["headline-retrieval"].table["of"].to_list() == [
        "1 property",
        "4 properties",
        "10 properties",
    ]


def test_headlines_of_several_wordings_name_them() -> None:
    """Each has marks of its own."""
    other = Made(wording="blank-last").findings().tables["retrieval_by_number"]
    both = pl.concat([FINDINGS.tables["retrieval_by_number"], other])
    findings = replace(FINDINGS, tables={**FINDINGS.tables, "retrieval_by_number": both})
    view = next(iter(Assumptions.views(findings, {}, 0)))
    assert {"sentence, 1 property", "blank-last, 10 properties"} < set(view.table["of"])
    assert view.table.height == 6


def test_views_are_as_they_are_declared() -> None:
    """Their columns are in their tables, and what opens behind a row has its key."""
    found = views()
    for view in found.values():
        assert view.spec.in_table(view.table)
        for name in view.opens:
            assert found[name].behind == view.key
            assert view.key in found[name].table.columns
    assert found["concepts"].opens == (
        *("retrieval", "retrieval-top", "elicitation", "elicitation-top"),
    )


def test_behind_a_concept_are_its_prompts_and_its_ranks() -> None:
    """As the findings have them; of too many rows a sample, which the table says."""
    row = views()["concepts"].table.row(by_predicate=pl.col("concept") == "bear", named=True)
    main = FINDINGS.tables["retrieval"].filter(
        pl.col("category").is_null(), order="top-decreasing", concept="bear"
    )
    for n in (1, 4, 10):
        assert row[f"rank_{n}"] == main.filter(n=n)["rank"][0]
    some = views(most=2_000)
    assert some["concepts"].table.height < 16
    assert "Shown: a sample of" in some["concepts"].spec.reading
    assert set(some["retrieval"].table["concept"]) == set(some["concepts"].table["concept"])


def test_sentences_tell_the_main_figures() -> None:
    """Each a whole sentence, with its interval, candidates and chance."""
    told = list(sentences(FINDINGS))
    row = views()["headline-retrieval"].table.row(0, named=True)
    ends = f"95 % CI {row['mrr_low']:.3f} to {row['mrr_high']:.3f}"
    text = " ".join(told).replace("\N{NO-BREAK SPACE}", " ")
    assert f"{row['mrr']:.3f} ({ends}) given 1 property" in text
    assert "of the correct concept among 19,998 candidate words is " in text
    assert (
        f"for random rankings, the mean reciprocal rank would be {row['chance_mrr']:.3f}." in text
    )
    assert "2 candidates have several tokens; the score of such a candidate is the sum" in text
    assert "3 candidates could not be scored and are excluded from the rankings." in text
    assert all(each.endswith(".") for each in (*told, *notes(FINDINGS)))


@pytest.mark.parametrize("split", [0, 1, 7])
def test_concepts_of_several_tokens_are_told(split: int) -> None:
    """With why they rank low; nothing if every concept is a token."""
    vocabulary = {"name": "concepts", "words": 9, "not_own": split, "own_left_out": 3}
    summary = {**FINDINGS.summary, "vocabulary": vocabulary}
    told = " ".join(sentences(replace(FINDINGS, summary=summary)))
    assert (f"The model has no single token for {split} of the candidate words." in told) == bool(
        split
    )
    assert ("rank low for this reason alone" in told) == bool(split)


def test_the_share_of_namings_is_told() -> None:
    """Beside the share of properties."""
    properties = {"all": 10, "usable": 8, "no wording": 2}
    summary = {**FINDINGS.summary, "properties": properties}
    summary["namings"] = {"all": 200, "left_out": 50}
    told = " ".join(sentences(replace(FINDINGS, summary=summary)))
    assert (
        "8 of 10 properties can be part of a prompt; if each property is "
        "weighted by the number of people who named it, "
        "75.0\N{NO-BREAK SPACE}% of the properties can be part of a prompt." in told
    )


def test_what_was_dropped_and_counted_is_told() -> None:
    """Of the norms, the responses and a vocabulary of one's own."""
    summary = {
        **FINDINGS.summary,
        "wordings": ["blank-last", "sentence"],
        "vocabulary": {"name": "file", "words": 4, "not_own": 1, "own_left_out": 1_200},
        "properties": {"all": 10, "usable": 8, "names its concept": 2, "corrected": 1},
        "worded_by_feature": {"no wording": 3},
        "uncounted": {"alternatives without participants": [1, 2]},
        "responses": {"counted by the feature": 5, "none": 0},
        "elicitation_steps": [{"filter": "several words", "removed": 2, "left": 1}],
    }
    told = list(sentences(replace(FINDINGS, summary=summary)))
    for sentence in (
        (
            "In retrieval, each prompt has 4 candidate words (option --vocabulary file, wording "
            "blank-last)."
        ),
        (
            "The file of candidates contains 1 word for which the model has no single token. The "
            "model's vocabulary contains 1,200 single-token words that are not in the file of "
            "candidates."
        ),
        "8 of 10 properties can be part of a prompt.",
        "Properties that are left out of prompts, by reason: names its concept (2).",
        (
            "Properties that are worded by their name in the feature norms instead of in a "
            "participant's words, by reason: no wording (3)."
        ),
        (
            "Rows of the feature norms that do not show how many participants used each wording "
            "(alternative) of a property, by reason: alternatives without participants (2)."
        ),
        "Responses that are not used exactly as people gave them: counted by the feature (5).",
        "Number of concepts left out of elicitation, by filter: several words (2).",
    ):
        assert sentence in told


def test_candidates_that_differ_with_the_preface_are_told_apart() -> None:
    """Else they are told once."""
    name = "elicitation_by_relation"
    fewer = pl.when(pl.col("preface")).then(pl.col("candidates")).otherwise(7)
    table = FINDINGS.tables[name].with_columns(candidates=fewer.cast(pl.Int64))
    told = list(sentences(replace(FINDINGS, tables={**FINDINGS.tables, name: table})))
    (without,) = (
        each for each in told if each.startswith("Number of candidate words in elicitation without")
    )
    assert "7 words in the set “vocabulary”; 7 words in the set “sensible”" in without
    assert sum(each.startswith("Number of candidate words in elicitation") for each in told) == 2
    assert (
        sum(
            each.startswith("Number of candidate words in elicitation")
            for each in sentences(FINDINGS)
        )
        == 1
    )


def test_the_questions_of_a_finished_run_are_read(tmp_path: Path) -> None:
    """With their lists of best candidates."""
    run = RunFolder(tmp_path, {"probe": "assumptions", "model": "m"})
    run.begin({"model": {}, "data": {}})
    run.finish(FINDINGS)
    (found,) = read_runs([tmp_path])
    assert found.questions.to_dicts() == FINDINGS.questions.to_dicts()
