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

from tacit.models.openai import schema
from tacit.models.openai.reply_checks import ReplyError, check_logprobs

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
    try:
        (choice,) = schema.choices(answer)
        prompt = choice.get("prompt_logprobs")
        usage = schema.record(answer.get("usage") or {}, "usage")
        reply = Reply(
            tuple(_tokens(choice.get("logprobs"))),
            None if prompt is None else tuple(map(_prompt_token, _listed(prompt))),
            schema.count(usage.get("prompt_tokens")),
            schema.text(choice.get("text") or "", "a completion's text"),
        )
    except schema.FormError as error:
        raise ReplyError(
            f"the server's answer has not the form of a completion: {error}; is the address that "
            "of its OpenAI-compatible interface, with /v1?"
        ) from error
    check_logprobs(reply.tokens, noise)
    check_logprobs(reply.prompt or (), noise)
    return reply


def _listed(prompt: object) -> list[Any]:
    return schema.listing(prompt, "prompt_logprobs")


def _tokens(given: object) -> list[Token]:
    if given is None:
        return []
    logprobs = schema.record(given, "logprobs")
    if isinstance(logprobs.get("content"), list):
        return [_with_top(one) for one in logprobs["content"]]
    texts = schema.listing(logprobs.get("tokens") or [], "tokens")
    nothing = [None] * len(texts)
    values = schema.listing(logprobs.get("token_logprobs") or nothing, "token_logprobs")
    tops = schema.listing(logprobs.get("top_logprobs") or nothing, "top_logprobs")
    if not len(texts) == len(values) == len(tops):
        raise schema.FormError("tokens, token_logprobs and top_logprobs are not of one length")
    return [
        _token(text, value, tuple(_token(*pair) for pair in _top(top).items()))
        for text, value, top in zip(texts, values, tops, strict=True)
    ]


def _top(given: object) -> dict[str, Any]:
    """The most probable tokens in a token's place; none where nothing is said of them."""
    return schema.record(given or {}, "an entry of top_logprobs")


def _token(given: object, value: object, top: tuple[Token, ...] = ()) -> Token:
    text = schema.text(given, "a token")
    by_id = text.startswith(_BY_ID)
    number = schema.written_count(text[len(_BY_ID) :]) if by_id else None
    return Token(text if number is None else None, number, _logprob(value), top)


def _with_top(given: object) -> Token:
    tops = schema.record(given, "a token").get("top_logprobs") or []
    top = tuple(map(_object, schema.listing(tops, "top_logprobs")))
    return replace(_object(given), top=top)


def _object(given: object) -> Token:
    one = schema.record(given, "a token")
    if "logprob" not in one:
        raise schema.FormError("a token has no logprob")
    text = schema.text(one.get("token"), "a token")
    return Token(text, schema.count(one.get("id")), _logprob(one["logprob"]))


def _prompt_token(given: object) -> Token:
    """A token of ``prompt_logprobs``; nothing is said of the first, as nothing stands before it."""
    if given is None:
        return Token(None, None, None)
    # Asked for no others beside it, a token's entry holds itself alone.
    entries = schema.record(given, "an entry of prompt_logprobs")
    number, of = next(iter(entries.items()), ("", None))
    known, one = schema.written_count(number), schema.record(of, "a token of prompt_logprobs")
    if len(entries) != 1 or known is None or "logprob" not in one:
        raise schema.FormError("an entry of prompt_logprobs is not one token's logprob, by id")
    spelled = one.get("decoded_token")
    text = None if spelled is None else schema.text(spelled, "a decoded_token")
    return Token(text, known, _logprob(one["logprob"]))


def _logprob(value: object) -> float | None:
    if value is None or (isinstance(value, (int, float)) and value <= NEVER):
        return None
    return schema.number(value, "a log-probability")


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
