"""Charts of the page: what their captions say."""

from __future__ import annotations

import altair as alt
import polars as pl

from tacit.charts.panels import page
from tacit.findings.display import FigureSpec
from tacit.report.charts import figure


def _chart() -> alt.LayerChart:
    return alt.LayerChart(layer=[alt.Chart(pl.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")])


def test_the_page_shows_each_line_of_a_caption_in_one_piece() -> None:
    lines = (" ".join(["word"] * 60), "second: line")
    drawn = page("title", lines, [[_chart()]])
    assert len(drawn.to_dict()["title"]["subtitle"]) > len(lines)
    found = figure("parts", FigureSpec("any", "", "", lambda _: drawn), drawn)
    assert found.caption == lines
    assert "usermeta" not in found.chart


def test_a_chart_of_a_plug_in_keeps_its_subtitle() -> None:
    for subtitle in ("one", ["one", "two"]):
        drawn = alt.vconcat(_chart(), title=alt.TitleParams("title", subtitle=subtitle))
        found = figure("own", FigureSpec("any", "", "", lambda _: drawn), drawn)  # noqa: B023 - called here
        assert list(found.caption) == ([subtitle] if isinstance(subtitle, str) else subtitle)
