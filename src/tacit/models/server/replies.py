"""What servers answer, in the three forms in which they give log-probabilities.

OpenAI's completions list tokens, their log-probabilities and the most probable ones beside each.
llama.cpp's server lists an object per token, as for chats. vLLM has ``prompt_logprobs`` beside the
first form, one object per token of the prompt.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEVER = -9000.0
"""Servers write -9999 or less for a probability of nothing, which JSON has no number for."""

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
    """

    tokens: tuple[Token, ...]
    prompt: tuple[Token, ...] | None
    counted: int | None


def read_reply(answer: Mapping[str, Any]) -> Reply:
    """The tokens of the first completion in a server's answer.

    Raises:
        ScoringError: It is none, or its parts do not belong together.
    """
    try:
        choice = min(answer["choices"], key=lambda one: one.get("index") or 0)
        prompt = choice.get("prompt_logprobs")
        counted = (answer.get("usage") or {}).get("prompt_tokens")
        return Reply(
            tuple(_tokens(choice.get("logprobs"))),
            None if prompt is None else tuple(_prompt_token(one) for one in prompt),
            counted if isinstance(counted, int) else None,
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ScoringError(
            "the server's answer has not the form of a completion "
            f"({type(error).__name__}: {error}); is the address that of its OpenAI-compatible "
            "interface, with /v1?"
        ) from error


def _tokens(given: Mapping[str, Any] | None) -> list[Token]:
    if given is None:
        return []
    if isinstance(given.get("content"), list):
        return [_object(one) for one in given["content"]]
    texts = given.get("tokens") or []
    values = given.get("token_logprobs") or [None] * len(texts)
    tops = given.get("top_logprobs") or [None] * len(texts)
    return [
        _token(text, value, tuple(_token(*pair) for pair in (top or {}).items()))
        for text, value, top in zip(texts, values, tops, strict=True)
    ]


def _token(text: str, value: float | None, top: tuple[Token, ...] = ()) -> Token:
    if text.startswith(_BY_ID) and text[len(_BY_ID) :].isdecimal():
        return Token(None, int(text[len(_BY_ID) :]), _logprob(value), top)
    return Token(text, None, _logprob(value), top)


def _object(one: Mapping[str, Any]) -> Token:
    number = one.get("id")
    return Token(
        one["token"],
        number if isinstance(number, int) else None,
        _logprob(one["logprob"]),
        tuple(_object(each) for each in one.get("top_logprobs") or ()),
    )


def _prompt_token(one: Mapping[str, Any] | None) -> Token:
    """A token of ``prompt_logprobs``; nothing is said of the first, as nothing stands before it."""
    if one is None:
        return Token(None, None, None)
    # Asked for no others beside it, a token's entry holds itself alone.
    ((number, of),) = one.items()
    return Token(of.get("decoded_token"), int(number), _logprob(of["logprob"]))


def _logprob(value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"the log-probability {value!r} is no number")
    return float(value) if value > NEVER or value != value else None  # noqa: PLR0124 - nan is refused later


def tells(text: str | None) -> bool:
    """Whether a token's text says which token it is: no part of a character does."""
    return bool(text) and _HALF not in str(text) and not _BYTE.fullmatch(str(text))


def find(top: Sequence[Token], text: str | None, number: int | None) -> Token | None:
    """The token of that id, or where the server gives no ids, of that text; None if not one is."""
    if number is not None and any(one.number is not None for one in top):
        return next((one for one in top if one.number == number), None)
    named = [one for one in top if tells(text) and one.text == text]
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
