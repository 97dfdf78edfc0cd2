"""Export of charts to files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl
import pytest

from tacit.charts.save import svg_of, write_charts, write_svg
from tacit.charts.shown import Shown
from tacit.charts.theme import Theme
from tacit.errors import RequestError, WorkError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_clipped_chart_gives_the_same_bytes() -> None:
    """The converter numbers clip paths through the life of the process; we do not."""
    table = pl.DataFrame({"x": [1, 2], "y": [3, 4]})
    chart = alt.vconcat(alt.Chart(table).mark_line(clip=True).encode(x="x", y="y"))
    assert svg_of(chart.to_dict()) == svg_of(chart.to_dict())
    assert 'id="clip0"' in svg_of(chart.to_dict())


def test_an_unknown_format_or_palette_is_refused(tmp_path: Path) -> None:
    """Before anything is drawn."""
    with pytest.raises(RequestError, match="gif; expected svg, png, pdf"):
        write_charts({}, Shown({}, {}, Theme()), tmp_path, ["svg", "gif"])
    with pytest.raises(RequestError, match="no palette 'pink'"):
        write_charts({}, Shown({}, {}, Theme("pink")), tmp_path, ["svg"])


def test_a_figure_that_is_no_svg_is_an_error(tmp_path: Path) -> None:
    """The converter's exception is translated, and names the file."""
    with pytest.raises(WorkError, match=r"x\.png"):
        write_svg("<svg", tmp_path / "x", ["png"])
