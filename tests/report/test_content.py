from __future__ import annotations

import pytest

from tacit.report.content import Mark


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.25, "left-2500", "right-7500"),
        (1.154, "left-10000", "right-0"),
        (-0.2, "left-0", "right-10000"),
    ],
)
def test_what_is_beyond_the_scale_stands_at_its_end(value: float, low: str, high: str) -> None:
    """Student's interval may go beyond 0 and 1; its bar does not leave the scale."""
    mark = Mark("ada", "", "", low=value, high=value)
    assert (mark.edge("low"), mark.edge("high")) == (low, high)
    assert mark.edges == {low, high}
