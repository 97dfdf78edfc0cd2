from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tacit.probes.consistency.answers import (
    Chosen,
    choice_table,
    choose,
    verify,
    verify_table,
)
from tacit.probes.consistency.prompt_variants import Inputs
from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import AnswerScore, Scores

if TYPE_CHECKING:
    from tacit.probes.consistency.prompt_variants import Floats

    Case: TypeAlias = tuple[Floats, list[int]]

VARIANTS = prompt_variants(load_templates())
INPUTS = Inputs.of(VARIANTS)
NONE = math.nan
VALUES = st.sampled_from([-4.0, -3.0, -2.0, -1.0, NONE])


@st.composite
def anchors(draw: st.DrawFn, middle: int) -> Case:
    """Up to three anchors of three choices, and how many choices each has; nan behind them."""
    n = draw(st.integers(1, 3))
    scores = draw(arrays.arrays(np.float64, (n, 3, middle), elements=VALUES, fill=st.just(-4.0)))
    counts = draw(st.lists(st.integers(2, 3), min_size=n, max_size=n))
    for anchor, count in enumerate(counts):
        scores[anchor, count:] = NONE
    return scores, counts


def sizes_of(counts: list[int], sizes: tuple[int, int, int]) -> np.ndarray[tuple[int, int]]:
    """The choices' sizes, 0 behind the last."""
    return np.array([[s if k < count else 0 for k, s in enumerate(sizes)] for count in counts])


def best_of(values: list[float]) -> tuple[int, ...]:
    """Choice, missing and tied, one choice after the other."""
    if any(math.isnan(value) for value in values):
        return -1, 1, 0
    return values.index(max(values)), 0, int(values.count(max(values)) > 1)


def shown(chosen: Chosen) -> list[tuple[int, ...]]:
    """The same three of an array's choices."""
    return [
        tuple(map(int, one)) for one in zip(chosen.choice, chosen.missing, chosen.tied, strict=True)
    ]


def highest(values: list[float]) -> float:
    """The highest of those that are there; nan of none."""
    return max((value for value in values if not math.isnan(value)), default=NONE)


@given(case=anchors(4))
def test_choosing_agrees_with_a_loop(case: Case) -> None:
    """Per byte, over all variants, with ties and missing scores."""
    scores, counts = case
    sizes = (1, 2, 4)
    chosen = choose(scores.swapaxes(1, 2), sizes_of(counts, sizes))
    expected = [
        [
            highest([value / size for value in choice])
            for choice, size in zip(one, sizes, strict=True)
        ]
        for one in scores.tolist()
    ]
    cut = [values[:count] for values, count in zip(expected, counts, strict=True)]
    assert shown(chosen) == [best_of(values) for values in cut]
    for anchor, values in enumerate(cut):
        if chosen.missing[anchor]:
            assert np.isnan(chosen.margin[anchor])
            continue
        second, best = sorted(values)[-2:]
        assert chosen.margin[anchor] == best - second
        variant, choice = chosen.winner[anchor], chosen.choice[anchor]
        assert scores[anchor, choice, variant] / sizes[choice] == best


@given(case=anchors(84))
def test_verifying_agrees_with_a_loop(case: Case) -> None:
    """The best positive word less the best negative one, choice by choice."""
    scores, counts = case
    chosen = verify(scores, INPUTS, sizes_of(counts, (1, 1, 1)))
    yes, no = set(INPUTS.positive.flat), set(INPUTS.negative.flat)
    expected = [
        [
            highest([v for k, v in enumerate(choice) if k in yes])
            - highest([v for k, v in enumerate(choice) if k in no])
            for choice in one[:count]
        ]
        for one, count in zip(scores.tolist(), counts, strict=True)
    ]
    assert shown(chosen) == [best_of(values) for values in expected]


def test_a_choice_by_hand() -> None:
    """The longer choice is better per byte, though worse in all."""
    scores = np.array([[[-4.0, -6.0], [-5.0, -9.0]]])
    chosen = choose(scores, np.array([[2, 6]]))
    assert shown(chosen) == [(1, 0, 0)]
    assert chosen.winner.tolist() == [0]
    assert chosen.margin.tolist() == [1.0]


def test_a_verified_choice_by_hand() -> None:
    """The choice that is denied least is taken, and the input that denies it named."""
    scores = np.full((1, 2, 84), -9.0)
    no = INPUTS.negative[0, 0]
    scores[0, 0, no], scores[0, 1, no] = -1.0, -3.0
    chosen = verify(scores, INPUTS, np.array([[4, 4]]))
    assert shown(chosen) == [(1, 0, 0)]
    assert chosen.winner.tolist() == [no]
    assert chosen.margin.tolist() == [2.0]


def scores(values: dict[str, float | None]) -> Scores:
    """A prompt's scores."""
    return Scores(tuple(AnswerScore(answer, value, 1) for answer, value in values.items()))


def test_the_table_of_choices() -> None:
    """As wide as the most choices; sizes in UTF-8 bytes, 0 where there is no choice."""
    table, sizes = choice_table(
        [
            [scores({"bank": -1.0, "café": None}), scores({"bank": -2.0, "café": -3.0})],
            [scores({"a": -4.0, "b": -5.0, "c": -6.0}), scores({"a": -7.0, "b": -8.0, "c": -9.0})],
        ]
    )
    assert sizes.tolist() == [[4, 5, 0], [1, 1, 1]]
    np.testing.assert_array_equal(
        table,
        [[[-1, NONE, NONE], [-2, -3, NONE]], [[-4, -5, -6], [-7, -8, -9]]],
    )


def test_the_table_of_verified_choices() -> None:
    """One row of 84 for each choice, nan behind the last."""

    def answered(value: float) -> list[Scores]:
        return [scores(dict.fromkeys(variant.answers, value)) for variant in VARIANTS]

    anchors = [[answered(-1), answered(-2)], [answered(-3), answered(-4), answered(-5)]]
    table = verify_table(anchors, INPUTS)
    assert table.shape == (2, 3, 84)
    np.testing.assert_array_equal(table[..., 0], [[-1, -2, NONE], [-3, -4, -5]])
    np.testing.assert_array_equal(table[..., 0], table[..., 83])
