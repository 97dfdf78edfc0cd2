"""Which replies cannot be right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tacit.models.openai.schema import (
    ReplyError,
    WrongRepliesError,
    are_rescaled,
    check_logprobs,
    twice,
)
from tacit.models.openai.server_habits import Habits
from tacit.models.openai.token_lists import Token

if TYPE_CHECKING:
    from collections.abc import Sequence


def position(probabilities: Sequence[float], own: float | None = None) -> Token:
    """A place whose most probable tokens have these probabilities."""
    top = tuple(Token(f"t{n}", n, math.log(each)) for n, each in enumerate(probabilities))
    return Token("t0", 0, own, top)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (position([0.6, 0.3, 0.2]), "sum to 1.1"),
        (Token("a", 1, 0.5), "above 0"),
        (Token("a", 1, math.nan), "above 0"),
        (position([0.1, 0.1, 0.1]), "all its 3 log-probabilities are -2.303"),
        (Token("a", 1, None, (Token("b", 2, 0.0), Token("c", 3, 0.0))), "sum to 2"),
    ],
)
def test_what_no_model_gives_is_refused(token: Token, reason: str) -> None:
    """Of the token itself, and of those in its place."""
    with pytest.raises(ReplyError, match=reason):
        check_logprobs([token], 0.0)


def test_what_a_model_may_give_passes() -> None:
    """A certain token, nothing said, rounding, and noise as far as it was measured."""
    check_logprobs([position([1.0]), Token("a", 1, None), position([0.7, 0.3004])], 0.0)
    check_logprobs([position([0.7, 0.32])], 0.02)
    with pytest.raises(ReplyError):
        check_logprobs([position([0.7, 0.33])], 0.02)


def test_an_echo_of_zeros_is_refused() -> None:
    """One token may be certain; four in turn are not."""
    check_logprobs([Token(str(n), n, 0.0) for n in range(3)])
    with pytest.raises(ReplyError, match="all its log-probabilities are 0"):
        check_logprobs([Token(str(n), n, 0.0) for n in range(4)])


def test_probabilities_that_always_sum_to_one_are_rescaled() -> None:
    """Once may be chance."""
    whole, part = position([0.75, 0.25]), position([0.75, 0.2])
    assert are_rescaled([whole, whole])
    assert not are_rescaled([whole, part])
    assert not are_rescaled([position([1.0])])


def answer(counted: int | None = 5, model: str = "m", end: str = "stop") -> dict[str, Any]:
    """A server's answer, as far as habits go."""
    usage = {} if counted is None else {"usage": {"prompt_tokens": counted}}
    return {"model": model, "choices": [{"index": 0, "finish_reason": end}], **usage}


def settled(*texts: tuple[str, int | None]) -> Habits:
    """The habits of a server that counted so many tokens in each text."""
    habits = Habits()
    for text, counted in texts:
        habits.check(text, answer(counted))
    habits.settle()
    return habits


def test_another_model_and_another_end_are_refused() -> None:
    """A filter's end already while a server is tried."""
    habits = settled(("one two", 5))
    habits.check("three", answer())
    with pytest.raises(ReplyError, match="names the model 'other'"):
        habits.check("three", answer(model="other"))
    with pytest.raises(ReplyError, match="its finish reason is 'tool_calls'"):
        habits.check("three", answer(end="tool_calls"))
    with pytest.raises(ReplyError, match="content_filter"):
        Habits().check("one", answer(end="content_filter"))


def test_fewer_tokens_than_words_were_not_read_whole() -> None:
    """As many a word as when it was tried, less what other words may take."""
    habits = settled(("one two three four", 6), ("one " * 50, 60))
    habits.check("word " * 40, answer(30))
    with pytest.raises(ReplyError, match="20 tokens in a prompt of 40 words"):
        habits.check("word " * 40, answer(20))
    with pytest.raises(ReplyError, match=r"counts 7 tokens .* counted 6 earlier"):
        habits.check("one two three four", answer(7))


def test_a_server_that_counts_otherwise_each_time_is_not_held_to_it() -> None:
    """It may count what it had not kept of the prompt before."""
    habits = settled(("one two three four", 6), ("one two three four", 1))
    habits.check("word " * 40, answer(2))
    settled(("one", None)).check("word " * 40, answer(2))


def test_what_cannot_be_right_is_asked_once_more() -> None:
    """And no third time."""
    replies = iter([ReplyError("no"), "yes", ReplyError("no"), ReplyError("never")])

    def ask() -> str:
        reply = next(replies)
        if isinstance(reply, ReplyError):
            raise reply
        return str(reply)

    assert twice(ask, "here") == "yes"
    with pytest.raises(WrongRepliesError, match=r"here: .* twice in a row: never"):
        twice(ask, "here")
    assert next(replies, None) is None
