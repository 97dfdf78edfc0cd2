"""The temperature of sampled tokens, estimated beside the one that they were drawn at."""

import math

import numpy as np
import pytest

from tacit.models.openai.tokens import Token
from tacit.models.openai.votes_server import LOOK_AGAIN, REFUSE, TELL, counted, estimate, words_of


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_interval_contains_the_temperature_as_often_as_it_should(temperature: float) -> None:
    """The 95 % CI, in 100 samples at least 88 times and not always."""
    random = np.random.default_rng(0)
    covered = off = 0
    for _ in range(100):
        drawn = []
        for _ in range(3):
            logits = random.normal(0, 2, 20)
            values = logits - np.logaddexp.reduce(logits) - 0.1  # some mass is not listed
            shares = np.exp(values / temperature)
            counts = random.multinomial(16, shares / shares.sum())
            drawn.append((list(values), [int(one) for one in counts]))
        made = estimate(drawn)
        assert made is not None
        assert made.low <= made.value <= made.high
        covered += made.low <= temperature <= made.high
        off += made.chance < LOOK_AGAIN
    assert 88 <= covered <= 99
    assert off <= 5 if temperature == 1 else off >= 80


def test_few_draws_show_no_temperature() -> None:
    assert estimate([([-1.0, -2.0], [9, 0])]) is None


def test_only_a_second_sample_speaks_against_a_server() -> None:
    """So that it is warned of once in a thousand times, and refused once in a hundred thousand."""
    assert LOOK_AGAIN * TELL <= 1e-3 * (1 + 1e-9)
    assert LOOK_AGAIN * REFUSE <= 1e-5 * (1 + 1e-9)
    drawn = [([-0.7, -0.7, -6.0], [0, 0, 24])]
    first, second = estimate(drawn), estimate(drawn, second=True)
    assert first is not None
    assert second is not None
    assert not first.is_off(TELL)
    assert second.is_off(REFUSE)


def test_tokens_that_are_one_word_are_counted_as_one() -> None:
    """White space does not count, however it is written; part of a character is no word."""
    shares = {" True": 0.3, "\u2581True": 0.3, "No": 0.2, "\n": 0.1, "\ufffd": 0.05}
    top = tuple(Token(text, None, math.log(share)) for text, share in shares.items())
    words = words_of(Token("No", None, None, top))
    assert words == pytest.approx({"True": math.log(0.6), "No": math.log(0.2)})
    assert counted(words, [" True\n", "No", "Perhaps", "", "True"]) == [2, 1]
