"""Figures of the assumptions probe, from its findings (Weir et al. 2020, Figures 1 to 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.charts.figures import Figures
from tacit.charts.grid import Grid
from tacit.charts.marks import Curves, Rows
from tacit.charts.panels import in_rows
from tacit.charts.shown import spread
from tacit.charts.sizes import sizes
from tacit.charts.theme import SHAPES, Series, mixed, series
from tacit.english import several
from tacit.findings.spec import Column
from tacit.probes.assumptions import captions
from tacit.probes.assumptions.captions import by_wording, with_preface
from tacit.probes.assumptions.examples import retrieval_examples
from tacit.probes.assumptions.measures import measures
from tacit.probes.assumptions.tables import MAIN, TABLES
from tacit.probes.assumptions.template import load_templates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.figures import Drawn
    from tacit.charts.shown import Shown
    from tacit.charts.theme import Palette

ALL = "all categories"
MOST = 5
"""Maximum number of favoured words (frequent top candidates) shown per relation."""

_MEASURES = {
    "mrr": "mean reciprocal rank",
    "probability": "probability",
    "renormalised": "probability among the candidates",
}
_ORDERS = {
    "top-decreasing": ("top, decreasing", "before", "circle", ()),
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
    import polars as pl

    table = _ranked(shown, pl.col("category").is_null(), order=MAIN)
    if table is None:
        return None
    defined = [name for name in _MEASURES if not table[name].is_null().all()]
    told = series(table["of"].unique(maintain_order=True), shown.colours)
    panels = [
        replace(_curves(table, name, shown, told, by="of"), legend=at == 0).chart(
            f"{'abc'[at]}) {_MEASURES[name]}"
        )
        for at, name in enumerate(defined)
    ]
    return [panels], captions.retrieval(table, shown)


def retrieval_categories(shown: Shown) -> Drawn | None:
    """Concept retrieval by category of the properties (Weir et al. 2020, Figure 3a)."""
    import polars as pl

    table = _ranked(shown, order=MAIN)
    if table is None or table["category"].is_null().all():
        return None
    table = table.with_columns(series=pl.col("category").fill_null(ALL))
    kinds = table["category"].drop_nulls().unique(maintain_order=True)
    whole = Series(ALL, shown.colours.gold, SHAPES[0], (6, 3))
    told = [whole, *series([ALL, *kinds], shown.colours)[1:]]
    panels = [
        [*_pair(table, part, shown, told), _counts(part, shown.colours)]
        for part in table.partition_by("of", maintain_order=True)
    ]
    return panels, captions.retrieval(table, shown)


def retrieval_orders(shown: Shown) -> Drawn | None:
    """Concept retrieval from frequent, rare or random properties (Weir et al. 2020, Figure 3b)."""
    import polars as pl

    of_all = pl.col("category").is_null() & pl.col("order").is_in(list(_ORDERS))
    table = _ranked(shown, of_all)
    if table is None or table["order"].n_unique() == 1:
        return None
    colours, orders = shown.colours, set(table["order"])
    hues = {"before": colours.before, "gold": colours.gold, "paper": colours.after["paper"]}
    told = [
        Series(name, hues[hue], shape, dash)
        for order, (name, hue, shape, dash) in _ORDERS.items()
        if order in orders
    ]
    names = {order: name for order, (name, *_) in _ORDERS.items()}
    table = table.with_columns(series=pl.col("order").replace_strict(names))
    panels = [
        _pair(table, part, shown, told, ["random"])
        for part in table.partition_by("of", maintain_order=True)
    ]
    random = "random" if "random" in orders else None
    return panels, captions.retrieval(table, shown) | {"random": random}


def elicitation(shown: Shown) -> Drawn | None:
    """The mAP and Spearman's rho of each relation (Weir et al. 2020, Table 2)."""
    tables: dict[str, pl.DataFrame] = {}
    if (ranked := shown.table("elicitation_by_relation")) is not None:
        ranked, _ = with_preface(ranked)
        tables |= {f"map {over}": ranked.filter(over=over) for over in ("vocabulary", "sensible")}
    if (agreement := shown.table("agreement")) is not None:
        tables["spearman"], _ = with_preface(agreement)
    spec, rho = TABLES["elicitation_by_relation"], TABLES["agreement"]
    columns = dict.fromkeys(tables, (spec.column("map"), spec.column("prompts")))
    columns["spearman"] = rho.column("spearman"), rho.column("used")
    held = {
        name: table
        for name, table in tables.items()
        if not table[columns[name][0].name].is_null().all()
    }
    if not held:
        return None
    order, panels = _relations(held.values()), []
    for letter, (name, table) in zip("abc", held.items(), strict=False):
        (heading, measure), (column, n) = _ELICITED[name], columns[name]
        n = replace(n, heading="n")
        rows = _lanes(table, replace(column, heading=measure), shown, [column, n], order)
        panels.append(rows.chart(f"{letter}) {heading}"))
    return in_rows(panels, 2), captions.elicitation(shown) | {"model": _only(shown)}


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
            panels.append([_lanes(part, drawn, shown, words, _relations([part])).chart(heading)])
    return panels, {"model": _only(shown), "intervals": shown.intervals()}


def favoured(shown: Shown) -> Drawn | None:
    """The share of prompts for which each favoured word ranks first."""
    import polars as pl

    table = shown.table("favoured")
    if table is None:
        return None
    table, preface = with_preface(table)
    table = table.filter(pl.col("first") > 0).drop_nulls("share")
    table = table.group_by("model", "relation", maintain_order=True).head(MOST)
    if table.is_empty():
        return None
    column = TABLES["favoured"].column
    rows = Rows(
        table.with_columns(correct=pl.col("right") / pl.col("prompts")),
        column("share"),
        shown.colours,
        label="word",
        reference=Column("correct", "first and correct", "percent"),
        told=[column("first"), column("prompts")],
        within=(0.0,),
        words=[replace(column("share"), heading="first")],
        width=100,
    )
    panels: list[Sequence[alt.LayerChart]] = []
    for (model,), of in rows.table.group_by("model", maintain_order=True):
        parts = of.partition_by("relation", maintain_order=True)
        names = [f"{model}: "] + [""] * len(parts)
        drawn = [
            rows.of(part).chart(f"{name}{part['relation'][0]}")
            for name, part in zip(names, parts, strict=False)
        ]
        panels += in_rows(drawn, 3)
    return panels, {"most": MOST, "prompts": spread(table["prompts"]), "preface": preface}


def size_of_models(shown: Shown) -> Drawn | None:
    """The mean reciprocal rank against model size (not a figure of Weir et al. 2020)."""
    return sizes(shown, measures)


FIGURES = Figures(
    "assumptions",
    retrieval_examples,
    retrieval,
    retrieval_categories,
    retrieval_orders,
    elicitation,
    ablation,
    favoured,
    size_of_models,
)


def _ranked(shown: Shown, *where: pl.Expr, order: str | None = None) -> pl.DataFrame | None:
    """Return the rows whose MRR is defined, with the column ``of``."""
    import polars as pl

    table = shown.defined("retrieval_by_number", "mrr")
    if table is None:
        return None
    table = table.drop_nulls("mrr").filter(*where, *([pl.col("order") == order] if order else []))
    return None if table.is_empty() else by_wording(table)


def _curves(
    table: pl.DataFrame, measure: str, shown: Shown, told: Sequence[Series], by: str = "series"
) -> Curves:
    """Return the curves of a measure as a function of the number of properties."""
    column = TABLES["retrieval_by_number"].column
    return Curves(
        table,
        replace(column(measure), heading=_MEASURES[measure]),
        shown.colours,
        across=Column("n", "number of properties in the prompt", "count"),
        label="of",
        by=by,
        series=told,
        chance="chance_mrr" if measure == "mrr" else None,
        told=[column("n"), column("concepts")],
        within=(0.0,),
    )


def _pair(
    table: pl.DataFrame,
    part: pl.DataFrame,
    shown: Shown,
    told: Sequence[Series],
    banded: Collection[str] | None = None,
) -> list[alt.LayerChart]:
    """Return two panels for a model: reciprocal rank and probability of the concept."""
    second = "renormalised" if part["probability"].is_null().all() else "probability"
    first = replace(_curves(table, "mrr", shown, told), banded=banded)
    other = replace(_curves(table, second, shown, told), banded=banded, legend=False)
    return [first.of(part).chart(part["of"][0]), other.of(part).chart(_MEASURES[second])]


def _counts(part: pl.DataFrame, colours: Palette) -> alt.LayerChart:
    """Return a grid with the number of concepts at each point of the retrieval curves."""
    import polars as pl

    cells = [
        {
            "series": of,
            "row": of,
            "column": str(n),
            "text": f"{concepts:,}",
            "hue": mixed(colours.muted, 0.2),
            "tip": f"{of}, {several(n, 'property', 'properties')}: {several(concepts, 'concept')}",
        }
        for of, n, concepts in part.select("series", "n", "concepts").iter_rows()
    ]
    rows = part["series"].unique(maintain_order=True).to_list()
    columns = [str(n) for n in sorted(part["n"].unique())]
    grid = Grid(pl.DataFrame(cells), colours, down=rows, across=columns, cell=(34, 24))
    return grid.chart("concepts")


def _lanes(
    table: pl.DataFrame, column: Column, shown: Shown, words: Sequence[Column], order: Sequence[str]
) -> Rows:
    """Return rows of relations, with a lane per model."""
    return Rows(
        table,
        column,
        shown.colours,
        label="relation",
        by="model",
        series=series(shown.labels.values(), shown.colours),
        told=words[-1:],
        dotted=0.0,
        words=words,
        order=order,
    )


def _relations(tables: Iterable[pl.DataFrame]) -> list[str]:
    """Return the relations in the order of Weir et al. (2020), followed by other relations."""
    held = {name for table in tables for name in table["relation"]}
    known = list(load_templates().relations)
    return [name for name in known if name in held] + sorted(held - set(known))


def _only(shown: Shown) -> str | None:
    """Return the model's name if there is only one."""
    first, *others = shown.labels.values()
    return None if others else first
