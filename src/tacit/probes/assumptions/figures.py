"""Figures of the assumptions probe, from its findings (Weir et al. 2020, Figures 1 to 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.figures import Drawn, Figures
from tacit.charts.marks import Curves, LabelledRows
from tacit.charts.panels import in_rows
from tacit.charts.plots import Grid
from tacit.charts.shown import Shown, counted
from tacit.charts.theme import SHAPES, Series, mixed, series
from tacit.english import several
from tacit.findings.numbers import score
from tacit.findings.spec import Column
from tacit.probes.assumptions import MAIN, TABLES
from tacit.probes.assumptions.examples import (
    by_wording,
    examples_of,
    retrieval_examples,  # noqa: F401 - a figure
)
from tacit.probes.assumptions.measures import measures

ALL = "all categories"
_RETRIEVED = {
    "mrr": "mean reciprocal rank",
    "probability": "probability",
    "renormalised": "probability among the candidates",
}
_ORDERS = {
    MAIN: ("top, decreasing", "before", "circle", ()),
    "top-increasing": ("top, increasing", "before", "triangle-up", (6, 3)),
    "random": ("random", "gold", "cross", (2, 2)),
    "bottom-decreasing": ("bottom, decreasing", "paper", "square", ()),
    "bottom-increasing": ("bottom, increasing", "paper", "triangle-down", (6, 3)),
}
_ELICITED = {
    "map vocabulary": ("mAP, vocabulary", "mean average precision"),
    "map sensible": ("mAP, sensible words", "mean average precision"),
    "spearman": ("agreement with people", "Spearman's rho"),
}


def retrieval(shown: Shown) -> Drawn | None:
    """Concept retrieval by number of properties (Weir et al. 2020, Figure 2)."""
    table = _ranked(shown, pl.col("category").is_null(), order=MAIN)
    if table is None:
        return None
    defined = [name for name in _RETRIEVED if not table[name].is_null().all()]
    models = series(table["of"].unique(maintain_order=True), shown.colours)
    panels = [
        replace(_curves(table, name, shown, models, by="of"), legend=at == 0).chart(
            f"{'abc'[at]}) {_RETRIEVED[name]}"
        )
        for at, name in enumerate(defined)
    ]
    return [panels], _caption(table, shown)


def retrieval_categories(shown: Shown) -> Drawn | None:
    """Concept retrieval by category of the properties (Weir et al. 2020, Figure 3a)."""
    table = _ranked(shown, order=MAIN)
    if table is None or table["category"].is_null().all():
        return None
    table = table.with_columns(series=pl.col("category").fill_null(ALL))
    kinds = table["category"].drop_nulls().unique(maintain_order=True)
    whole = Series(ALL, shown.colours.gold, SHAPES[0], (6, 3))
    drawn = [whole, *series([ALL, *kinds], shown.colours)[1:]]
    panels = [
        [*_pair(table, part, shown, drawn), _counts(part, shown)]
        for part in table.partition_by("of", maintain_order=True)
    ]
    return panels, _caption(table, shown)


def retrieval_orders(shown: Shown) -> Drawn | None:
    """Concept retrieval from frequent, rare or random properties (Weir et al. 2020, Figure 3b)."""
    table = _ranked(shown, pl.col("category").is_null(), pl.col("order").is_in(list(_ORDERS)))
    if table is None or table["order"].n_unique() == 1:
        return None
    colours, orders = shown.colours, set(table["order"])
    hues = {"before": colours.before, "gold": colours.gold, "paper": colours.after["paper"]}
    drawn = [
        Series(name, hues[hue], shape, dash)
        for order, (name, hue, shape, dash) in _ORDERS.items()
        if order in orders
    ]
    names = {order: name for order, (name, *_) in _ORDERS.items()}
    table = table.with_columns(series=pl.col("order").replace_strict(names))
    panels = [
        _pair(table, part, shown, drawn, ["random"])
        for part in table.partition_by("of", maintain_order=True)
    ]
    random = "random" if "random" in orders else None
    return panels, _caption(table, shown) | {"random": random}


def elicitation(shown: Shown) -> Drawn | None:
    """The mAP and Spearman's rho of each relation (Weir et al. 2020, Table 2)."""
    panels: list[alt.LayerChart] = []
    for name, (heading, measure) in _ELICITED.items():
        kind, _, over = name.partition(" ")
        where, of, used = (
            ({"over": over}, "elicitation_by_relation", "prompts")
            if over
            else ({}, "agreement", "used")
        )
        table = shown.table(of)
        table = None if table is None else table.filter("preface", **where)
        if table is None or table[kind].is_null().all():
            continue
        spec = TABLES[of]
        words = [spec.column(kind), replace(spec.column(used), heading="n")]
        rows = _lanes(table, replace(words[0], heading=measure), shown, words)
        if over:
            rows = replace(rows, reference=spec.column("chance_map"))
        panels.append(rows.chart(f"{'abc'[len(panels)]}) {heading}"))
    wordings = dict.fromkeys(f"“{one}”" for _, one in shown.summaries("elicitation_wording"))
    caption = {"model": _only(shown), "intervals": shown.intervals()}
    return (in_rows(panels, 2), {**caption, "wording": " and ".join(wordings)}) if panels else None


def ablation(shown: Shown) -> Drawn | None:
    """Measures of elicitation with and without "Everyone knows that"."""
    table, column = shown.defined("ablation", "difference"), TABLES["ablation"].column
    if table is None:
        return None
    names = ("with_preface", "without_preface", "difference")
    words = [*map(column, names), replace(column("prompts"), heading="n")]
    panels = []
    for name, (heading, measure) in _ELICITED.items():
        part = table.filter(measure=name)
        if not part["difference"].is_null().all():
            drawn = replace(column("difference"), heading=f"difference of {measure}")
            panels.append([_lanes(part, drawn, shown, words).chart(heading)])
    return panels, {"model": _only(shown), "intervals": shown.intervals()}


def _ranked(shown: Shown, *where: pl.Expr, **equal: str) -> pl.DataFrame | None:
    """Return the rows whose MRR is defined, with the column ``of``."""
    table = shown.defined("retrieval_by_number", "mrr")
    if table is None:
        return None
    table = table.drop_nulls("mrr").filter(*where, **equal)
    return None if table.is_empty() else by_wording(table)


def _curves(
    table: pl.DataFrame, measure: str, shown: Shown, drawn: Sequence[Series], by: str = "series"
) -> Curves:
    """Return the curves of a measure as a function of the number of properties."""
    column = TABLES["retrieval_by_number"].column
    return Curves(
        table,
        replace(column(measure), heading=_RETRIEVED[measure]),
        shown.colours,
        across=Column("n", "number of properties in the prompt", "count"),
        label="of",
        by=by,
        series=drawn,
        chance="chance_mrr" if measure == "mrr" else None,
        told=[column("n"), column("concepts")],
        within=(0.0,),
    )


def _pair(
    table: pl.DataFrame,
    part: pl.DataFrame,
    shown: Shown,
    drawn: Sequence[Series],
    banded: Collection[str] | None = None,
) -> list[alt.LayerChart]:
    """Return two panels for a model: reciprocal rank and probability of the concept."""
    second = "renormalised" if part["probability"].is_null().all() else "probability"
    first = replace(_curves(table, "mrr", shown, drawn), banded=banded)
    other = replace(_curves(table, second, shown, drawn), banded=banded, legend=False)
    return [first.of(part).chart(part["of"][0]), other.of(part).chart(_RETRIEVED[second])]


def _counts(part: pl.DataFrame, shown: Shown) -> alt.LayerChart:
    """Return a grid with the number of concepts at each point of the retrieval curves."""
    cells = [
        {
            "row": of,
            "column": str(n),
            "text": f"{concepts:,}",
            "hue": mixed(shown.colours.muted, 0.2),
            "tip": f"{of}, {several(n, 'property', 'properties')}: {several(concepts, 'concept')}",
        }
        for of, n, concepts in part.select("series", "n", "concepts").iter_rows()
    ]
    rows = part["series"].unique(maintain_order=True).to_list()
    columns = [str(n) for n in sorted(part["n"].unique())]
    grid = Grid(pl.DataFrame(cells), shown.colours, down=rows, across=columns, cell=(34, 24))
    return grid.chart("concepts")


def _lanes(
    table: pl.DataFrame, column: Column, shown: Shown, words: Sequence[Column]
) -> LabelledRows:
    """Return rows of relations, with a lane per model."""
    return LabelledRows(
        table,
        column,
        shown.colours,
        label="relation",
        by="model",
        series=series(shown.labels.values(), shown.colours),
        told=words[-1:],
        dotted=0.0,
        words=words,
    )


def _caption(table: pl.DataFrame, shown: Shown) -> dict[str, Any]:
    """Return what captions say of models, candidates, chance and wordings in figures of ranks."""
    pairs = table.unique(["of", "candidates"], maintain_order=True)
    levels = dict.fromkeys(
        f"{score(chance)} among {several(candidates, 'candidate')}"
        for chance, candidates in pairs.select("chance_mrr", "candidates").iter_rows()
    )
    first, *others = table["of"].unique(maintain_order=True)
    return {
        "intervals": shown.intervals(),
        "model": None if others else first,
        "chance": "; ".join(levels),
        "sets": "candidates" if len(levels) > 1 else None,
        "n": counted(table["concepts"], "concept"),
        "whole": "sentence" if table["probability"].has_nulls() else None,
        "wording": examples_of(table),
    }


def _only(shown: Shown) -> str | None:
    """Return the model's name if there is only one."""
    first, *others = shown.labels.values()
    return None if others else first


FIGURES = Figures("assumptions", globals(), measures)
