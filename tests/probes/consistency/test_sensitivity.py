from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tacit.probes.consistency.answers import Method, choose, verify
from tacit.probes.consistency.prompt_variants import Inputs
from tacit.probes.consistency.questions import choice_variants, prompt_variants
from tacit.probes.consistency.sensitivity import choose_alone, verify_alone, wins
from tacit.probes.consistency.template import load_templates

if TYPE_CHECKING:
    from tacit.probes.consistency.prompt_variants import Floats

VARIANTS = prompt_variants(load_templates())
INPUTS = Inputs.of(VARIANTS)
NONE = math.nan
VALUES = st.sampled_from([-3.0, -2.0, -1.0, NONE])


def test_how_often_each_wins() -> None:
    """By either of a pair's words; a missing answer is nobody's."""
    scores = np.full((5, 84), -9.0)
    for question, column in enumerate(
        [INPUTS.positive[0, 2], INPUTS.negative[0, 2], INPUTS.negative[3, 2], INPUTS.positive[5, 6]]
    ):
        scores[question, column] = -1.0
    scores[4] = NONE
    won = wins(Method().answers(scores, INPUTS), INPUTS)
    assert won.sum() == 4
    assert won.sum(axis=0).tolist() == [0, 0, 3, 0, 0, 0, 1]
    assert won.sum(axis=1).tolist() == [2, 0, 0, 1, 0, 1]
    assert not wins(Method("count").answers(scores, INPUTS), INPUTS).any()


@given(
    scores=arrays.arrays(np.float64, (4, 23, 3), elements=VALUES, fill=st.just(-4.0)),
    right=arrays.arrays(np.int64, 4, elements=st.integers(0, 2)),
)
def test_each_form_chooses_alone(scores: Floats, right: np.ndarray[tuple[int]]) -> None:
    """As if the others had no score."""
    sizes = np.array([[1, 2, 3]] * 4)
    alone = choose_alone(scores, sizes, right)
    assert alone.right.shape == (len(choice_variants(load_templates())),)
    for variant in range(23):
        others = scores.copy()
        others[:, np.arange(23) != variant] = NONE
        chosen = choose(others, sizes)
        assert alone.scored[variant] == (~chosen.missing).sum()
        assert alone.right[variant] == sum(
            not gone and one == true
            for one, true, gone in zip(chosen.choice, right, chosen.missing, strict=True)
        )


@given(
    scores=arrays.arrays(np.float64, (2, 3, 84), elements=VALUES, fill=st.just(-4.0)),
    right=arrays.arrays(np.int64, 2, elements=st.integers(0, 2)),
)
def test_each_pair_verifies_alone(scores: Floats, right: np.ndarray[tuple[int]]) -> None:
    """As if the others had no score."""
    sizes = np.array([[1, 2, 3]] * 2)
    alone = verify_alone(scores, INPUTS, sizes, right)
    for i in (0, 2, 5):
        for j in (0, 6):
            kept = [INPUTS.positive[i, j], INPUTS.negative[i, j]]
            others = scores.copy()
            others[..., ~np.isin(np.arange(84), kept)] = NONE
            chosen = verify(others, INPUTS, sizes)
            assert alone.scored[i, j] == (~chosen.missing).sum()
            assert alone.right[i, j] == ((chosen.choice == right) & ~chosen.missing).sum()
