"""Relations and concepts: consistency by subset, and background score against consistency."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.consistency.panels_labels import around, placed, write
from tacit.probes.consistency.panels_models import lift, precision
from tacit.probes.figures.boxes import Box
from tacit.probes.figures.lettering import shortened
from tacit.probes.figures.panels import SIZE, bounds, score, spanned
from tacit.probes.figures.rows import PAPER, dots, guide, heading_of, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt
    import polars as pl

    from tacit.probes.consistency.panels_labels import Place, Point
    from tacit.probes.figures.charts import Palette
    from tacit.probes.figures.panels import Shown

FARTHEST = 6
_SIDE = 330.0  # pixels of a scatter
_LONGEST = 150.0  # pixels of a relation's or a concept's name
_NARROW = 150  # pixels of a panel of rows
_IN_LINE = 2  # models side by side
_HEADING = -12.0
_HALF = 1.5  # half the width of an interval, in pixels


def subsets(table: pl.DataFrame, shown: Shown) -> alt.ConcatChart:
    """Consistency and lift of each subset of anchors, a pair of panels per model.

    Args:
        table: The finding ``consistency_by_relation`` or ``consistency_by_concept``, with
            ``model``.
        shown: The models.

    Returns:
        The same rows for every model, those of the most anchors first.
    """
    import altair as alt
    import polars as pl

    order = (
        table.group_by("name").agg(pl.col("n").max()).sort("n", "name", descending=[True, False])
    )
    labels = {name: shortened(name, SIZE, _LONGEST) for name in order["name"]}
    if len(set(labels.values())) < len(labels):
        labels = {name: name for name in labels}
    table = table.with_columns(label=pl.col("name").replace_strict(labels))
    kinds = (precision, lift)
    domains = [kind(table).domain for kind in kinds]  # one for all models
    charts = []
    for model in table["model"].unique(maintain_order=True):
        of = table.filter(table["model"] == model)
        panels = [
            (heading, replace(kind(of), domain=domain))
            for heading, kind, domain in zip((model, ""), kinds, domains, strict=True)
        ]
        charts.append(rows(panels, list(labels.values()), shown.look, _NARROW))
    return alt.concat(*charts, columns=_IN_LINE, spacing=40)


def scatters(table: pl.DataFrame, shown: Shown) -> alt.ConcatChart:
    """Background score against consistency, a scatter per model.

    Args:
        table: ``model``, ``relation``, ``background_score``, ``low``, ``high``, ``facts``,
            ``consistency``, ``chance``, ``n`` (anchors) and ``sure`` (whether the lift has an
            interval); both figures defined.
        shown: The models.
    """
    import altair as alt

    held = ("background_score", "low", "high", "consistency")
    ends = bounds(value for name in held for value in table[name])
    charts = [
        Scatter(table.filter(table["model"] == model), ends).chart(model, shown.look.colours)
        for model in table["model"].unique(maintain_order=True)
    ]
    return alt.concat(*charts, columns=_IN_LINE, spacing=40)


@dataclass(frozen=True)
class Scatter:
    """The relations of one model.

    Args:
        table: As ``scatters`` takes it.
        ends: Of both axes.
    """

    table: pl.DataFrame
    ends: tuple[float, float]

    @cached_property
    def far(self) -> pl.DataFrame:
        """The relations that are the farthest from the diagonal, and the names they are given."""
        import polars as pl

        apart = (pl.col("background_score") - pl.col("consistency")).abs()
        far = self.table.sort(-apart, "relation").head(FARTHEST)
        names = [f"{name} ({n:,})" for name, n in far.select("relation", "n").iter_rows()]
        return far.with_columns(name=pl.Series(names, dtype=pl.String))

    @cached_property
    def others(self) -> pl.DataFrame:
        """The relations that are nearer."""
        return self.table.join(self.far, on="relation", how="anti", maintain_order="left")

    @cached_property
    def names(self) -> dict[str, Place]:
        """The places of names."""
        figures = ("consistency", "background_score")
        points = dict(
            zip(self.far["name"], map(self._pixel, *self.far.select(figures)), strict=True)
        )
        taken = [around(self._pixel(*pair)) for pair in self.others.select(figures).iter_rows()]
        for across, low, high in self.far.select("consistency", "low", "high").iter_rows():
            if low is not None:
                (x, bottom), (_, top) = self._pixel(across, low), self._pixel(across, high)
                taken.append(Box(x - _HALF, top, x + _HALF, bottom))
        return placed(points, (_SIDE, _SIDE), taken, [((0, _SIDE), (_SIDE, 0))])

    def chart(self, heading: str, colours: Palette) -> alt.LayerChart:
        """The scatter."""
        import altair as alt

        layers = [*self._marks(colours), *write(self.names, self._across, self._up, colours)]
        layers.append(heading_of(heading, _HEADING, colours))
        return alt.LayerChart(layer=layers).properties(width=_SIDE, height=_SIDE)

    def _marks(self, colours: Palette) -> Iterator[alt.Chart]:
        import altair as alt

        low, high = self.ends
        corners = [{"x": low, "y": low, "to_x": high, "to_y": high}]
        diagonal = guide(colours, values=corners)
        yield diagonal.encode(x="x:Q", y="y:Q", x2="to_x:Q", y2="to_y:Q")
        scale = alt.Scale(domain=[low, high], nice=False, zero=False)
        axis = alt.Axis(format=".2~f", tickCount=5)
        x = alt.X("consistency:Q", title="consistency", scale=scale, axis=axis)
        y = alt.Y("background_score:Q", title="background score", scale=scale, axis=axis)
        faint = alt.Chart(_told(self.others)).mark_point(
            size=36, opacity=1, fill=PAPER, stroke=colours.muted, strokeWidth=1, aria=True
        )
        yield faint.encode(x=x, y=y, description="tip:N")
        spans = alt.Chart(self.far.drop_nulls("low")).mark_rule(color=colours.before)
        yield spans.encode(x=x, y="low:Q", y2="high:Q")
        for mark in dots(_told(self.far), colours.before, "diamond"):
            yield mark.encode(x=x, y=y, description="tip:N")

    def _pixel(self, across: float, up: float) -> Point:
        low, high = self.ends
        return _SIDE * (across - low) / (high - low), _SIDE * (high - up) / (high - low)

    def _across(self, pixel: float) -> float:
        low, high = self.ends
        return low + (high - low) * pixel / _SIDE

    def _up(self, pixel: float) -> float:
        return self._across(_SIDE - pixel)


def _told(table: pl.DataFrame) -> pl.DataFrame:
    """The relations with ``tip``."""
    import polars as pl

    tips = [
        f"{row['relation']}: background score {score(row['background_score'])}"
        f"{spanned(row['low'], row['high'])}, {several(row['facts'], 'fact')}; "
        f"consistency {score(row['consistency'])}, chance level {score(row['chance'])}, "
        f"n = {several(row['n'], 'anchor')}"
        for row in table.iter_rows(named=True)
    ]
    return table.with_columns(tip=pl.Series(tips, dtype=pl.String))
