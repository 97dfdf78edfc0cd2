"""Charts of the page: what their captions say."""

from __future__ import annotations

import altair as alt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.charts.marks import page
from tacit.charts.shown import Shown, titled, whole_lines
from tacit.charts.theme import Theme
from tacit.findings.spec import FigureSpec
from tacit.probes.assumptions.figures import FIGURES
from tacit.report.charts import figure
from tests.probes.assumptions.findings_by_hand import Made

WORDS = st.lists(st.text("abc:;=()", min_size=1, max_size=9), min_size=1, max_size=60)


@given(lines=st.lists(WORDS.map(" ".join), min_size=1, max_size=5))
def test_a_caption_is_whole_again(lines: list[str]) -> None:
    """Whatever its words are, wherever it was wrapped."""
    title = titled("title", *lines)
    assert whole_lines(title.to_dict()["subtitle"]) == tuple(lines)


@pytest.mark.parametrize("begins", ["bands: from", "n = 5", "a) first", "more"])
def test_a_sentence_does_not_break_before_what_looks_like_a_beginning(begins: str) -> None:
    """The page shows each line of a caption in one piece."""
    long = f"{'x' * 40} {'x' * 40} {'x' * 15} {begins} {'y' * 30}"  # the first three fill a line
    chart = alt.LayerChart(layer=[alt.Chart(pl.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")])
    drawn = page(titled("title", long, "second: line"), [chart])
    found = figure("parts", FigureSpec("any", "", "", lambda _: drawn), drawn, Theme().colours)
    assert found.told == (long, "second: line")


def test_captions_of_assumptions_are_whole_sentences() -> None:
    """Each line of the page is one that the figure's code states."""
    shown = Shown({"one": Made(seed=1).findings(), "two": Made().findings()}, {}, Theme())
    for name in ("retrieval", "retrieval_orders", "elicitation"):
        drawn = FIGURES[name](shown)
        assert drawn is not None
        (*lines,) = figure("assumptions", FIGURES[name], drawn, Theme().colours).told
        assert all(line.count("(") == line.count(")") for line in lines), lines
        assert not any(line.endswith((" the", " of", " among", ",", ";")) for line in lines), lines
