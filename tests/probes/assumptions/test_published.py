from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.published import printed_values
from tacit.probes.assumptions.published import MODELS, published_table
from tacit.probes.assumptions.template import load_templates
from tests.probes.assumptions.findings_by_hand import Made, frame

if TYPE_CHECKING:
    from tacit.findings.findings import Findings

DATA = ("prompts", "production frequency")


@pytest.fixture(scope="module")
def found() -> Findings:
    """A run's findings."""
    return Made(skill=1).findings()


def row_of(table: pl.DataFrame, row: str, column: str = "") -> dict[str, Any]:
    """The one row of a name whose column begins so."""
    rows = table.filter(pl.col("row") == row, pl.col("column").str.starts_with(column))
    assert rows.height == 1
    return rows.row(0, named=True)


def table_2(measure: str) -> dict[str, dict[str | None, float | None]]:
    """A measure of Table 2 by relation and model."""
    found: dict[str, dict[str | None, float | None]] = {}
    for one in printed_values("assumptions"):
        if (one.table, one.column) == ("2", measure):
            found.setdefault(one.row, {})[one.model] = one.value
    return found


def test_table_2_is_whole() -> None:
    """Five relations, three measures of four models, and the number of prompts."""
    for measure in ("mAP vocabulary", "mAP sensible", "spearman"):
        table = table_2(measure)
        assert list(table) == list(load_templates().relations)
        for values in table.values():
            assert list(values) == list(MODELS)
            assert all(value is not None and 0 < value < 1 for value in values.values())
    prompts = {relation: values[None] for relation, values in table_2("prompts").items()}
    assert prompts == load_templates().published


def test_the_sensible_words_are_always_easier() -> None:
    """As the paper says of its Table 2 ("performance increases ubiquitously")."""
    sensible = table_2("mAP sensible")
    for relation, values in table_2("mAP vocabulary").items():
        for model, value in values.items():
            easier = sensible[relation][model]
            assert value is not None
            assert easier is not None
            assert easier > value


def test_roberta_large_has_up_to_double_the_precision() -> None:
    """As the paper says of it: it is the best everywhere, and of has it has twice the next."""
    ratios = []
    for values in table_2("mAP vocabulary").values():
        *others, best = (value or 0 for value in values.values())
        assert best > max(others)
        ratios.append(best / max(others))
    assert 2 < max(ratios) < 2.4


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        ("made of", "mAP sensible", 0.533),
        ("is a", "spearman", 0.386),
        ("has", "prompts", 564),
        ("bear has teeth", "probability", 0.30),
        ("bear has cubs", "production frequency", 7),
        ("ladder is made of aluminum", "probability", 0.03),
        ("person: child", "probability", 0.1),
        ("country, has a: constitution", "probability", 0.23),
        ("MRR at 1 property", "", 0.23),
        ("concepts in the norms", "", 638),
    ],
)
def test_a_published_value_stands_in_its_row(row: str, column: str, value: float) -> None:
    """As the paper prints it."""
    assert row_of(published_table({}, "roberta-large"), row, column)["published"] == value


def test_a_range_keeps_both_ends() -> None:
    """And has no single value."""
    row = row_of(published_table({}), "MRR at 10 properties")
    assert (row["low"], row["high"], row["published"]) == (0.5, 0.85, None)


def test_a_run_without_findings_has_nothing_of_ours() -> None:
    """Missing is null, and so is its difference."""
    table = published_table({}, "bert-base", {})
    assert table["ours"].is_null().all()
    assert table["difference"].is_null().all()
    assert table.schema["ours"] == table.schema["published"] == pl.Float64


def test_empty_findings_are_as_absent_ones(found: Findings) -> None:
    """Nothing is read from a table without rows."""
    empty = {name: table.clear() for name, table in found.tables.items()}
    assert published_table(empty, "bert-base").equals(published_table({}, "bert-base"))


def test_ours_are_the_findings(found: Findings) -> None:
    """Of every table, taken by hand."""
    table = published_table(found.tables, "roberta-large", found.summary)
    by_relation = found.tables["elicitation_by_relation"]
    own = by_relation.filter(relation="has", preface=True, over="sensible")["map"][0]
    assert row_of(table, "has", "mAP sensible")["ours"] == own
    rho = found.tables["agreement"].filter(relation="made of", preface=True)["spearman"][0]
    assert row_of(table, "made of", "spearman")["ours"] == rho
    assert row_of(table, "has", "prompts")["ours"] == 16
    assert row_of(table, "bear has cubs", "production")["ours"] == 8
    # The model's second word of Prince's country has a probability of 0.24.
    assert row_of(table, "country, has a: history")["ours"] == pytest.approx(0.24)
    mrr = found.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order="top-decreasing", n=1
    )["mrr"][0]
    assert row_of(table, "MRR at 1 property")["ours"] == mrr
    counts = {
        "concepts in the norms": 24,
        "concepts asked about": 16,
        "retrieval prompts": 160,
        "most properties in a prompt": 10,
        "words in the shared vocabulary (roughly)": 16,
        "random sets": 2,
        "random orders of the properties per random selection": 2,
    }
    assert {name: row_of(table, name)["ours"] for name in counts} == counts


def test_properties_of_the_average_concept() -> None:
    """All properties by all concepts of the norms, the ones that filters removed included."""
    summary = {"steps": [{"removed": 4, "left": 6}], "properties": {"all": 345}}
    name = "mean number of properties per concept in the norms (approximate)"
    assert row_of(published_table({}, None, summary), name)["ours"] == 34.5
    assert row_of(published_table({}, None, {**summary, "steps": []}), name)["ours"] is None


def test_what_order_adds_is_the_most_over_numbers() -> None:
    """In the paper's wording and all categories; 0.6 - 0.3 at two properties."""
    rows = [
        ("sentence", order, None, n, 20_000, 5e-4, mrr)
        for order, values in (("top-decreasing", (0.4, 0.6, 0.7)), ("top-increasing", (0.3, 0.3)))
        for n, mrr in enumerate(values, 1)
    ]
    rows += [("blank-last", "top-decreasing", None, 1, 20_000, 5e-4, 0.99)]
    table = frame(rows, "wording order category n candidates chance_mrr mrr").with_columns(
        pl.col("category").cast(pl.String)
    )
    found = row_of(
        published_table({"retrieval_by_number": table}), "most that decreasing order adds (up to)"
    )
    assert found["ours"] == pytest.approx(0.3)


def test_a_response_is_found_in_either_spelling(found: Findings) -> None:
    """The norms have aluminium where the paper prints aluminum."""
    table = published_table(found.tables, "roberta-large")
    concept = found.tables["elicitation"].filter(
        concept="ladder", relation="made of", word="aluminium", over="vocabulary", preface=True
    )
    row = row_of(table, "ladder is made of aluminum", "production")
    assert row["ours"] == concept["frequency"][0]


def test_a_word_below_the_best_is_taken_from_peoples_responses(found: Findings) -> None:
    """A word that is neither is missing, not 0."""
    top = found.tables["elicitation_top"].filter(pl.col("word") != "teeth")
    table = published_table({**found.tables, "elicitation_top": top}, "roberta-large")
    own = found.tables["elicitation"].filter(
        concept="bear", relation="has", word="teeth", over="vocabulary", preface=True
    )["logprob"][0]
    assert row_of(table, "bear has teeth", "probability")["ours"] == pytest.approx(math.exp(own))
    assert row_of(table, "bear has horns", "probability")["ours"] is None


def test_difference_is_ours_less_published(found: Findings) -> None:
    """Of a range: 0 within it, else to its nearer end."""
    table = published_table(found.tables, "roberta-large")
    both = table.drop_nulls(["ours", "published", "difference"])
    assert both.height > 20
    for row in both.iter_rows(named=True):
        assert row["difference"] == pytest.approx(row["ours"] - row["published"], abs=1e-6)
    by_number = found.tables["retrieval_by_number"]
    for mrr, difference in ((0.4, -0.1), (0.5, 0), (0.7, 0), (0.9, 0.05)):
        changed = {"retrieval_by_number": by_number.with_columns(mrr=pl.lit(mrr))}
        row = row_of(published_table(changed, "bert-base"), "MRR at 10 properties")
        assert row["difference"] == pytest.approx(difference)


def test_without_a_model_only_data_have_a_difference(found: Findings) -> None:
    """All four models stand beside ours, each named; none is guessed to be the run's."""
    table = published_table(found.tables, None, found.summary)
    rows = table.filter(pl.col("row") == "has", pl.col("column").str.starts_with("mAP vocabulary"))
    assert rows["column"].to_list() == [f"mAP vocabulary, {model}" for model in MODELS]
    assert rows["published"].to_list() == [0.098, 0.043, 0.151, 0.317]
    assert rows["ours"].n_unique() == 1
    with_difference = table.drop_nulls("difference")
    told = set(with_difference.filter(pl.col("table") != "text")["column"])
    assert told == set(DATA)
    assert not any(model in column for model in MODELS for column in with_difference["column"])


def test_a_model_has_its_own_figures_only() -> None:
    """Tables 1 and 3 and the text's figures are of the large RoBERTa alone."""
    base, large = (published_table({}, model) for model in ("bert-base", "roberta-large"))
    assert row_of(base, "has", "mAP vocabulary")["published"] == 0.098
    assert "3" not in set(base["table"])
    assert "MRR at 1 property" not in set(base["row"])
    assert "MRR at 1 property" in set(large["row"])
    assert base.filter(table="1")["column"].unique().to_list() == ["production frequency"]


def test_a_mean_over_models_is_compared_with_none(found: Findings) -> None:
    """One run is no mean over four models."""
    table = published_table(found.tables, "roberta-large")
    row = row_of(table, "is a: mAP without the preface, less with")
    assert row["published"] == 0.06
    assert row["ours"] is not None
    assert row["difference"] is None
    assert "mean over the four models" in row["column"]


def test_every_printed_value_has_one_of_ours(found: Findings) -> None:
    """From a table and a column that there are; what these findings do not hold is missing."""
    table = published_table(found.tables, "roberta-large", found.summary).filter(table="text")
    missing = set(table.filter(pl.col("ours").is_null())["row"])
    assert missing == {
        "mean number of properties per concept in the norms (approximate)",
        "concepts of a perceptual property",
        "concepts of another property",
    }


def test_a_model_that_the_paper_has_not_is_refused() -> None:
    """With the names of those it has."""
    with pytest.raises(RequestError, match="bert-base, bert-large, roberta-base, roberta-large"):
        published_table({}, "gpt2")


def test_ranks_among_other_candidates_have_no_difference(found: Findings) -> None:
    """34 words are not the paper's vocabulary; ours stands with its candidates and the reason."""
    name = "retrieval_by_number"
    few = found.tables[name].with_columns(candidates=34, chance_mrr=0.121)
    row = row_of(published_table({name: few}, "roberta-large", found.summary), "MRR at 1 property")
    assert row["ours"] is not None
    assert (row["difference"], row["candidates"], row["chance"]) == (None, 34, 0.121)
    assert row["note"] == "words: 34, but 17,958 to 21,018 in the paper"
    row = row_of(published_table(found.tables, "roberta-large", found.summary), "MRR at 1 property")
    assert row["difference"] is not None
    assert (row["candidates"], row["note"]) == (19_998, None)


def test_the_words_of_one_model_are_not_those_that_models_share(found: Findings) -> None:
    """Even where there are as many of them."""
    for told in ({"name": "own"}, {"name": "shared", "shared": 20_000, "own": 20_000}):
        summary = {**found.summary, "vocabulary": told}
        table = published_table(found.tables, "roberta-large", summary)
        row = row_of(table, "MRR at 10 properties")
        assert row["difference"] is None
        assert row["note"] == "vocabulary: own, but shared in the paper"


def test_average_precision_among_other_words_has_no_difference(found: Findings) -> None:
    """A model of the paper has from 17,958 words to its whole vocabulary."""
    name = "elicitation_by_relation"
    few = found.tables[name].with_columns(candidates=1_876)
    row = row_of(published_table({name: few}, "bert-base", found.summary), "has", "mAP vocabulary")
    assert (row["difference"], row["candidates"]) == (None, 1_876)
    assert row["note"] == "candidates: 1,876, but 17,958 to 28,996 in the paper"
    row = row_of(published_table(found.tables, "bert-base"), "has", "mAP vocabulary")
    assert row["difference"] is not None


def test_another_wording_is_not_compared(found: Findings) -> None:
    """The paper asks in the wording sentence."""
    name = "retrieval_by_number"
    other = found.tables[name].with_columns(wording=pl.lit("blank-last"))
    table = published_table({name: other}, "roberta-large", found.summary)
    row = row_of(table, "MRR at 1 property")
    assert (row["ours"] is None, row["difference"]) == (False, None)
    assert row["note"] == "wording: blank-last, but sentence in the paper"
