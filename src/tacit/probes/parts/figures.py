"""The figures of the parts probe (Gu et al. 2023, Figures 3 to 6 and 11, and Table 3)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tacit.charts.figures import Drawn, Figures
from tacit.charts.marks import Curves, LabelledRows
from tacit.charts.panels import in_rows
from tacit.charts.plots import Histograms
from tacit.charts.shown import Shown, counted
from tacit.charts.theme import Palette, Series
from tacit.english import several
from tacit.findings.numbers import points
from tacit.findings.spec import Column
from tacit.probes.parts import TABLES
from tacit.probes.parts.measures import measures
from tacit.probes.parts.questions import QUESTION

_COLUMN = 20  # things per column
_LOWEST = 15  # rows of a figure that is not in the paper
_UNLABELLED = "statements"
_BEFORE = "before repair"
_AFTER = "after repair (paper)"
_ALL = {"drawings": 300, "statements": 216_580}  # of the 300 published drawings


def probabilities(shown: Shown) -> Drawn | None:
    """The beliefs in statements with the gold label true and false (not in Gu et al. 2023)."""
    table = shown.table("beliefs")
    if table is None:
        return None
    labelled = table.drop_nulls("label")
    table = (table if labelled.is_empty() else labelled).drop_nulls("p_true")
    names = ("true statements", "false statements")
    side = pl.when("label").then(pl.lit(names[0])).otherwise(pl.lit(names[1]))
    table = table.with_columns(
        side=side.replace({} if labelled.height else {names[1]: _UNLABELLED})
    )
    table = table.unique(["model", *QUESTION, "side", "p_true"], maintain_order=True)
    if table.is_empty():
        return None
    hues = zip(names if labelled.height else [_UNLABELLED], shown.colours.series, strict=False)
    drawn = Histograms(
        table,
        Column("p_true", "P(true)", "score"),
        shown.colours,
        by="side",
        series=[Series(*each) for each in hues],
    )
    return in_rows(drawn.panels("model"), 2), {}


def violations(shown: Shown) -> Drawn | None:
    """Violation rates by constraint type, with baselines (Gu et al. 2023, Table 3)."""
    table = shown.defined("violation", "rate")
    table = None if table is None else table.filter(stage="before")
    if table is None or table["rate"].is_null().all():
        return None
    spec, ticks = (
        TABLES["violation"],
        {"shuffled": "shuffled beliefs", "always_true": "always true"},
    )
    decided = pl.col("applicable") - pl.col("undecided")
    named = pl.format("{} ({})", "constraint", decided.map_elements("{:,}".format, pl.String))
    table = table.filter(pl.col("rate").is_not_null().any().over("model"))
    table = table.with_columns(label=named.fill_null(pl.col("constraint")))
    if any(_ALL.items() <= findings.summary.items() for findings in shown.found.values()):
        published = _published_rates()
        ticks |= {name: name for name in published}
        table = table.with_columns(
            pl.col("constraint").replace_strict(rates, default=None).cast(float).alias(name)
            for name, rates in published.items()
        )
    rows = LabelledRows(
        table,
        spec.column("rate"),
        shown.colours,
        label="label",
        ticks=ticks,
        domain=(0, 1),
        width=320,
    )
    lines = None if rows.drawn["low"].is_null().all() else "lines"
    return [[panel] for panel in rows.panels("model")], {"lines": lines}


def _published_rates() -> Mapping[str, Mapping[str, float]]:
    """Return the violation rates in Table 3 of Gu et al. (2023), by model and constraint."""
    from tacit.findings.published import printed_values

    rates: dict[str, dict[str, float]] = {}
    no_things = pl.DataFrame({"thing": []}, {"thing": pl.String})
    for cell in printed_values("parrot", {"agreed": no_things}):
        if cell.block["from"] == "violation" and cell.column == "rate" and cell.value is not None:
            rates.setdefault(f"{cell.model} (published)", {})[cell.row] = cell.value / 100
    return rates


def accuracy_at(shown: Shown) -> Drawn | None:
    """The share of drawings with at least s % accuracy (Gu et al. 2023, Figure 3)."""
    table = _staged("accuracy_at", "share", shown)
    if table is None:
        return None
    gains = _gains(table, ["model", "s"], "share").rename({"gain": "share"})
    both = [table, gains.with_columns(series=pl.lit("improvement"))]
    curves = Curves(
        pl.concat(both, how="diagonal_relaxed"),
        TABLES["accuracy_at"].column("share"),
        shown.colours,
        across=Column("s", "minimum accuracy (%)", "count"),
        by="series",
        series=(
            *_series(shown.colours),
            Series("improvement", shown.colours.ink, "square", (4, 3)),
        ),
        chance="always_true",
        domain=(min(0.0, *gains["share"]), 1.0),
    )
    return [[panel] for panel in curves.panels("model")], {"n": counted(table["n"], "drawing")}


def accuracy_by_relation(shown: Shown) -> Drawn | None:
    """Each relation's accuracy before and after repair (Gu et al. 2023, Figure 4)."""
    table = _staged("accuracy_by_relation", "accuracy", shown)
    if table is None:
        return None
    before = pl.col("accuracy").filter(series=_BEFORE).first().over("model", "relation")
    table = table.sort(
        "model", before, descending=[False, True], nulls_last=True, maintain_order=True
    )
    return _gained(table, "relation", shown)


def best_and_worst_things(shown: Shown) -> Drawn | None:
    """The things with the best and the worst accuracy (Gu et al. 2023, Figures 5 and 6)."""
    band = pl.col("band").str.split(" ").list.first()
    return _things(shown, pl.col("band") != "middle", pl.format("{}: ", band))


def all_things(shown: Shown) -> Drawn | None:
    """The things with medium accuracy (Gu et al. 2023, Figure 11)."""
    return _things(shown, pl.col("band") == "middle", pl.lit(""))


def relations(shown: Shown) -> Drawn | None:
    """Each relation's accuracy before repair (not in Gu et al. 2023)."""
    return _lowest(shown, "relation")


def worst_things(shown: Shown) -> Drawn | None:
    """The things with the lowest accuracy before repair (not in Gu et al. 2023)."""
    return _lowest(shown, "thing")


def _lowest(shown: Shown, key: str) -> Drawn | None:
    """Rows of the lowest accuracies before repair, with a panel per model."""
    table, spec = shown.defined(f"accuracy_by_{key}", "accuracy"), TABLES[f"accuracy_by_{key}"]
    if table is None:
        return None
    lowest = table.filter(stage="before").drop_nulls("accuracy").sort("accuracy", "n", key)
    rows = LabelledRows(
        lowest.group_by("model", maintain_order=True)
        .head(_LOWEST)
        .with_columns(label=pl.format("{} ({})", key, "n")),
        spec.column("accuracy"),
        shown.colours,
        label="label",
        reference=spec.column("always_true"),
        domain=(0.0, 1.0),
        dotted=0.5,
    )
    return in_rows(rows.panels("model"), 2), {}


def _things(shown: Shown, band: pl.Expr, kind: pl.Expr) -> Drawn | None:
    """The accuracy on each thing in a band of ranks, with one row of panels per model."""
    table = _staged("accuracy_by_thing", "accuracy", shown)
    table = None if table is None else table.filter(band).drop_nulls("rank").sort("rank")
    if table is None or table.is_empty():
        return None
    rank, per = pl.col("rank"), ("model", "kind", "column")
    at = (rank.rank("dense") - 1) // _COLUMN
    table = table.with_columns(kind=kind, column=pl.when(band="middle").then(at).otherwise(0))
    ends = (rank.min().over(per), rank.max().over(per))
    heading = pl.format("{}: {}things {} to {} by accuracy", "model", "kind", *ends)
    return _gained(table.with_columns(heading=heading), "thing", shown)


def _gained(table: pl.DataFrame, key: str, shown: Shown) -> Drawn:
    """Rows of accuracies before and after repair with the gain; a row of panels per model."""
    n = pl.col("n").map_elements("{:,}".format, pl.String)
    rank = [pl.format("{}. ", "rank")] if "rank" in table.columns else []
    gain = pl.col("gain").map_elements(points, pl.String).str.strip_suffix(" points")
    gains = _gains(table, ["model", key], "accuracy")
    spec = TABLES[f"accuracy_by_{key}"]
    rows = LabelledRows(
        table.join(
            gains.with_columns(gain), on=["model", key, "series"], how="left", maintain_order="left"
        ).with_columns(label=pl.concat_str(*rank, pl.format("{} ({})", key, n))),
        spec.column("accuracy"),
        shown.colours,
        label="label",
        by="series",
        series=_series(shown.colours),
        reference=spec.column("always_true"),
        told=[spec.column("n")],
        domain=(0.0, 1.0),
        dotted=0.5,
        joined=spec.column("accuracy").ends is None,
        words=[Column("gain", "gain")],
        width=280 if spec.column("accuracy").ends else 200,
    )
    by = "heading" if "heading" in table.columns else "model"
    missing = int(table.filter(series=_BEFORE)["missing"].sum())
    return (
        [
            rows.of(part).panels(by)
            for part in rows.table.partition_by("model", maintain_order=True)
        ],
        {"left_out": several(missing, "labelled statement") if missing else None},
    )


def _staged(name: str, column: str, shown: Shown) -> pl.DataFrame | None:
    """Return a table's rows for the stages before and after repair; None if there are none."""
    table = shown.defined(name, column)
    if table is None:
        return None
    stages = {"before": _BEFORE, "paper": _AFTER}
    table = table.with_columns(series=pl.col("stage").replace_strict(stages, default=None))
    table = table.drop_nulls("series")
    return None if table.is_empty() else table


def _series(colours: Palette) -> tuple[Series, Series]:
    after = Series(_AFTER, colours.of("paper"), "diamond")
    return Series(_BEFORE, colours.before), after


def _gains(table: pl.DataFrame, keys: list[str], share: str) -> pl.DataFrame:
    """Return the values after repair minus those before repair, with the series after repair."""
    before = table.filter(series=_BEFORE).select(*keys, before=share)
    after = table.filter(pl.col("series") != _BEFORE).select(*keys, "series", after=share)
    both = before.join(after, on=keys, maintain_order="left")
    return both.select(*keys, "series", gain=pl.col("after") - pl.col("before")).drop_nulls()


FIGURES = Figures("parts", globals(), measures)
