"""Compare findings with the values published by Gu et al. (2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tacit.findings.findings import Findings
from tacit.findings.published import PrintedValue, beside, printed_values
from tacit.probes.parts import TABLES
from tacit.probes.parts.probe import PartsProbe
from tacit.sources.statements import agreement, counts, drawing_statements

PAPER = "parrot"
_ENDS = ("ours_low", "ours_high")
_COLUMNS = ("table", "row", "column", "model", "ours", *_ENDS, "published", "difference")


def data_tables(probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None) -> pl.DataFrame:
    """Compare counts from drawings with the tables in Gu et al. (2023), such as Table 1."""
    numbers, agreed = counts(probe.drawings, probe.gold, probe.ontology), agreement(probe.gold)
    true, n = numbers["true"], numbers["statements"]
    labels = {
        "labelled true": true,
        "labelled false": n - true,
        "contradicted by another annotator": agreed["contradicted"].sum(),
        "agreed on (ParRoT++)": agreed["agreed"].sum(),
        "majority class": round(100 * max(true, n - true) / n) if n else None,
    }
    sizes = _sizes(probe, numbers, seed)
    tables = {
        "sizes": _frame({"row": r, "column": c, "value": n} for (r, c), n in sizes.items()),
        "agreed": agreed.select("thing", statements="agreed"),
        "labels": _frame({"row": row, "value": value} for row, value in labels.items()),
    }
    return _compared(tables, None, of_models=False)


def model_tables(findings: Findings) -> pl.DataFrame:
    """Compare findings with the results for models in Gu et al. (2023), such as Table 3."""
    (repair,) = findings.tables["repair"].filter(objective="paper").to_dicts()
    changed = {name: repair[name] or 0 for name in ("improved", "worse", "same")}
    n = sum(changed.values()) or None
    tables = {
        "summary": _frame([{"value": findings.summary["true_share"]}]),
        "changed": _frame({"row": row, "value": k / n if n else n} for row, k in changed.items()),
    }
    how = findings.summary.get("elicitation")
    return _compared({**findings.tables, **tables}, how, of_models=True)


def _compared(
    tables: Mapping[str, pl.DataFrame], how: str | None, *, of_models: bool
) -> pl.DataFrame:

    no_things = pl.DataFrame(schema={"thing": pl.String})
    every = printed_values(PAPER, {"agreed": no_things, **tables})
    printed = [one for one in every if (one.model is not None) == of_models]
    ends = pl.DataFrame(
        [dict(zip(_ENDS, _interval(one, tables), strict=True)) for one in printed],
        dict.fromkeys(_ENDS, pl.Float64),
    )
    table = beside(printed, tables).hstack(ends)
    return table.select(*_COLUMNS, elicitation=pl.lit(how, pl.String))


def _interval(
    one: PrintedValue, tables: Mapping[str, pl.DataFrame]
) -> tuple[float | None, float | None]:
    """Return the ends of a share's 95 % CI in per cent; both are None if undefined."""
    spec, rows = TABLES.get(one.block["from"]), one.rows(tables)
    if spec is None or rows is None or one.block.get("as") != "percent":
        return None, None
    low, high = (rows[end][0] for end in spec.column(one.block["take"]).ends or ())
    return (None, None) if low is None else (round(100 * low, 2), round(100 * high, 2))


def _frame(rows: Any) -> pl.DataFrame:  # noqa: ANN401 - rows by name

    return pl.DataFrame(list(rows), schema_overrides={"value": pl.Float64})


def _sizes(
    probe: PartsProbe, numbers: Mapping[str, Any], seed: Mapping[str, tuple[str, ...]] | None
) -> dict[tuple[str, str], float]:
    """Return Tacit's values for Table 1 of Gu et al. (2023), by row and column."""
    drawn = drawing_statements(probe.drawings)["relation"].unique()
    names = [probe.ontology.relations[name].category for name in drawn]
    both = ("annotated", "enriched")
    sizes: dict[tuple[str, str], float] = {}
    sizes |= {("everyday things", when): numbers["things"] for when in both}
    sizes |= {("mental models", when): numbers["drawings"] for when in both}
    counted = {"parts": (numbers["parts"],) * 2}
    counted["relations"] = (numbers["relations"], numbers["statements"])
    sizes["relations", "seed"] = len(names)
    for kind, n in numbers["table_1"].items():
        counted[f"{kind} relations"] = (numbers["categories"][kind]["relations"], n)
        sizes[f"{kind} relations", "seed"] = names.count(kind)
    for row, pair in counted.items():
        for when, n in zip(both, pair, strict=True):
            sizes |= {(row, when): n, (row, f"{when} average"): round(n / numbers["drawings"], 2)}
    if seed is not None:
        sizes["everyday things", "seed"] = len(seed)
        sizes["parts", "seed"] = sum(map(len, seed.values()))
    return sizes
