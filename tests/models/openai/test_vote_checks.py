"""SamplingPrompt beside log-probabilities: the p-value, its false alarms and its power."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tacit.models.openai import vote_checks
from tacit.models.openai.goodness_of_fit import (
    OUTSIDE,
    Counted,
    chance,
    choose,
    count,
    probabilities_of,
)
from tacit.models.openai.token_lists import Token
from tacit.models.openai.vote_checks import LOOK_AGAIN, REFUSE, TELL, Inspection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

SHARES = (0.5, 0.3, 0.15, 0.05)


def counted(shares: Iterable[float], counts: Iterable[int]) -> Counted:
    """So many draws of words that are called by numbers, the first one outside."""
    probabilities = {str(at) if at else OUTSIDE: float(share) for at, share in enumerate(shares)}
    return Counted("text", probabilities, dict(zip(probabilities, map(int, counts), strict=True)))


def listed(shares: Mapping[str, float]) -> Token:
    """A first token with some words and their probabilities."""
    top = tuple(Token(word, None, math.log(share)) for word, share in shares.items())
    return Token(top[0].text, None, top[0].logprob, top)


def peaked(random: np.random.Generator, texts: int) -> NDArray[np.float64]:
    """Probabilities of 21 categories behind some texts, from certain to uncertain."""
    logits = random.normal(0, 1, (texts, 21)) * np.linspace(4, 1, texts)[:, None]
    shares: NDArray[np.float64] = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    return shares


def g_of(counts: Sequence[int], shares: Sequence[float]) -> float:
    """Twice the log-likelihood ratio."""
    draws = sum(counts)
    return 2 * sum(
        n * math.log(n / (draws * share)) for n, share in zip(counts, shares, strict=True) if n
    )


def probability_of(counts: Sequence[int], shares: Sequence[float]) -> float:
    """Of a multinomial."""
    ways = math.factorial(sum(counts)) / math.prod(map(math.factorial, counts))
    return ways * math.prod(share**n for n, share in zip(counts, shares, strict=True))


def outcomes(draws: int, categories: int) -> list[tuple[int, ...]]:
    """All counts that sum to so many draws."""
    every = itertools.product(range(draws + 1), repeat=categories)
    return [each for each in every if sum(each) == draws]


@pytest.mark.parametrize("draws", [1, 5, 9])
def test_the_p_value_is_that_of_all_outcomes_enumerated(draws: int) -> None:
    """But for the rounding of G to a grid, 0.05 for each category."""
    every = outcomes(draws, 4)
    table = [(g_of(each, SHARES), probability_of(each, SHARES)) for each in every]
    off = len(SHARES) * 0.05
    for each in every:
        least = sum(p for g, p in table if g >= g_of(each, SHARES) + off)
        most = sum(p for g, p in table if g >= g_of(each, SHARES) - off)
        assert least - 1e-9 <= chance([counted(SHARES, each)]) <= most + 1e-9


def test_the_p_value_of_two_texts_is_that_of_all_pairs_of_outcomes() -> None:
    """The sum of their G, of different probabilities and numbers of draws."""
    other = (0.7, 0.2, 0.1)
    firsts, seconds = outcomes(4, 4), outcomes(3, 3)
    table = [
        (g_of(a, SHARES) + g_of(b, other), probability_of(a, SHARES) * probability_of(b, other))
        for a in firsts
        for b in seconds
    ]
    off = 7 * 0.05
    for a, b in itertools.islice(itertools.product(firsts, seconds), 0, None, 7):
        g = g_of(a, SHARES) + g_of(b, other)
        least = sum(p for each, p in table if each >= g + off)
        most = sum(p for each, p in table if each >= g - off)
        assert least - 1e-9 <= chance([counted(SHARES, a), counted(other, b)]) <= most + 1e-9


def test_no_draws_tell_nothing() -> None:
    """The p-value is 1."""
    assert chance([]) == chance([counted(SHARES, (0, 0, 0, 0))]) == 1


@pytest.mark.slow
def test_honest_draws_give_no_more_false_alarms_than_the_p_value_says() -> None:
    """Of 1,500 looks at three texts, at the 5 % and the 1 % level, for both tests together."""
    random = np.random.default_rng(0)
    texts = peaked(random, 3)
    chances = []
    for _ in range(1500):
        look = Inspection(tuple(counted(each, random.multinomial(24, each)) for each in texts))
        chances.append(look.chance)
    for level in (0.05, LOOK_AGAIN):
        expected = level * len(chances)
        assert sum(each <= level for each in chances) <= expected + 3 * math.sqrt(expected)
    assert sum(each <= 0.2 for each in chances) > 50


def test_the_rates_claimed_are_those_of_the_two_looks() -> None:
    """Told once in a thousand times, refused once in a hundred thousand."""
    assert LOOK_AGAIN * TELL <= 1e-3 * (1 + 1e-9)
    assert LOOK_AGAIN * REFUSE <= 1e-5 * (1 + 1e-9)
    few = counted(SHARES, (0, 0, 0, 24))
    assert not Inspection((few,)).is_off, "one look alone does not tell"
    assert Inspection((few,), first=0.005).is_far_off


@pytest.mark.parametrize("fault", ["other", "turned", "outside"])
def test_faulty_draws_are_found(fault: str) -> None:
    """In nearly all of 60 runs, both by the first look and by the second."""
    random = np.random.default_rng(1)
    found, texts = 0, peaked(random, 3)
    for _ in range(60):
        theirs = random.dirichlet(np.ones(21))
        looks: list[Inspection] = []
        for times in (1, vote_checks.AGAIN):
            some = []
            for shares in texts:
                drawn = shares.copy()
                if fault == "other":
                    drawn = (shares + theirs) / 2
                elif fault == "turned":
                    likeliest, other = int(shares.argmax()), int(shares.argsort()[-3])
                    drawn[other] += drawn[likeliest]
                    drawn[likeliest] = 0
                else:
                    drawn[0] += 0.5
                    drawn /= drawn.sum()
                size = vote_checks.AT_ONCE * times
                some.append(counted(shares, random.multinomial(size, drawn)))
            looks.append(Inspection(tuple(some), first=looks[0].chance if looks else None))
        found += looks[0].chance < LOOK_AGAIN and looks[1].is_far_off
    assert found >= 57


def test_tokens_that_are_one_word_are_one_category() -> None:
    """White space does not count, however it is written; what is no word counts as not listed."""
    shares = {" True": 0.3, "True": 0.2, "\u2581True": 0.1, "No": 0.2, "\n": 0.05, "\ufffd": 0.05}
    found = probabilities_of(listed(shares))
    assert found == pytest.approx({"True": 0.6, "No": 0.2, OUTSIDE: 0.2})
    made = count("text", listed(shares), [" True\n", "No", "Perhaps", "", "\ufffd"])
    assert made.counts == {"True": 1, "No": 1, OUTSIDE: 3}


@pytest.mark.parametrize("end", ["<|im_end|>", "</s>", "<eos>", ""])
def test_an_end_token_that_replies_do_not_show_is_one_category_with_empty_replies(end: str) -> None:
    """An honest server that often ends its reply at once is not told of."""
    token = listed({"True": 0.6, end: 0.4})
    made = count("text", token, ["True"] * 14 + [""] * 10)
    assert made.probabilities == pytest.approx({"True": 0.6, OUTSIDE: 0.4})
    assert chance([made]) > 0.5


def test_values_that_sum_to_one_leave_room_for_a_rare_word() -> None:
    """A word that is not listed is surprising, and no proof by itself."""
    token = listed({"True": 0.75, "False": 0.25})
    once = count("text", token, ["True"] * 17 + ["False"] * 6 + ["Perhaps"])
    assert 1e-3 < chance([once]) < 0.1


def test_texts_are_chosen_that_show_most_together() -> None:
    """An uncertain one, and those where one of two opposites is likelier; not the same twice."""
    known = {
        "certain": {"Paris": 0.99, OUTSIDE: 0.01},
        "as certain": {"Rome": 0.99, OUTSIDE: 0.01},
        "true": {"True": 0.98, "False": 0.01, OUTSIDE: 0.01},
        "false": {"True": 0.01, "False": 0.98, OUTSIDE: 0.01},
        "uncertain": {**{f"w{n}": 0.9 * 0.5**n / 1.99 for n in range(8)}, OUTSIDE: 0.1},
    }
    assert set(choose(known, 3)) == {"true", "false", "uncertain"}
    assert len(choose(known, 9)) == len(known)
