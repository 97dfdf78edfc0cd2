"""Comparison of a run with the values that are printed in Weir et al. (2020)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError
from tacit.findings.published import beside, printed_values
from tacit.probes.assumptions.tables import MAIN
from tacit.probes.assumptions.wording import american

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.findings.published import PrintedValue

PAPER = "assumptions"

MODELS = ("bert-base", "bert-large", "roberta-base", "roberta-large")
"""The four models of Weir et al. (2020), which distinguish upper and lower case."""

TABLES = (
    *("retrieval", "retrieval_by_number", "elicitation", "elicitation_top"),
    *("elicitation_by_relation", "agreement", "ablation", "prince", "categories", "vocabulary"),
)
"""The names of the tables with values that can be compared with Weir et al. (2020)."""

_SHOWN = {"each": "all four models", "mean": "mean over the four models of Weir et al. 2020"}
_DIGITS = 6
_COLUMNS = (
    *("table", "row", "column", "ours", "published", "low", "high", "difference"),
    *("candidates", "chance", "note", "elicitation"),
)


def published_table(
    tables: Mapping[str, pl.DataFrame],
    model: str | None = None,
    summary: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """Compare a run with the values that are printed in Weir et al. (2020)."""
    import polars as pl

    if model is not None and model not in MODELS:
        raise RequestError(f"the paper has no model {model!r}; expected one of {', '.join(MODELS)}")
    told = summary or {}
    ours = {**tables, **dict(_derived(tables, told))}
    wanted = {None, *_SHOWN, model} if model else {None, *_SHOWN, *MODELS}
    printed = [cell for cell in printed_values(PAPER) if cell.model in wanted]
    found = beside([_named(cell, model) for cell in printed], ours, _DIGITS)
    rows = [
        _compared(cell, row["difference"], ours, model)
        for cell, row in zip(printed, found.iter_rows(named=True), strict=True)
    ]
    more = {"candidates": pl.Int64, "chance": pl.Float64, "note": pl.String}
    compared = pl.DataFrame(rows, {"difference": pl.Float64, **more}, orient="row")
    elicitation = pl.lit(told.get("elicitation"), pl.String).alias("elicitation")
    return found.with_columns(*compared.iter_columns(), elicitation).select(_COLUMNS)


def _named(cell: PrintedValue, model: str | None) -> PrintedValue:
    """Append the name of the model to the column name of a published value."""
    if cell.model in {None, model}:
        return cell
    of = _SHOWN.get(str(cell.model), cell.model)
    return replace(cell, column=f"{cell.column}, {of}".removeprefix(", "))


def _compared(
    cell: PrintedValue,
    difference: float | None,
    tables: Mapping[str, pl.DataFrame],
    model: str | None,
) -> tuple[float | None, int | None, float | None, str | None]:
    """Return the difference, candidates, chance and a note; no difference to other models."""
    rows, unmet = cell.rows(tables), cell.unmet(tables)
    row = rows.row(0, named=True) if rows is not None and "requires" in cell.block else {}
    if cell.model == "mean" or (cell.model is not None and model is None):
        difference = None
    note = None if difference is None else unmet
    chance = row.get(cell.block.get("chance", ""))
    return None if unmet else difference, row.get("candidates"), chance, note


def _derived(
    tables: Mapping[str, pl.DataFrame], summary: Mapping[str, Any]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield tables with the run's counterparts of values printed in Weir et al. (2020)."""
    import polars as pl

    by_number, asked = tables.get("retrieval_by_number"), tables.get("retrieval")
    told = summary.get("vocabulary", {})
    alone = told.get("own") is not None and told.get("shared") == told["own"]
    vocabulary = pl.lit("own" if alone else told.get("name"), pl.String).alias("vocabulary")
    wording = _wording(by_number)
    main = {"wording": wording, "order": MAIN}
    if by_number is not None:
        of_all = by_number.filter(pl.col("category").is_null())
        retrieved = of_all.filter(**main).with_columns(vocabulary, words="candidates")
        yield "retrieved", retrieved
        rising = of_all.filter(wording=wording, order="top-increasing")
        both = retrieved.join(rising, on="n").drop_nulls(["mrr", "mrr_right"])
        most = (pl.col("mrr") - pl.col("mrr_right")).max().alias("added")
        first = retrieved.filter(n=1).select("candidates", "wording", "vocabulary", "words")
        yield "orders", first.head(1).join(both.select(most), how="cross")
    if asked is not None:
        yield "asked", asked.filter(pl.col("category").is_null(), **main)
    if (by_relation := tables.get("elicitation_by_relation")) is not None:
        # The sensible candidates are a subset of the words that models share.
        words = pl.lit(told.get("shared"), pl.Int64).alias("words")
        yield "elicitation_by_relation", by_relation.with_columns(vocabulary, words)
    yield from _responses(tables)
    yield "counts", _counts(asked, summary)
    if "ablation" in tables and "elicitation_by_relation" in tables:
        elicited = tables["elicitation_by_relation"].filter(preface=True, over="vocabulary")
        ranked = elicited.select("relation", "candidates")
        added = tables["ablation"].filter(measure="map vocabulary")
        yield "ablated", added.join(ranked, on="relation", how="left", maintain_order="left")


def _wording(by_number: pl.DataFrame | None) -> str:
    """Return ``sentence`` if the run has this wording, else the run's first wording."""
    kinds = [] if by_number is None else by_number["wording"].to_list()
    return "sentence" if "sentence" in kinds or not kinds else str(kinds[0])


def _responses(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield tables of people's responses and the model's words, in American spelling."""
    import polars as pl

    def asked(name: str, spelling: str) -> pl.DataFrame | None:
        table = tables.get(name)
        if table is None:
            return None
        spelt = pl.col(spelling).map_elements(american, pl.String)
        return table.filter(preface=True, over="vocabulary").with_columns(word=spelt)

    people, others = asked("elicitation", "word"), asked("elicitation", "spelling")
    if people is not None:
        yield "people", people
    columns = ("concept", "relation", "word", "logprob")
    found = [each for each in (asked("elicitation_top", "word"), others) if each is not None]
    if found:
        yield "responses", pl.concat([each.select(columns) for each in found])


def _counts(asked: pl.DataFrame | None, summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return the numbers of concepts, properties per concept, and random property orders."""
    import polars as pl

    steps, properties = summary.get("steps"), summary.get("properties", {}).get("all")
    norms = steps[0]["removed"] + steps[0]["left"] if steps else None
    names = [] if asked is None else asked["order"].unique().to_list()
    drawn = [name.split("-") for name in names if name.startswith("random-")]
    rows = {
        "concepts in the norms": norms,
        "mean number of properties per concept in the norms (approximate)": (
            properties / norms if norms and properties is not None else None
        ),
        "random sets": len({each[1] for each in drawn}) or None,
        "random orders of the properties per random selection": len({each[2] for each in drawn})
        or None,
    }
    return pl.DataFrame(list(rows.items()), {"row": pl.String, "value": pl.Float64}, orient="row")
