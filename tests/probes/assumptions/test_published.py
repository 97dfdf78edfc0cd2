import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.findings.published import printed_values
from tacit.probes.assumptions import load_templates
from tacit.probes.assumptions.published import MODELS, published_table
from tests.probes.assumptions.made_up import small_run


@pytest.fixture(scope="module")
def found() -> Findings:
    """A run's findings, as if its model shared as many words as the paper's."""
    run = small_run()
    many = {
        name: run.tables[name].with_columns(candidates=pl.lit(19_998))
        for name in ("retrieval_by_number", "elicitation_by_relation")
    }
    vocabulary = {"name": "shared", "words": 20_000, "shared": 20_000, "own": 28_996}
    summary = {**run.summary, "vocabulary": vocabulary}
    return replace(run, tables={**run.tables, **many}, summary=summary)


def compared(
    found: Findings, model: str | None = "roberta-large", **changed: pl.DataFrame
) -> pl.DataFrame:
    return published_table({**found.tables, **changed}, model, found.summary)


def row_of(table: pl.DataFrame, row: str, column: str = "") -> dict[str, Any]:
    rows = table.filter(pl.col("row") == row, pl.col("column").str.starts_with(column))
    assert rows.height == 1
    return rows.row(0, named=True)


def test_table_2_is_whole() -> None:
    """Five relations, three measures of four models, and the number of prompts."""
    found: dict[str, dict[str, list[str | None]]] = {}
    for one in printed_values("assumptions"):
        if one.table == "2":
            assert one.column == "prompts" or 0 < (one.value or 0) < 1
            found.setdefault(one.column, {}).setdefault(one.row, []).append(one.model)
    relations = load_templates().relations
    assert found.pop("prompts") == {relation: [None] for relation in relations}
    measures = ("mAP vocabulary", "mAP sensible", "spearman")
    models = {relation: list(MODELS) for relation in relations}
    assert found == dict.fromkeys(measures, models)


def test_ours_are_the_findings(found: Findings) -> None:
    """Of every table, taken by hand; all that the paper prints has a counterpart."""
    table = compared(found)
    assert not table.filter(table="text")["ours"].has_nulls()
    by_relation = found.tables["elicitation_by_relation"]
    own = by_relation.filter(relation="has", preface=True, over="sensible")["map"][0]
    assert row_of(table, "has", "mAP sensible")["ours"] == own
    rho = found.tables["agreement"].filter(relation="made of", preface=True)["spearman"][0]
    assert row_of(table, "made of", "spearman")["ours"] == rho
    assert row_of(table, "has", "prompts")["ours"] == 16
    assert row_of(table, "bear has cubs", "production")["ours"] == 7
    assert row_of(table, "ladder is made of aluminum", "production")["ours"] == 6
    history = found.tables["prince"].filter(concept="country", word="history")["logprob"][0]
    ours = row_of(table, "country, has a: history")["ours"]
    assert ours == pytest.approx(math.exp(history))
    mrr = found.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order="top-decreasing", n=1
    )["mrr"][0]
    assert row_of(table, "MRR at 1 property")["ours"] == mrr
    counts = {
        "concepts in the norms": 16,
        "mean number of properties per concept in the norms (approximate)": 16.75,
        "concepts asked about": 16,
        "retrieval prompts": 160,
        "most properties in a prompt": 10,
        "words in the shared vocabulary (roughly)": 42,
        "random sets": 5,
        "random orders of the properties per random selection": 5,
    }
    assert {name: row_of(table, name)["ours"] for name in counts} == counts


def test_what_order_adds_is_the_most_over_numbers(found: Findings) -> None:
    """In the paper's wording and all categories; 0.6 - 0.3 at two properties."""
    values = [0.4, 0.6, *[0.7] * 8, *[0.3] * 10]
    orders = pl.col("order").is_in(["top-decreasing", "top-increasing"])
    table = found.tables["retrieval_by_number"].filter(pl.col("category").is_null(), orders)
    table = table.sort("order", "n").with_columns(mrr=pl.Series(values))
    table = table.with_columns(mrr=pl.when(n=1).then(0.4).when(n=2).then("mrr").otherwise(0.3))
    other = table.with_columns(wording=pl.lit("blank-last"), mrr=pl.lit(0.99))
    row = row_of(
        compared(found, retrieval_by_number=pl.concat([other, table])),
        "most that decreasing order adds (up to)",
    )
    assert row["ours"] == pytest.approx(0.3)


def test_a_word_below_the_best_is_taken_from_peoples_responses(found: Findings) -> None:
    """A word that is neither is missing, not 0."""
    top = found.tables["elicitation_top"].filter(pl.col("word") != "teeth")
    table = compared(found, elicitation_top=top)
    own = found.tables["elicitation"].filter(
        concept="bear", relation="has", word="teeth", over="vocabulary", preface=True
    )["logprob"][0]
    assert row_of(table, "bear has teeth", "probability")["ours"] == pytest.approx(math.exp(own))
    assert row_of(table, "bear has horns", "probability")["ours"] is None


def test_without_a_model_only_data_have_a_difference(found: Findings) -> None:
    """All four models stand beside ours, each named; none is guessed to be the run's."""
    table = compared(found, None)
    rows = table.filter(pl.col("column").str.starts_with("mAP vocabulary"), row="has")
    assert rows["column"].to_list() == [f"mAP vocabulary, {model}" for model in MODELS]
    assert rows["published"].to_list() == [0.098, 0.043, 0.151, 0.317]
    columns = table.filter(pl.col("table") != "text").drop_nulls("difference")["column"]
    assert set(columns) == {"prompts", "production frequency"}


def test_a_model_has_its_own_figures_only(found: Findings) -> None:
    """Tables 1 and 3 and the text's figures are of the large RoBERTa alone; a mean of no one."""
    base, large = (compared(found, model) for model in ("bert-base", "roberta-large"))
    assert row_of(base, "has", "mAP vocabulary")["published"] == 0.098
    assert "3" not in set(base["table"])
    assert "MRR at 1 property" not in set(base["row"])
    assert "MRR at 1 property" in set(large["row"])
    assert base.filter(table="1")["column"].unique().to_list() == ["production frequency"]
    mean = row_of(large, "is a: mAP without the preface, less with")
    assert (mean["published"], mean["difference"]) == (0.06, None)
    with pytest.raises(RequestError, match="bert-base, bert-large, roberta-base, roberta-large"):
        compared(found, "gpt2")


@pytest.mark.parametrize(
    ("changed", "vocabulary", "note"),
    [
        ({"candidates": 34}, {}, "words: 34, but 17,958 to 21,018 in the paper"),
        ({"wording": "blank-last"}, {}, "wording: blank-last, but sentence in the paper"),
        ({}, {"shared": 28_996, "own": 28_996}, "vocabulary: own, but shared in the paper"),
    ],
)
def test_ranks_of_other_words_have_no_difference(
    found: Findings, changed: dict[str, Any], vocabulary: dict[str, Any], note: str
) -> None:
    usual = row_of(compared(found), "MRR at 1 property")
    assert (usual["difference"] is None, usual["note"]) == (False, None)
    table = found.tables["retrieval_by_number"]
    other = table.with_columns(**{name: pl.lit(of) for name, of in changed.items()})
    summary = {**found.summary, "vocabulary": {**found.summary["vocabulary"], **vocabulary}}
    one = row_of(
        compared(replace(found, summary=summary), "roberta-large", retrieval_by_number=other),
        "MRR at 1 property",
    )
    assert one["ours"] is not None
    assert (one["difference"], one["note"]) == (None, note)
    assert one["candidates"] == changed.get("candidates", usual["candidates"])
