"""Comparison of a run with the values that are printed in Weir et al. (2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.findings.published import PrintedValue, beside, printed_values
from tacit.probes.assumptions import MAIN
from tacit.probes.assumptions.wording import american

PAPER = "assumptions"

MODELS = ("bert-base", "bert-large", "roberta-base", "roberta-large")
"""The four models of Weir et al. (2020), which distinguish upper and lower case."""

_SEVERAL = {"each": "all four models", "mean": "mean over the four models of Weir et al. 2020"}
_DIGITS = 6
_COLUMNS = (
    *("table", "row", "column", "ours", "published", "low", "high", "difference"),
    *("candidates", "chance", "note", "elicitation"),
)


def published_table(
    tables: Mapping[str, pl.DataFrame], model: str | None, summary: Mapping[str, Any]
) -> pl.DataFrame:
    """Compare a run with the values that are printed in Weir et al. (2020)."""
    if model is not None and model not in MODELS:
        raise RequestError(f"the paper has no model {model!r}; expected one of {', '.join(MODELS)}")
    ours = {**tables, **dict(_derived(tables, summary))}
    wanted = {None, *_SEVERAL, model} if model else {None, *_SEVERAL, *MODELS}
    printed = [cell for cell in printed_values(PAPER) if cell.model in wanted]
    table = beside([_named(cell, model) for cell in printed], ours, _DIGITS)
    rows = [
        _compared(cell, row["difference"], ours, model)
        for cell, row in zip(printed, table.iter_rows(named=True), strict=True)
    ]
    types = {"difference": pl.Float64, "candidates": pl.Int64, "chance": pl.Float64}
    compared = pl.DataFrame(rows, {**types, "note": pl.String})
    elicitation = pl.lit(summary.get("elicitation"), pl.String).alias("elicitation")
    return table.with_columns(*compared.iter_columns(), elicitation).select(_COLUMNS)


def _named(cell: PrintedValue, model: str | None) -> PrintedValue:
    """Append the name of the model to the column name of a published value."""
    if cell.model in {None, model}:
        return cell
    of = _SEVERAL.get(str(cell.model), cell.model)
    return replace(cell, column=f"{cell.column}, {of}".removeprefix(", "))


def _compared(
    cell: PrintedValue,
    difference: float | None,
    tables: Mapping[str, pl.DataFrame],
    model: str | None,
) -> dict[str, Any]:
    """Return the difference, candidates, chance and a note; no difference to other models."""
    rows, unmet = cell.rows(tables), cell.unmet(tables)
    row = rows.row(0, named=True) if rows is not None and "requires" in cell.block else {}
    if cell.model == "mean" or (cell.model is not None and model is None):
        difference = None
    return {
        "difference": None if unmet else difference,
        "candidates": row.get("candidates"),
        "chance": row.get(cell.block.get("chance", "")),
        "note": None if difference is None else unmet,
    }


def _derived(
    tables: Mapping[str, pl.DataFrame], summary: Mapping[str, Any]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield tables with the run's counterparts of values printed in Weir et al. (2020)."""
    by_number, by_relation = tables["retrieval_by_number"], tables["elicitation_by_relation"]
    of = summary["vocabulary"]
    name = "own" if of["shared"] == of["own"] else of["name"]
    vocabulary = pl.lit(name).alias("vocabulary")
    wordings = by_number["wording"].unique(maintain_order=True).to_list()
    wording = "sentence" if "sentence" in wordings or not wordings else wordings[0]
    of_all = by_number.filter(pl.col("category").is_null(), wording=wording)
    retrieved = of_all.filter(order=MAIN).with_columns(vocabulary, words="candidates")
    yield "retrieved", retrieved
    both = retrieved.join(of_all.filter(order="top-increasing"), on="n")
    most = (pl.col("mrr") - pl.col("mrr_right")).drop_nulls().max().alias("added")
    first = retrieved.filter(n=1).select("candidates", "wording", "vocabulary", "words")
    yield "orders", first.head(1).join(both.select(most), how="cross")
    asked = tables["retrieval"].filter(pl.col("category").is_null(), wording=wording, order=MAIN)
    yield "asked", asked
    # The sensible candidates are a subset of the words that models share.
    words = pl.lit(of["shared"], pl.Int64).alias("words")
    yield "elicitation_by_relation", by_relation.with_columns(vocabulary, words)
    people, ranked, top = (
        tables[table]
        .filter(preface=True, over="vocabulary")
        .with_columns(word=pl.col(column).map_elements(american, pl.String))
        for table, column in (
            ("elicitation", "word"),
            ("elicitation", "spelling"),
            ("elicitation_top", "word"),
        )
    )
    yield "people", people
    columns = ("concept", "relation", "word", "logprob")
    yield "responses", pl.concat([top.select(columns), ranked.select(columns)])
    yield "counts", _counts(tables["retrieval"], summary)
    elicited = by_relation.filter(preface=True, over="vocabulary").select("relation", "candidates")
    added = tables["ablation"].filter(measure="map vocabulary")
    yield "ablated", added.join(elicited, on="relation", how="left", maintain_order="left")


def _counts(retrieval: pl.DataFrame, summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return the numbers of concepts, properties per concept, and random property orders."""
    concepts, properties = summary["norms"]["concepts"], summary["norms"]["properties"]
    random = retrieval["order"].unique().str.extract_groups(r"random-(\d+)-(\d+)").struct.unnest()
    sets, orders = (column.drop_nulls().n_unique() or None for column in random.iter_columns())
    rows = {
        "concepts in the norms": concepts,
        "mean number of properties per concept in the norms (approximate)": properties / concepts,
        "random sets": sets,
        "random orders of the properties per random selection": orders,
    }
    return pl.DataFrame(list(rows.items()), {"row": pl.String, "value": pl.Float64}, orient="row")
