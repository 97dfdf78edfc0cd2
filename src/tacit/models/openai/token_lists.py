"""What servers answer, in the three forms in which they give log-probabilities.

OpenAI's completions list tokens, their log-probabilities and the most probable ones beside each.
llama.cpp's server lists an object per token, as for chats. vLLM has ``prompt_logprobs`` beside the
first form, one object per token of the prompt.
"""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.models.openai.schema import (
    Answer,
    Completion,
    TokenColumns,
    TokenObjects,
    check_logprobs,
    validated,
    written_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.models.openai.schema import PromptEntry, TopToken

TOPS = (100, 20, 5, 1)
"""How many of the most probable tokens are asked for: the first number that a server takes."""

_BY_ID = "token_id:"
_HALF = "\ufffd"
_BYTE = re.compile(r"<0x[0-9A-F]{2}>|bytes:.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the server gives it.

    Args:
        text: How the server writes it; None where it gives none.
        number: Its id, where the server gives it.
        logprob: Its log-probability in nats, given what stands before it; None where there is none.
        top: The most probable tokens in its place, where they were asked for.
    """

    text: str | None
    number: int | None
    logprob: float | None
    top: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One completion.

    Args:
        tokens: The tokens of the completion, of the prompt as well where that is echoed.
        prompt: The prompt's tokens, where the server gave ``prompt_logprobs``.
        counted: How many tokens the server says that the prompt had; None where it does not.
        text: The completion as text.
    """

    tokens: tuple[Token, ...]
    prompt: tuple[Token, ...] | None
    counted: int | None
    text: str = ""

    @property
    def first(self) -> Token | None:
        """The first token; None where the server tells of none."""
        return self.tokens[0] if self.tokens else None


def read_reply(answer: Mapping[str, Any], noise: float = 0.0) -> Reply:
    """The tokens of the completion in a server's answer.

    Args:
        answer: What the server sent.
        noise: As for ``check_logprobs``.

    Raises:
        ReplyError: It is none, its parts do not belong together, or it holds what is no
            log-probability.
    """
    read = validated(answer, Answer[Completion], "a completion")
    (choice,) = read.ordered()
    prompt = choice.prompt_logprobs
    reply = Reply(
        tuple(_tokens(choice.logprobs)),
        None if prompt is None else tuple(map(_prompt_token, prompt)),
        read.usage.prompt_tokens,
        choice.text,
    )
    check_logprobs(reply.tokens, noise)
    check_logprobs(reply.prompt or (), noise)
    return reply


def _tokens(given: TokenObjects | TokenColumns | None) -> Iterator[Token]:
    if isinstance(given, TokenObjects):
        for one in given.content:
            yield replace(_of_object(one), top=tuple(map(_of_object, one.top_logprobs)))
    elif given is not None:
        nothing = [None] * len(given.tokens)
        values = given.token_logprobs or nothing
        tops = given.top_logprobs or [{} for _ in given.tokens]
        for text, value, top in zip(given.tokens, values, tops, strict=True):
            yield _of_text(text, value, tuple(_of_text(*pair) for pair in top.items()))


def _of_object(one: TopToken) -> Token:
    return Token(one.token, one.id, one.logprob)


def _of_text(text: str, logprob: float | None, top: tuple[Token, ...] = ()) -> Token:
    number = written_id(text[len(_BY_ID) :]) if text.startswith(_BY_ID) else None
    return Token(text if number is None else None, number, logprob, top)


def _prompt_token(entry: PromptEntry | None) -> Token:
    """A token of ``prompt_logprobs``; the first has none, as nothing stands before it."""
    if entry is None:
        return Token(None, None, None)
    ((number, one),) = entry.items()
    return Token(one.decoded_token, written_id(number), one.logprob)


def identifies_token(text: str | None) -> bool:
    """Whether a token's text says which token it is: no part of a character does."""
    return bool(text) and _HALF not in str(text) and not _BYTE.fullmatch(str(text))


def find(top: Sequence[Token], text: str | None, number: int | None) -> Token | None:
    """The token of that id, or where the server gives no ids, of that text; None if not one is."""
    if number is not None and any(one.number is not None for one in top):
        return next((one for one in top if one.number == number), None)
    named = [one for one in top if identifies_token(text) and one.text == text]
    return named[0] if len(named) == 1 else None


def likeliest(token: Token, most: int) -> Token:
    """The token with so many of the most probable ones in its place.

    Servers add the one that was drawn where it is not among them. What can be read would then
    depend on the draw.
    """
    ranked = sorted(token.top, key=lambda one: math.inf if one.logprob is None else -one.logprob)
    return replace(token, top=tuple(ranked[:most]))


def returned(tokens: Sequence[Token]) -> int:
    """How many of the most probable tokens a server returns, the drawn one not counted as one more.

    Rounded down to one of ``TOPS``: some counts vary, as tokens that are written alike are one.

    Args:
        tokens: Some that were drawn behind different texts.
    """
    # A drawn token that another one follows is among the most probable of itself.
    sure = [len(token.top) for token in tokens if len(token.top) == 1 or not _is_last(token)]
    most = max(sure) if sure else max((len(token.top) - 1 for token in tokens), default=0)
    return max((top for top in TOPS if top <= most), default=0)


def _is_last(token: Token) -> bool:
    drawn = find(token.top, token.text, token.number)
    values = [one.logprob for one in token.top if one.logprob is not None]
    if not values:
        return False
    return drawn is not None and drawn.logprob is not None and drawn.logprob <= min(values)


LARGEST = 0.1
"""Nats by which any may differ: half precision rounds so far when a server batches otherwise."""

TYPICAL = 0.02
"""Nats by which half of them may differ."""

ENOUGH = 8
"""On so many texts at least is a server compared with itself."""


def agree(differences: Sequence[float]) -> bool:
    """Whether absolute differences, in nats, are no more than rounding.

    Raises:
        ValueError: There are none.
    """
    if not differences:
        raise ValueError("nothing was compared")
    # A difference that is no number compares false, and so does not agree.
    return all(one <= LARGEST for one in differences) and statistics.median(differences) <= TYPICAL
