"""Figures whose texts are data, and the axes of their panels."""

from __future__ import annotations

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.charts.figures import Text
from tacit.charts.panels import bounds


def test_a_line_of_a_caption_without_a_value_is_left_out() -> None:
    text = Text("title", "reading", ("n = {n}", "fixed", "not drawn: {left}"))
    assert list(text.filled({"n": 3, "left": None})) == ["n = 3", "fixed"]


def test_a_placeholder_that_a_figure_does_not_name_is_an_error() -> None:
    """Not a line that is silently left out."""
    with pytest.raises(KeyError):
        list(Text("title", "reading", ("{unknown}",)).filled({}))


@pytest.mark.parametrize("probe", ["parts", "consistency", "assumptions"])
def test_every_figure_has_its_texts(probe: str) -> None:
    """And no text is without its figure or set of graphs."""
    figures = import_module(f"tacit.probes.{probe}.figures").FIGURES
    assert [figures[name].name for name in figures] == list(figures)
    assert set(figures._texts) - {"graphs"} == set(figures)


@given(st.lists(st.one_of(st.none(), st.floats(-1, 1)), max_size=6))
def test_an_axis_holds_its_values(values: list[float | None]) -> None:
    """Ends are never equal, and within what is allowed."""
    low, high = bounds(values)
    assert -1 <= low < high <= 1
    assert all(low <= value <= high for value in values if value is not None)
