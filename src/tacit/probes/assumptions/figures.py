"""Figures of the assumptions probe, from its findings (Weir et al. 2020, Figures 1 to 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.charts.marks import Axis, Curves, Grid, Rows, bounds, in_rows, measured, page, written
from tacit.charts.scale import size_chart
from tacit.charts.shown import counted, titled
from tacit.charts.theme import SHAPES, Series, mixed, series
from tacit.english import several
from tacit.findings.spec import figure
from tacit.probes.assumptions import captions
from tacit.probes.assumptions.captions import by_wording, spread, with_preface, wordings
from tacit.probes.assumptions.examples import retrieval_examples
from tacit.probes.assumptions.measures import measures
from tacit.probes.assumptions.tables import MAIN, TABLES
from tacit.probes.assumptions.template import load_templates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Palette
    from tacit.findings.spec import FigureSpec

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
_HEADINGS = {
    "map vocabulary": "mAP, vocabulary",
    "map sensible": "mAP, sensible words",
    "spearman": "agreement with people",
}
_SETS = (
    "mAP: mean average precision of people's responses; vocabulary: all words are candidates; "
    "sensible: the candidates are the words that people gave as a response to any prompt of the "
    "same relation (such as “has”)"
)
_RANKS = (
    "agreement: Spearman's rho between the production frequency and the probability of people's "
    "responses, averaged over prompts"
)


@figure(
    "Concept retrieval by number of properties",
    "This figure corresponds to Figure 2 of Weir et al. (2020).",
)
def retrieval(shown: Shown) -> Chart | None:
    """Plot concept retrieval against the number of properties (Weir et al. 2020, Figure 2)."""
    import polars as pl

    table = _ranked(shown)
    table = None if table is None else table.filter(pl.col("category").is_null(), order=MAIN)
    if table is None or table.is_empty():
        return None
    table = table.with_columns(series="of")
    told = series(table["of"].unique(maintain_order=True), shown.look.colours)
    measures = [name for name in _MEASURES if not table[name].is_null().all()]
    panels = [
        replace(
            _curves(table, table, name, told, shown.look.colours),
            heading=f"{letter}) {_MEASURES[name]}",
            legend=letter == "a",
        ).chart()
        for letter, name in zip("abc", measures, strict=False)
    ]
    title = titled(
        f"Retrieving a concept from its properties{_named(table['of'].unique())}",
        "means over concepts: the reciprocal rank of the concept's word among the candidates, the "
        "word's probability among all possible continuations, and the word's probability among the "
        f"candidates only{captions.whole_sentences(table)}",
        captions.retrieval_chance(table),
        "prompts contain the properties that people named most frequently, the most frequent "
        f"first; bands: {shown.intervals()}",
        f"{counted(table['concepts'], 'concept')}{captions.unwritable(table)}; {wordings(table)}",
    )
    return page(title, panels)


@figure(
    "Concept retrieval by category", "This figure corresponds to Figure 3 of Weir et al. (2020)."
)
def retrieval_categories(shown: Shown) -> Chart | None:
    """Draw concept retrieval by category of the properties (Weir et al. 2020, Figure 3a)."""
    import polars as pl

    table = _ranked(shown)
    table = None if table is None else table.filter(order=MAIN)
    if table is None or table["category"].is_null().all():
        return None
    colours = shown.look.colours
    kinds = table["category"].drop_nulls().unique(maintain_order=True)
    table = table.with_columns(series=pl.col("category").fill_null(ALL))
    whole = Series(ALL, colours.gold, SHAPES[0], (6, 3))
    told = [whole, *series([ALL, *kinds], colours)[1:]]
    panels = [
        [*_pair(table, str(of), told, colours), _counts(part, colours)]
        for (of,), part in table.group_by("of", maintain_order=True)
    ]
    title = titled(
        "Retrieving a concept from properties of one category",
        "only concepts with at least k properties of a category have prompts with k properties "
        "of the category, so the means for larger k include fewer concepts",
        "prompts contain the properties that people named most frequently, the most frequent "
        f"first; bands: {shown.intervals()}; {wordings(table)}",
        captions.retrieval_chance(table),
    )
    return page(title, *panels)


@figure(
    "Concept retrieval by the order of properties",
    "Concept retrieval when the prompt contains the most frequent properties of a concept, the "
    "least frequent properties, or random properties. Each prompt with the most frequent or "
    "the least frequent properties lists these properties either by decreasing or by increasing "
    "frequency.",
)
def retrieval_orders(shown: Shown) -> Chart | None:
    """Plot how well concepts are retrieved from frequent, rare or random properties."""
    import polars as pl

    table = _ranked(shown)
    if table is None:
        return None
    table = table.filter(pl.col("category").is_null(), pl.col("order").is_in(list(_ORDERS)))
    orders = set(table["order"])
    if len(orders) < 2:  # noqa: PLR2004 - one order cannot be compared
        return None
    colours = shown.look.colours
    hues = {"before": colours.before, "gold": colours.gold, "paper": colours.after["paper"]}
    told = [
        Series(name, hues[hue], shape, dash)
        for order, (name, hue, shape, dash) in _ORDERS.items()
        if order in orders
    ]
    names = {order: name for order, (name, *_) in _ORDERS.items()}
    table = table.with_columns(series=pl.col("order").replace_strict(names))
    panels = [
        _pair(table, str(of), told, colours, ["random"])
        for of in table["of"].unique(maintain_order=True)
    ]
    title = titled(
        "Retrieving a concept from different selections and orders of its properties",
        "top: the properties that people named most frequently for the concept; bottom: the "
        "least frequently named properties; decreasing: the prompt begins with the most frequent "
        "property; increasing: the prompt begins with the least frequent property",
        "random: the concept's properties in random order (mean over several orders, averaged "
        f"over concepts); band: {shown.intervals()}" * ("random" in orders),
        captions.retrieval_chance(table),
        f"{counted(table['concepts'], 'concept')}{captions.unwritable(table)}; {wordings(table)}",
    )
    return page(title, *panels)


@figure("Properties elicited", "This figure shows the measures of Table 2 of Weir et al. (2020).")
def elicitation(shown: Shown) -> Chart | None:
    """Draw the mAP and Spearman's rho for each relation (Weir et al. 2020, Table 2)."""
    found = {name: rows for name, rows in _elicited(shown) if not rows["value"].is_null().all()}
    if not found:
        return None
    order = _relations(found.values())
    panels = [
        _lanes(rows, name, f"{letter}) {_HEADINGS[name]}", order, shown)
        for letter, (name, rows) in zip("abc", found.items(), strict=False)
    ]
    title = titled(
        f"Eliciting a concept's properties, by relation{_named(shown.labels.values())}",
        _SETS,
        f"{_RANKS}; {captions.elicitation_wording(shown)}; lines: {shown.intervals()}; n: number "
        "of prompts",
        captions.elicitation_chance(shown),
        *captions.elicitation_left_out(shown),
    )
    return page(title, *in_rows(panels, 2))


@figure(
    "Elicitation with and without “Everyone knows that”",
    "Each measure of elicitation for prompts with and without the preface “Everyone knows that”, "
    "and the paired difference.",
)
def ablation(shown: Shown) -> Chart | None:
    """Draw elicitation measures for prompts with and without "Everyone knows that"."""
    import polars as pl

    table = shown.defined("ablation", "difference")
    if table is None:
        return None
    column = TABLES["ablation"].column("difference")
    drawn = measured(
        table.with_columns(label="relation", series="model"),
        column,
        n=TABLES["elicitation_by_relation"].column("prompts"),
    ).with_columns(
        pl.Series(name, [written(value, "score") for value in table[f"{name}_preface"]], pl.String)
        for name in ("with", "without")
    )
    words = (("with", "with"), ("without", "without"), ("difference", "told"), ("n", "count"))
    panels = []
    for name, heading in _HEADINGS.items():
        rows = drawn.filter(measure=name)
        if not rows["value"].is_null().all():
            panels.append([_lanes(rows, name, heading, _relations([rows]), shown, words)])
    title = titled(
        f'Elicitation with and without "Everyone knows that"{_named(shown.labels.values())}',
        "difference: the measure without the preface “Everyone knows that” minus the measure "
        "with this preface; n: number of prompts, which differ only in the preface",
        f"lines: {shown.intervals()}",
        _SETS,
        _RANKS,
    )
    return page(title, *panels)


@figure("Favoured words", "Words that rank first for many different concepts.")
def favoured(shown: Shown) -> Chart | None:
    """Plot the share of prompts for which each favoured word ranks first."""
    import polars as pl

    table = shown.table("favoured")
    if table is None:
        return None
    table, preface = with_preface(table)
    table = table.filter(pl.col("first") > 0).drop_nulls("share")
    table = table.group_by("model", "relation", maintain_order=True).head(MOST)
    if table.is_empty():
        return None
    column = TABLES["favoured"].column("share")
    table = table.with_columns(label="word", correct=pl.col("right") / pl.col("prompts"))
    drawn = measured(table, column, "correct").with_columns(
        tip=pl.format(
            "{}, {} {}: ranks first for {} of {} prompts; ranks first and is correct: {}",
            *("model", "relation", "word", "first", "prompts", "right"),
        )
    )
    axis = Axis("share first", (0.0, bounds(table["share"])[1]), percent=True)
    panels = [
        [
            Rows(
                part,
                axis,
                shown.look.colours,
                f"{model}: {relation}" if at == 0 else str(relation),
                part["word"].to_list(),
                words=(("first", "told"),),
                width=100,
            ).chart()
            for at, ((relation,), part) in enumerate(of.group_by("relation", maintain_order=True))
        ]
        for (model,), of in drawn.group_by("model", maintain_order=True)
    ]
    title = titled(
        "The words that a model favours, whatever the concept",
        f"the {MOST} words that most often rank first in the whole vocabulary; "
        "dot: share of the relation's prompts for which the word ranks first; tick: share of "
        "prompts for which the word ranks first and is one of people's responses",
        f"prompts per relation: {spread(table['prompts'].to_list())}; {preface}",
    )
    return page(title, *(row for of in panels for row in in_rows(of, 3)))


@figure(
    "Size of models",
    "The mean reciprocal rank in concept retrieval, plotted against the number of parameters for "
    "each family of models (not a figure of Weir et al. 2020).",
)
def size_of_models(shown: Shown) -> Chart | None:
    """Plot the mean reciprocal rank against model size (not a figure of Weir et al. 2020)."""
    return size_chart(shown, measures)


FIGURES: Mapping[str, FigureSpec] = {
    one.name: one
    for one in (
        retrieval_examples,
        retrieval,
        retrieval_categories,
        retrieval_orders,
        elicitation,
        ablation,
        favoured,
        size_of_models,
    )
}


def _ranked(shown: Shown) -> pl.DataFrame | None:
    """Return the retrieval rows whose MRR is defined, with row labels in the column ``of``."""
    table = shown.defined("retrieval_by_number", "mrr")
    return None if table is None else by_wording(table.drop_nulls("mrr"))


def _curves(
    table: pl.DataFrame,
    whole: pl.DataFrame,
    measure: str,
    told: Sequence[Series],
    colours: Palette,
) -> Curves:
    """Return the curves of a measure as a function of the number of properties."""
    import polars as pl

    column = TABLES["retrieval_by_number"].column(measure)
    label = pl.format("{} (n = {})", "of", "n")
    drawn = measured(
        table.with_columns(label=label, at="n"),
        column,
        n=TABLES["retrieval_by_number"].column("concepts"),
    )
    drawn = drawn.with_columns(
        tip=pl.Series(
            [
                f"{of}, {series}, {several(n, 'property', 'properties')}: {_MEASURES[measure]} "
                f"{tip.split(column.heading, 1)[1].strip()}"
                for of, series, n, tip in drawn.select("of", "series", "n", "tip").iter_rows()
            ],
            dtype=pl.String,
        ),
        chance=pl.col("chance_mrr") if measure == "mrr" else pl.lit(None, pl.Float64),
    )
    values = [*whole[measure], *whole[f"{measure}_high"]]
    values += [*whole["chance_mrr"]] if measure == "mrr" else []
    axis = Axis(_MEASURES[measure], bounds([0.0, *values]), column.kind == "percent")
    held = set(drawn["series"])
    shown = [one for one in told if one.name in held]
    across = "number of properties in the prompt"
    return Curves(drawn, axis, colours, _MEASURES[measure], across, shown)


def _pair(
    table: pl.DataFrame,
    of: str,
    told: Sequence[Series],
    colours: Palette,
    banded: Collection[str] | None = None,
) -> list[alt.LayerChart]:
    """Draw two panels for a model: reciprocal rank and probability of the concept."""
    part = table.filter(of=of)
    second = "renormalised" if part["probability"].is_null().all() else "probability"
    first = replace(_curves(part, table, "mrr", told, colours), heading=of, banded=banded)
    other = replace(_curves(part, table, second, told, colours), banded=banded)
    return [first.chart(), replace(other, legend=False).chart()]


def _counts(part: pl.DataFrame, colours: Palette) -> alt.LayerChart:
    """Draw a grid with the number of concepts at each point of the retrieval curves."""
    import polars as pl

    cells = part.select(
        "series",
        row="series",
        column=pl.col("n").cast(pl.String),
        told=pl.Series([f"{n:,}" for n in part["concepts"]]),
        hue=pl.lit(mixed(colours.muted, 0.2)),
        tip=pl.Series(
            [
                f"{of}, {several(n, 'property', 'properties')}: {several(concepts, 'concept')}"
                for of, n, concepts in part.select("series", "n", "concepts").iter_rows()
            ],
            dtype=pl.String,
        ),
    )
    rows = cells["row"].unique(maintain_order=True).to_list()
    columns = sorted(cells["column"].unique(), key=int)
    return Grid(cells, colours, "concepts", rows, columns, cell=(34, 24)).chart()


def _elicited(shown: Shown) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the name of each available elicitation measure, and the rows to draw."""
    import polars as pl

    lanes = {"label": pl.col("relation"), "series": pl.col("model")}
    if (table := shown.table("elicitation_by_relation")) is not None:
        table = with_preface(table)[0].with_columns(**lanes)
        column = TABLES["elicitation_by_relation"].column("map")
        for over in ("vocabulary", "sensible"):
            yield (
                f"map {over}",
                measured(
                    table.filter(over=over),
                    column,
                    n=TABLES["elicitation_by_relation"].column("prompts"),
                ),
            )
    if (table := shown.table("agreement")) is not None:
        table, column = with_preface(table)[0], TABLES["agreement"].column("spearman")
        used = TABLES["agreement"].column("used")
        yield "spearman", measured(table.with_columns(**lanes), column, n=used)


def _lanes(
    rows: pl.DataFrame,
    measure: str,
    heading: str,
    order: Sequence[str],
    shown: Shown,
    words: Sequence[tuple[str, str]] = (("", "told"), ("n", "count")),
) -> alt.LayerChart:
    """Draw a panel with a row per relation, and a separate mark for each model."""
    values = [0.0, *rows["value"], *rows["low"], *rows["high"]]
    title = "Spearman's rho" if measure == "spearman" else "mean average precision"
    domain = bounds(values, -1.0)
    axis = Axis(title, domain, dotted=0.0 if domain[0] < 0 else None)
    told = series(shown.labels.values(), shown.look.colours)
    several = told if len(told) > 1 else ()
    return Rows(rows, axis, shown.look.colours, heading, order, several, words=words).chart()


def _relations(tables: Iterable[pl.DataFrame]) -> list[str]:
    """Return the relations in the order of Weir et al. (2020), followed by other relations."""
    held = {name for table in tables for name in table["relation"]}
    known = list(load_templates().relations)
    return [name for name in known if name in held] + sorted(held - set(known))


def _named(names: Collection[str]) -> str:
    """Return the model's name as a title suffix; empty if the figure shows several models."""
    return f": {next(iter(names))}" if len(names) == 1 else ""
