"""Retrieval against the number of properties: models, categories and orders (Figures 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.assumptions.panels import (
    Series,
    by_wording,
    chance,
    ends,
    intervals,
    series,
    spread,
    wordings,
)
from tacit.probes.assumptions.panels_lines import Curves
from tacit.probes.assumptions.retrieved import MAIN, reads_sentences
from tacit.probes.figures.charts import SHAPES
from tacit.probes.figures.panels import below, counted, score, spanned, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart, Palette
    from tacit.probes.figures.panels import Shown

ALL = "all categories"
ORDERS = {
    "top-decreasing": "top, decreasing",
    "top-increasing": "top, increasing",
    "random": "random",
    "bottom-decreasing": "bottom, decreasing",
    "bottom-increasing": "bottom, increasing",
}
_SOLID, _DASHED, _DOTTED = (), (6, 3), (2, 2)
_WIDTHS = {1: 300, 2: 330, 3: 270}  # pixels of a panel by how many stand in a row
_PAIR, _ALL_THREE = 740.0, 980.0  # pixels of a caption above two panels, and above three
_MEASURES = {
    "mrr": "mean reciprocal rank",
    "probability": "probability",
    "renormalised": "probability among the candidates",
}


@dataclass(frozen=True)
class _Sheet:
    """What all panels of a figure share.

    Args:
        table: All rows, with ``of`` (the model), ``series`` and ``count``.
        series: What is told apart.
        colours: The palette.
        width: Pixels of a panel.
        banded: The series that have a band; all when None.
    """

    table: pl.DataFrame
    series: Sequence[Series]
    colours: Palette
    width: int
    banded: Sequence[str] | None = None

    def curves(self, measure: str, model: str | None = None) -> Curves:
        """A measure's panel, of one model or of all; its axis is the same for all models."""
        import polars as pl

        table = self.table if model is None else self.table.filter(of=model)
        tips = [_tip(row, measure) for row in table.iter_rows(named=True)]
        rows = table.with_columns(
            value=pl.col(measure),
            low=pl.col(f"{measure}_low"),
            high=pl.col(f"{measure}_high"),
            chance=pl.col("chance_mrr") if measure == "mrr" else pl.lit(None, pl.Float64),
            tip=pl.Series(tips, dtype=pl.String),
        )
        held = set(rows["series"])
        return Curves(
            rows,
            [one for one in self.series if one.name in held],
            _MEASURES[measure],
            ends([*self.table[measure], *self.table[f"{measure}_high"], *rows["chance"]]),
            self.colours,
            self.width,
            self.banded,
        )

    def models(self) -> list[str]:
        """The models, in the order of the table."""
        return self.table["of"].unique(maintain_order=True).to_list()


def retrieval(shown: Shown) -> Chart | None:
    """Figure 2: reciprocal rank and probability of the concept by number of properties.

    Returns:
        The chart, a curve per model and wording; None when no concept has a rank.
    """
    import altair as alt
    import polars as pl

    table = _ranked(shown)
    if table is None:
        return None
    table = table.filter(pl.col("category").is_null(), order=MAIN)
    table = table.with_columns(series="of", count="concepts")
    if table.is_empty():
        return None
    of = series(table["of"].unique(maintain_order=True), shown.look.colours)
    measures = [name for name in _MEASURES if not table[name].is_null().all()]
    sheet = _Sheet(table, of, shown.look.colours, _WIDTHS[len(measures)])
    charts = [
        sheet.curves(name).chart(f"{letter}) {_MEASURES[name]}", legend=len(of) > 1)
        for letter, name in zip("abc", measures, strict=False)
    ]
    named = "" if len(of) > 1 else f": {of[0].name}"
    title = titled(
        f"Retrieving a concept from its properties{named}",
        "mean over concepts of the reciprocal rank of the concept's word among the candidates, of "
        "its probability among all that the model may write there, and of its probability among "
        f"the candidates alone{_whole(shown)}",
        chance_told(table),
        f"properties: the most frequently named first; bands: {intervals(shown)}",
        f"{counted(table['concepts'], 'concept')}{_missing(table)}; {wordings(table)}",
        width=_PAIR if len(measures) < len(_MEASURES) else _ALL_THREE,
    )
    return alt.vconcat(alt.hconcat(*charts, spacing=30), title=title)


def retrieval_categories(shown: Shown) -> Chart | None:
    """Figure 3a: the same with properties of one category only, and of all.

    Returns:
        The chart, a row of panels per model; None when no category was asked about.
    """
    import polars as pl

    table = _ranked(shown)
    if table is None:
        return None
    table = table.filter(order=MAIN)
    if table["category"].is_null().all():
        return None
    told = pl.Series([f"{n:,}" for n in table["concepts"]], dtype=pl.String)
    table = table.with_columns(series=pl.col("category").fill_null(ALL), count=told)
    kinds = table["category"].drop_nulls().unique(maintain_order=True)
    colours = shown.look.colours
    whole = Series(ALL, colours.gold, SHAPES[0], _DASHED)
    sheet = _Sheet(table, [whole, *series([ALL, *kinds], colours)[1:]], colours, _WIDTHS[2])
    title = titled(
        "Retrieving a concept from properties of one category",
        "a concept counts at k properties when it has at least k of the category, so that the n "
        "concepts are fewer the larger k is",
        f"properties: the most frequently named first; bands: {intervals(shown)}; "
        f"{wordings(table)}",
        chance_told(table),
        width=_PAIR,
    )
    return below([_with_counts(sheet, model) for model in sheet.models()], title, spacing=40)


def retrieval_orders(shown: Shown) -> Chart | None:
    """Figure 3b: the most and the least frequently named properties, in either order, and random.

    Returns:
        The chart, a row of panels per model; None when only one order was asked.
    """
    import polars as pl

    table = _ranked(shown)
    if table is None:
        return None
    table = table.filter(pl.col("category").is_null(), pl.col("order").is_in(list(ORDERS)))
    if table["order"].n_unique() < 2:  # noqa: PLR2004 - one order has nothing beside it
        return None
    table = table.with_columns(series=pl.col("order").replace_strict(ORDERS), count="concepts")
    sheet = _Sheet(table, _orders(shown.look.colours), shown.look.colours, _WIDTHS[2], ["random"])
    drawn = "random" in set(table["order"])
    band = f"random: mean over each concept's draws first; band: {intervals(shown)}"
    title = titled(
        "Retrieving a concept by which properties are stated, and in which order",
        "top: the concept's most frequently named properties; bottom: its least frequently named; "
        "stated by decreasing or increasing production frequency",
        band if drawn else "",
        chance_told(table),
        f"{counted(table['concepts'], 'concept')}{_missing(table)}; {wordings(table)}",
        width=_PAIR,
    )
    *first, last = sheet.models()
    rows = [*(_side_by_side(sheet, model, legend=False) for model in first),
            _side_by_side(sheet, last, legend=True)]  # fmt: skip
    return below(rows, title, spacing=40)


def _ranked(shown: Shown) -> pl.DataFrame | None:
    """The measures of retrieval where some concept has a rank, with ``of``.

    The probability of a whole sentence is left out: only the one among the candidates is shown.
    """
    import polars as pl

    table = shown.defined("retrieval_by_number", "mrr")
    if table is None:
        return None
    kinds = dict(shown.summaries("kind"))
    whole = pl.Series(
        [
            reads_sentences(kinds.get(model), wording)
            for model, wording in table.select("model", "wording").iter_rows()
        ],
        dtype=pl.Boolean,
    )
    names = [f"probability{end}" for end in ("", "_low", "_high")]
    hidden = (pl.when(~whole).then(pl.col(name)).alias(name) for name in names)
    return by_wording(table.with_columns(hidden).drop_nulls("mrr"))


def _whole(shown: Shown) -> str:
    """What a caption says where some model gives the probability of whole sentences only."""
    if any(
        reads_sentences(kind, wording)
        for model, kind in shown.summaries("kind")
        for wording in dict(shown.summaries("wordings")).get(model, ())
    ):
        return " (the only one that a causal model has in the wording sentence)"
    return ""


def chance_told(table: pl.DataFrame) -> str:
    """What a caption says of the candidates and the chance level of each model's ranks.

    Args:
        table: ``of``, ``candidates`` and ``chance_mrr``.
    """
    import polars as pl

    levels = table.group_by("of", maintain_order=True).agg(
        pl.col("candidates").max(), pl.col("chance_mrr").mean()
    )
    told: dict[str, list[str]] = {}
    for of, candidates, level in levels.iter_rows():
        text = f"chance {level:.3f} among {several(candidates, 'candidate')}"
        told.setdefault(text, []).append(of)
    dotted = "dotted: mean reciprocal rank by chance"
    if len(told) == 1:
        return f"{dotted}, {next(iter(told)).removeprefix('chance ')}"
    listed = "; ".join(f"{', '.join(of)}: {text}" for text, of in told.items())
    return f"{dotted}; {listed}; ranks among different candidates are not comparable"


def _orders(colours: Palette) -> tuple[Series, ...]:
    top, bottom = colours.before, colours.after["paper"]
    looks = {
        "top-decreasing": (top, "circle", _SOLID),
        "top-increasing": (top, "triangle-up", _DASHED),
        "random": (colours.gold, "cross", _DOTTED),
        "bottom-decreasing": (bottom, "square", _SOLID),
        "bottom-increasing": (bottom, "triangle-down", _DASHED),
    }
    return tuple(Series(ORDERS[order], *look) for order, look in looks.items())


def _tip(row: Mapping[str, Any], measure: str) -> str:
    value, low, high = (row[f"{measure}{end}"] for end in ("", "_low", "_high"))
    stated = several(row["n"], "property", "properties")
    how = score if measure == "mrr" else chance
    return (
        f"{row['of']}, {row['series']}, {stated}: {_MEASURES[measure]} {how(value)}"
        f"{spanned(low, high, how)}, n = {several(row['concepts'], 'concept')}"
    )


def _side_by_side(sheet: _Sheet, model: str, *, legend: bool) -> alt.HConcatChart:
    """A model's row: reciprocal rank and probability (of whole sentences: among candidates)."""
    import altair as alt

    charts = [
        sheet.curves(name, model).chart(_MEASURES[name], model=named, legend=legend)
        for name, named in (("mrr", model), (_second(sheet.table, model), ""))
    ]
    return alt.hconcat(*charts, spacing=30)


def _second(table: pl.DataFrame, model: str) -> str:
    """The probability that a model's second panel shows."""
    own = table.filter(of=model)["probability"]
    return "renormalised" if own.is_null().all() else "probability"


def _with_counts(sheet: _Sheet, model: str) -> alt.HConcatChart:
    """The same, its series told by the counts below the first panel."""
    import altair as alt

    first, second = _side_by_side(sheet, model, legend=False).hconcat
    counts = sheet.curves("mrr", model).counts("concepts")
    return alt.hconcat(alt.vconcat(first, counts, spacing=22), second, spacing=30)


def _missing(table: pl.DataFrame) -> str:
    """How many concepts the model cannot write, where there are some."""
    import polars as pl

    gone = table.group_by("of").agg(pl.col("missing").max())["missing"].to_list()
    return f" ({spread(gone)} more, whose word the model cannot write, left out)" * any(gone)
