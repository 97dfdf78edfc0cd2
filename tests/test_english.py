"""Counted nouns: one thing, two things."""

from __future__ import annotations

import pytest

from tacit.charts.shown import counted
from tacit.english import number_of, several


@pytest.mark.parametrize(
    ("n", "said"),
    [(0, "0 things"), (1, "1 thing"), (2, "2 things"), (1000, "1,000 things")],
)
def test_one_alone_is_singular(n: int, said: str) -> None:
    """Nought is plural, and thousands have a comma."""
    assert several(n, "thing") == said


def test_irregular_plurals_and_verbs_are_given() -> None:
    """The noun with what agrees with it."""
    assert several(1, "property", "properties") == "1 property"
    assert several(3, "reply is", "replies are") == "3 replies are"
    assert (number_of(1, "has", "have"), number_of(0, "has", "have")) == ("has", "have")
    assert (number_of(1, "probe"), number_of(2, "probe")) == ("probe", "probes")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([1], "n = 1 anchor"),
        ([5, 5], "n = 5 anchors"),
        ([1, 3], "n = 1 to 3 anchors"),
        ([0, 1], "n = 0 to 1 anchors"),
        ([], ""),
    ],
)
def test_captions_count_in_the_right_number(counts: list[int], said: str) -> None:
    """A range is plural."""
    assert counted(counts, "anchor") == said
