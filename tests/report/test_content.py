from __future__ import annotations

import pytest

from tacit.report.content import Mark


@pytest.mark.parametrize(
    ("value", "place"), [(0.25, 25.0), (1.154, 100.0), (-0.2, 0.0), (None, None)]
)
def test_what_is_beyond_the_scale_stands_at_its_end(
    value: float | None, place: float | None
) -> None:
    """Student's interval may go beyond 0 and 1; its bar does not leave the scale."""
    assert Mark("ada", "", "", low=value).place("low") == place
