"""The verdict is the first of five that holds, by one rule for all probes."""

from __future__ import annotations

import pytest

from tacit.findings.verdict import Measured, TopAnswer, verdict


def measure(low: float | None, high: float | None, chance: float = 0.5) -> Measured:
    return Measured("the AUROC", low, high, chance)


CLEAR, CHANCE = measure(0.6, 0.7), measure(0.45, 0.6)


@pytest.mark.parametrize(
    ("share", "clusters", "measures", "also", "control", "expected"),
    [
        (0.95, 1, [CLEAR], [], None, "constant"),
        (0.949, 4, [CLEAR], [], None, "too few data"),
        (0.6, 5, [measure(None, None)], [], None, "too few data"),
        (0.6, 5, [measure(0.1, 0.61)], [], None, "too few data"),
        (0.6, 5, [CHANCE, CHANCE], [], None, "no signal"),
        (0.6, 5, [CHANCE, CHANCE], [CLEAR], None, "weak"),
        (0.6, 5, [CLEAR, CHANCE], [], None, "weak"),
        (0.6, 5, [measure(0.3, 0.4)], [], None, "no signal"),
        (0.6, 5, [CLEAR, CLEAR], [], "the control explains it", "weak"),
        (0.6, 5, [CLEAR, CLEAR], [], None, "clear"),
    ],
)
def test_the_first_that_holds(
    share: float,
    clusters: int,
    measures: list[Measured],
    also: list[Measured],
    control: str | None,
    expected: str,
) -> None:
    found = verdict(
        TopAnswer("true", share, 100),
        clusters,
        5,
        measures,
        noun=("thing",),
        also=also,
        control=control,
    )
    assert found.name == expected
    assert found.shows_something == (expected in {"weak", "clear"})
    assert TopAnswer.of(["no", "yes", "yes"]) == TopAnswer("yes", 2 / 3, 3)
    assert TopAnswer.of([]) is None
