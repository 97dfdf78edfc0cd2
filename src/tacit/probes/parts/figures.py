"""The figures of the parts probe (Gu et al. 2023, Figures 3 to 6 and 11, and Table 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.charts.marks import Axis, Curves, Rows, measured, page
from tacit.charts.scale import scale_chart
from tacit.charts.shown import counted, titled
from tacit.charts.theme import Series
from tacit.english import several
from tacit.findings.numbers import points
from tacit.findings.spec import figure
from tacit.probes.parts.scale import scaling
from tacit.probes.parts.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Palette, Theme
    from tacit.findings.spec import FigureSpec

_INTERVAL = "95 % bootstrap intervals (resampled units: everyday things, such as a tree)"
_GAIN = "gain: accuracy after repair minus accuracy before repair, in percentage points"
_COLUMN = 20  # things per column
_BEFORE = "before repair"
_ALWAYS_TRUE = "always_true"
_TICK = "tick: accuracy of a model that always answers true"
_BAR = "M0,-1.2L0,1.2"  # the shape of a tick
_ALL_STATEMENTS = 216_580  # of the 300 published drawings


@figure(
    "Share of annotators' drawings for which beliefs reach a minimum accuracy",
    "This figure corresponds to Figure 3 of Gu et al. (2023). The figure shows the share of "
    "drawings for which the accuracy of the beliefs is at least the value on the horizontal "
    "axis. The higher the curve, the more accurate are the beliefs.",
)
def accuracy_at(shown: Shown) -> Chart | None:
    """Plot the share of drawings with at least s % accuracy (Gu et al. 2023, Figure 3)."""
    import polars as pl

    table, look = _by_objective("accuracy_at", "share", shown), shown.look
    if table is None:
        return None
    column = TABLES["accuracy_at"].column("share")
    gains = _gains(table, ["model", "s"], "share")
    better = gains.select("model", "s", share="gain", series=pl.lit("improvement"))
    both = pl.concat([table, better], how="diagonal_relaxed").with_columns(
        at="s", chance=_ALWAYS_TRUE
    )
    drawn = measured(both.with_columns(label=pl.format("s = {} %", "s")), column)
    series = (*_series(look), Series("improvement", look.colours.ink, "square", (4, 3)))
    least = min([0.0, *drawn["value"].drop_nulls()])
    axis = Axis("share of drawings", (least, 1.0), percent=True)
    panels = [
        Curves(
            drawn.filter(model=model), axis, look.colours, model, "minimum accuracy (%)", series
        ).chart()
        for model in table["model"].unique(maintain_order=True)
    ]
    title = titled(
        "Share of annotators' drawings for which beliefs reach a minimum accuracy",
        f"{counted(table['n'], 'drawing')}; bands: {_INTERVAL}",
        "improvement: the share of drawings that reach the minimum accuracy after repair, minus "
        "the share before repair; dotted line: the share for a model that always answers “true”",
    )
    return page(title, *([each] for each in panels))


@figure(
    "Accuracy by relation",
    "This figure corresponds to Figure 4 of Gu et al. (2023). For each relation, the figure "
    "shows the accuracy of the beliefs before and after repair.",
)
def accuracy_by_relation(shown: Shown) -> Chart | None:
    """Plot each relation's accuracy before and after repair (Gu et al. 2023, Figure 4)."""
    table = _by_objective("accuracy_by_relation", "accuracy", shown)
    if table is None:
        return None
    title = titled(
        "Accuracy by relation, before and after repair",
        f"in brackets: number of labelled statements; {_left_out(table)}; lines: {_INTERVAL}"
        + "; hollow mark: no interval" * bool(table["low"].is_null().any()),
        f"{_GAIN}; dotted line: accuracy of 50 %; {_TICK}",
    )
    panels = []
    for (model,), part in table.group_by("model", maintain_order=True):
        before = part.filter(series=_BEFORE)
        ranks = before.sort("accuracy", descending=True, nulls_last=True, maintain_order=True)
        names = dict(zip(ranks["relation"], _counts(ranks, "relation"), strict=True))
        panels.append([_rows(part, names, "relation", str(model), shown.look)])
    return page(title, *panels)


@figure(
    "Things with the best and the worst accuracy",
    "This figure corresponds to Figures 5 and 6 of Gu et al. (2023).",
)
def best_and_worst_things(shown: Shown) -> Chart | None:
    """Plot the things with the best and the worst accuracy."""
    import polars as pl

    return _things(shown, pl.col("band") != "middle", "band")


@figure("Things with medium accuracy", "This figure corresponds to Figure 11 of Gu et al. (2023).")
def all_things(shown: Shown) -> Chart | None:
    """Plot the things with medium accuracy (Gu et al. 2023, Figure 11)."""
    import polars as pl

    return _things(shown, pl.col("band") == "middle", "column")


@figure(
    "Size of models",
    "The violation rate, plotted against the number of parameters for each family of models (not a "
    "figure of Gu et al. 2023).",
)
def size_of_models(shown: Shown) -> Chart | None:
    """Plot models' violation rates against model sizes (not a figure of Gu et al. 2023)."""
    return scale_chart(shown, scaling)


@figure(
    "Constraint violations by type",
    "This figure corresponds to Table 3 of Gu et al. (2023); baselines are added. All violation "
    "rates are measured before repair. Compare each violation rate with the violation rate of "
    "shuffled beliefs (the same beliefs in random order).",
)
def violations(shown: Shown) -> Chart | None:
    """Plot violation rates by constraint type, with baselines (Gu et al. 2023, Table 3)."""
    import polars as pl

    table = shown.defined("violation", "rate")
    table = None if table is None else table.filter(stage="before")
    if table is None or table["rate"].is_null().all():
        return None
    spec, panels, colours = TABLES["violation"], [], shown.look.colours
    for model, label in shown.labels.items():
        part = table.filter(model=label).with_columns(
            decided=pl.col("applicable") - pl.col("undecided")
        )
        if part["rate"].is_null().all():
            continue
        published = _published_rates() if _is_all(shown.found[model].summary) else {}
        ticks = _violation_ticks(published, colours)
        part = part.with_columns(
            pl.col("constraint")
            .replace_strict(published.get(one.name, {}), default=None)
            .cast(pl.Float64)
            .alias(one.name)
            for one in ticks[2:]
        ).rename({"shuffled": ticks[0].name, "always_true": ticks[1].name})
        labels = [
            name if n is None else f"{name} ({n:,})"
            for name, n in part.select("constraint", "decided").iter_rows()
        ]
        drawn = measured(part.with_columns(label=pl.Series(labels)), spec.column("rate"))
        axis = Axis("violation rate", (0.0, 1.0), percent=True)
        panels.append([Rows(drawn, axis, colours, label, labels, ticks=ticks, width=320).chart()])
    title = titled(
        "Constraint violations by type, before repair",
        "in brackets: number of constraints that apply to the beliefs (constraints that depend on "
        "a missing belief are not counted); "
        + (
            "violation rates are shown without confidence intervals"
            if table["low"].is_null().all()
            else f"lines: {_INTERVAL}; hollow mark: no interval"
        ),
        "macro: mean over constraint types; micro: rate over all constraints together; shuffled "
        "beliefs: the model's beliefs, permuted among the statements about the same drawing; "
        "always true: every statement is believed",
    )
    return page(title, *panels)


def _violation_ticks(published: Mapping[str, Any], colours: Palette) -> tuple[Series, ...]:
    """Return the tick marks: one per baseline, and one per model in Gu et al. (2023)."""
    hues = (colours.faults[0], colours.gold, colours.after["margin"], colours.after["log-odds"])
    names = ("shuffled beliefs", "always true", *published)
    return tuple(Series(name, hue, _BAR) for name, hue in zip(names, hues, strict=False))


def _published_rates() -> dict[str, dict[str, float]]:
    """Return the violation rates in Table 3 of Gu et al. (2023), by model and constraint."""
    import polars as pl

    from tacit.findings.published import printed_values

    rates: dict[str, dict[str, float]] = {}
    no_things = pl.DataFrame({"thing": []}, {"thing": pl.String})
    for cell in printed_values("parrot", {"agreed": no_things}):
        if cell.block["from"] == "violation" and cell.column == "rate" and cell.value is not None:
            rates.setdefault(f"{cell.model} (published)", {})[cell.row] = cell.value / 100
    return rates


def _is_all(summary: Mapping[str, Any]) -> bool:
    """Check whether a run covers the 300 drawings of Table 3 in Gu et al. (2023)."""
    return (summary.get("drawings"), summary.get("statements")) == (300, _ALL_STATEMENTS)


FIGURES: Mapping[str, FigureSpec] = {
    one.name: one
    for one in (
        violations,
        accuracy_at,
        accuracy_by_relation,
        best_and_worst_things,
        all_things,
        size_of_models,
    )
}


def _things(shown: Shown, band: pl.Expr, by: str) -> Chart | None:
    """Plot the accuracy on each thing, with one row of panels per model."""
    import polars as pl

    table = _by_objective("accuracy_by_thing", "accuracy", shown)
    table = None if table is None else table.filter(band).drop_nulls("rank").sort("rank")
    if table is None or table.is_empty():
        return None
    ranks = {rank: at // _COLUMN for at, rank in enumerate(sorted(set(table["rank"])))}
    table = table.with_columns(column=pl.col("rank").replace_strict(ranks))
    panels = []
    for (model,), of in table.group_by("model", maintain_order=True):
        row = []
        for _, part in of.group_by(by, maintain_order=True):
            before = part.filter(series=_BEFORE)
            labels = _counts(before, "thing")
            names = {
                thing: f"{rank}. {label}"
                for thing, rank, label in zip(before["thing"], before["rank"], labels, strict=True)
            }
            first, *_, last = [*before["rank"], before["rank"][-1]]
            kind = f"{part['band'][0].split()[0]}: " if by == "band" else ""
            row.append(
                _rows(
                    part,
                    names,
                    "thing",
                    f"{model}: {kind}things {first} to {last} by accuracy",
                    shown.look,
                )
            )
        panels.append(row)
    title = titled(
        "Accuracy by thing, before and after repair",
        "sorted by accuracy before repair; in brackets: number of labelled statements; "
        f"{_left_out(table)}",
        f"{_GAIN}; dotted line: accuracy of 50 %; {_TICK}",
    )
    return page(title, *panels)


def _rows(
    part: pl.DataFrame, names: Mapping[str, str], key: str, heading: str, look: Theme
) -> alt.LayerChart:
    """Plot the accuracy of each thing or relation before and after repair, and the gain."""
    import polars as pl

    labelled = part.with_columns(label=pl.col(key).replace_strict(names))
    gains = _gains(labelled, ["label"], "accuracy").with_columns(
        series=pl.lit(_after(look)),
        gain=pl.col("gain").map_elements(_points, return_dtype=pl.String),
    )
    labelled = labelled.join(gains, on=["label", "series"], how="left", maintain_order="left")
    column = TABLES["accuracy_by_relation"].column("accuracy")
    intervals = "low" in part.columns
    panel = Rows(
        measured(labelled, column, _ALWAYS_TRUE, TABLES["accuracy_by_relation"].column("n")),
        Axis("accuracy", (0.0, 1.0), percent=True, dotted=0.5),
        look.colours,
        heading,
        list(names.values()),
        _series(look),
        joined=not intervals,
        words=(("gain", "gain"),),
    )
    return replace(panel, width=280 if intervals else 200).chart()


def _by_objective(name: str, column: str, shown: Shown) -> pl.DataFrame | None:
    """Return a table's rows for the stages before and after repair; None if there are none."""
    import polars as pl

    table = shown.defined(name, column)
    if table is None:
        return None
    named = {"before": _BEFORE, shown.look.objective: _after(shown.look)}
    table = table.filter(pl.col("stage").is_in(list(named)))
    table = table.with_columns(series=pl.col("stage").replace_strict(named))
    return None if table.is_empty() else table


def _after(look: Theme) -> str:
    """Return the series name of the repaired beliefs, such as "after repair (paper)"."""
    return f"after repair ({look.objective})"


def _series(look: Theme) -> tuple[Series, Series]:
    colours = look.colours
    return (
        Series(_BEFORE, colours.before, "circle"),
        Series(_after(look), colours.of(look.objective), "diamond"),
    )


def _gains(table: pl.DataFrame, keys: list[str], share: str) -> pl.DataFrame:
    """Subtract the values of the column ``share`` before repair from the values after repair."""
    import polars as pl

    before = table.filter(series=_BEFORE).select(*keys, before=share)
    after = table.filter(pl.col("series") != _BEFORE).select(*keys, after=share)
    both = before.join(after, on=keys, maintain_order="left")
    return both.select(*keys, gain=pl.col("after") - pl.col("before")).drop_nulls()


def _points(gain: float) -> str:
    return points(gain).removesuffix(" points")


def _left_out(table: pl.DataFrame) -> str:
    missing = int(table.filter(series=_BEFORE)["missing"].sum())
    if not missing:
        return "no labelled statement is excluded"
    return f"{several(missing, 'labelled statement')} excluded because the belief is unknown"


def _counts(table: pl.DataFrame, name: str) -> list[str]:
    """Return each row's label: name and number of statements, such as "egg (120)"."""
    return [f"{name} ({n:,})" for name, n in table.select(name, "n").iter_rows()]
