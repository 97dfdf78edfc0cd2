"""Compare findings with the values published by Gu et al. (2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.published import beside, printed_values
from tacit.probes.parts.tables import TABLES
from tacit.sources.statements import agreed, agreement, drawing_statements

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.findings.published import PrintedValue
    from tacit.probes.parts.probe import PartsProbe

PAPER = "parrot"
_ENDS = ("ours_low", "ours_high")
SCHEMA = (
    *("table", "row", "column", "model", "ours", *_ENDS),
    *("published", "difference", "elicitation"),
)


def data_tables(probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None) -> pl.DataFrame:
    """Compare counts from drawings with the tables in Gu et al. (2023), such as Table 1."""
    tables = {"sizes": _sizes(probe, seed), "agreed": _agreed(probe), "labels": _labels(probe)}
    printed = [cell for cell in printed_values(PAPER, tables) if cell.model is None]
    return _with_method(beside(printed, tables), None)


def model_tables(findings: Findings) -> pl.DataFrame:
    """Compare findings with the results for models in Gu et al. (2023), such as Table 3."""
    import polars as pl

    summary = pl.DataFrame(
        {"true_share": [findings.summary["true_share"]]}, {"true_share": pl.Float64}
    )
    tables = {**findings.tables, "summary": summary, "changed": _changed(findings)}
    agreed_on = pl.DataFrame({"thing": []}, {"thing": pl.String})
    printed = [
        cell for cell in printed_values(PAPER, {"agreed": agreed_on}) if cell.model is not None
    ]
    ends = [_interval(cell, findings) for cell in printed]
    intervals = pl.DataFrame(ends, dict.fromkeys(_ENDS, pl.Float64), orient="row")
    table = beside(printed, tables).hstack(intervals)
    return _with_method(table, findings.summary.get("elicitation"))


def _interval(cell: PrintedValue, findings: Findings) -> tuple[float | None, float | None]:
    """Return the ends of a share's 95 % CI in per cent; both are None if undefined."""
    spec, rows = TABLES.get(cell.block["from"]), cell.rows(findings.tables)
    if spec is None or rows is None or cell.block.get("as") != "percent":
        return None, None
    ends = spec.column(cell.block["take"]).ends
    if ends is None:
        return None, None
    low, high = (rows[end][0] for end in ends)
    return (None, None) if low is None else (round(100 * low, 2), round(100 * high, 2))


def _with_method(table: pl.DataFrame, how: str | None) -> pl.DataFrame:
    import polars as pl

    absent = {name: pl.lit(None, pl.Float64) for name in _ENDS if name not in table.columns}
    return table.with_columns(elicitation=pl.lit(how, pl.String), **absent).select(SCHEMA)


def _figures(figures: Mapping[str, float | None]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        list(figures.items()), {"row": pl.String, "value": pl.Float64}, orient="row"
    )


def _sizes(probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None) -> pl.DataFrame:
    """Return Tacit's values for Table 1 of Gu et al. (2023)."""
    import polars as pl

    drawn = [relation for _, _, _, relation, _ in drawing_statements(probe.drawings).iter_rows()]
    enriched = probe.gold["relation"].to_list()
    n = len(probe.drawings)
    things = len({drawing.thing for drawing in probe.drawings})
    parts = sum(len(drawing.parts) for drawing in probe.drawings)
    sizes: dict[str, dict[str, float]] = {
        "everyday things": {"annotated": things, "enriched": things},
        "mental models": {"annotated": n, "enriched": n},
        "parts": _counted(n, parts, parts),
        "relations": _counted(n, len(drawn), len(enriched), len(set(drawn))),
    }
    for category in ("spatial", "connectivity", "functional"):
        own = [name for name in drawn if _category(probe, name) == category]
        all_ = [name for name in enriched if _as_table_1(probe, name) == category]
        sizes[f"{category} relations"] = _counted(n, len(own), len(all_), len(set(own)))
    if seed is not None:
        sizes["everyday things"]["seed"] = len(seed)
        sizes["parts"]["seed"] = sum(map(len, seed.values()))
    rows = [(row, column, n) for row, found in sizes.items() for column, n in found.items()]
    schema = {"row": pl.String, "column": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def _counted(n: int, annotated: int, enriched: int, seed: int | None = None) -> dict[str, float]:
    counts: dict[str, float] = {
        "annotated": annotated,
        "annotated average": round(annotated / n, 2),
        "enriched": enriched,
        "enriched average": round(enriched / n, 2),
    }
    return counts if seed is None else {"seed": seed, **counts}


def _category(probe: PartsProbe, relation: str) -> str | None:
    return probe.ontology.relations[relation].category


def _as_table_1(probe: PartsProbe, relation: str) -> str | None:
    """Return a relation's category as in Table 1 of Gu et al. (2023)."""
    return "spatial" if relation == "required by" else _category(probe, relation)


def _agreed(probe: PartsProbe) -> pl.DataFrame:
    """Return for each thing the number of statements on which all its annotators agree."""
    import polars as pl

    counts = dict(agreed(probe.gold)["thing"].value_counts().iter_rows())
    things = sorted({drawing.thing for drawing in probe.drawings})
    rows = [(thing, counts.get(thing, 0)) for thing in things]
    return pl.DataFrame(rows, {"thing": pl.String, "statements": pl.Int64}, orient="row")


def _labels(probe: PartsProbe) -> pl.DataFrame:
    """Return the counts of gold labels, and the share of the majority class in per cent."""
    found, n = agreement(probe.gold), probe.gold.height
    true = int(probe.gold["label"].sum())
    return _figures(
        {
            "labelled true": true,
            "labelled false": n - true,
            "contradicted by another annotator": int(found["contradicted"].sum()),
            "agreed on (ParRoT++)": int(found["agreed"].sum()),
            "majority class": round(100 * max(true / n, 1 - true / n)) if n else None,
        }
    )


def _changed(findings: Findings) -> pl.DataFrame:
    """Return the shares of drawings whose accuracy rises, falls or is equal after repair."""
    ours = findings.tables["repair"].filter(objective="paper").row(0, named=True)
    names = ("improved", "worse", "same")
    n = sum(ours[name] or 0 for name in names)
    shares = {name: ours[name] / n if n else None for name in names}
    return _figures(shares).rename({"row": "column", "value": "share"})
