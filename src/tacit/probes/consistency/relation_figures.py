"""Plot background score against conceptual consistency, for each relation and model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.charts.marks import Axis, bounds, heading, measured, page
from tacit.charts.shown import counted, titled
from tacit.charts.theme import mixed
from tacit.findings.numbers import score
from tacit.findings.spec import figure
from tacit.probes.consistency.tables import TABLES

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Palette

FEWEST_ANCHORS = 10
"""Number of anchor questions below which a relation is plotted in grey.

A relation that is plotted in grey is not labelled as an outlier.
"""

GREY = f"grey: fewer than {FEWEST_ANCHORS} anchor questions"

_PER_ROW = 3
_SIDE = 200  # pixels


def by_relation(shown: Shown) -> pl.DataFrame | None:
    """Return background score and consistency by model and relation, or None without data."""
    found, known = shown.table("consistency_by_relation"), shown.table("background_by_relation")
    if found is None or known is None:
        return None
    columns = ("model", "consistency", "chance", "n", "lift_low")
    found = found.select(*columns, relation="name")
    return known.join(found, on=["model", "relation"], how="left", maintain_order="left")


@figure(
    "Background score and consistency of each relation",
    "This figure shows the same measures as Figure 5 of Sahu et al. (2022). The figure has one "
    "panel per relation and one mark per model.",
)
def relations_across_models(shown: Shown) -> Chart | None:
    """Plot background score against consistency for several models, one panel per relation."""
    import polars as pl

    both = None if len(shown.found) == 1 else by_relation(shown)
    table = None if both is None else both.drop_nulls(["background_score", "consistency"])
    if table is None or table.is_empty():
        return None
    numbers = {label: str(at) for at, label in enumerate(shown.labels.values(), 1)}
    column = TABLES["background_by_relation"].column("background_score")
    table = measured(table.with_columns(label="model", series="relation"), column).with_columns(
        number=pl.col("model").replace_strict(numbers),
        few=pl.col("n") < FEWEST_ANCHORS,
    )
    tips = [
        f"{row['tip']}; conceptual consistency (CC) {score(row['consistency'])}, number of anchor "
        f"questions {row['n']:,}"
        for row in table.iter_rows(named=True)
    ]
    ends = bounds([*table["background_score"], *table["consistency"]])
    table = table.with_columns(tip=pl.Series(tips, dtype=pl.String)).sort(
        pl.col("n").max().over("relation"),
        "relation",
        descending=[True, False],
        maintain_order=True,
    )
    panels = [
        _panel(str(relation), part, ends, shown.look.colours)
        for (relation,), part in table.group_by("relation", maintain_order=True)
    ]
    ordered = ", smallest first" * shown.by_size
    title = titled(
        "Background score against conceptual consistency of each relation",
        f"models{ordered}: {', '.join(f'{at} {label}' for label, at in numbers.items())}",
        "one panel per relation, the most frequent relation first; in brackets: number of anchor "
        f"questions; dotted line: diagonal; {GREY}",
        f"{counted(table['n'], 'anchor question')} per relation and model",
    )
    return page(title, *(panels[at : at + _PER_ROW] for at in range(0, len(panels), _PER_ROW)))


def _panel(
    relation: str, part: pl.DataFrame, ends: tuple[float, float], colours: Palette
) -> alt.LayerChart:
    """Plot the panel of a relation: one mark per model, labelled with the model's number."""
    import altair as alt

    across, up = Axis("CC", ends), Axis("background score", ends, percent=True)
    x, y = alt.X("consistency:Q", **across.shared), alt.Y("value:Q", **up.shared)
    layers: list[alt.Chart] = [diagonal(ends, colours)]
    for few, hue in ((False, colours.before), (True, mixed(colours.muted, 0.7))):
        own = part.filter(few=few)
        if own.height:
            chart = alt.Chart(own)
            marks = chart.mark_point(filled=True, color=hue, opacity=1, size=50, aria=True)
            words = chart.mark_text(color=colours.muted, dx=9, dy=-6, fontSize=10)
            layers.append(marks.encode(x=x, y=y, description="tip:N"))
            layers.append(words.encode(x=x, y=y, text="number:N"))
    counts = part["n"].to_list()
    n = " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))
    title = heading(f"{relation} (n = {n})")
    return alt.LayerChart(layer=layers).properties(width=_SIDE, height=_SIDE, title=title)


def diagonal(ends: tuple[float, float], colours: Palette) -> alt.Chart:
    """Return the dotted diagonal on which background score and consistency are equal."""
    import altair as alt

    corners = alt.InlineData(values=[{"a": end} for end in ends])
    line = alt.Chart(corners).mark_line(color=colours.muted, strokeDash=[2, 3], strokeWidth=1.2)
    x, y = (Axis(name, ends, percent=name != "CC").shared for name in ("CC", "background score"))
    drawn: alt.Chart = line.encode(x=alt.X("a:Q", **x), y=alt.Y("a:Q", **y))
    return drawn
