"""The tokens in a server's answer, and how far two answers differ."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.models.openai.schema import Answer, Completion, ReplyError, TopToken, written_id

TOPS = (100, 20, 5, 1)
"""Numbers of most probable tokens to request, tried in order until the server accepts one."""

LARGEST = 0.1
"""The largest log-probability difference, in nats, that counts as a rounding error.

With half precision, a log-probability can change by up to ``LARGEST`` if a repeated request is
batched with different requests.
"""

TYPICAL = 0.02
"""The largest median log-probability difference (nats) that counts as rounding error."""

UNKNOWN_NOISE = 0.05
"""The noise in nats that is assumed until the preflight measures it."""

_BY_ID = "token_id:"
HALF = "\ufffd"
"""What decoders write for a part of a character."""

_BYTE = re.compile(r"<0x[0-9A-F]{2}>|bytes:.*", re.DOTALL)
_ABOVE_ZERO = 1e-3
_MOST_MASS = 1.001
_EXACTLY_ONE = 1e-6
_FEWEST_OF_OWN = 4
_ANY_VOCABULARY = 1_000_000
"""More tokens than any vocabulary has."""


@dataclass(frozen=True, slots=True)
class Token:
    text: str | None
    number: int | None
    logprob: float | None
    top: tuple[Token, ...] = ()


def read_tokens(answer: Answer[Completion], noise: float = 0.0) -> tuple[Token, ...]:
    """Return the tokens of the completion in a server's answer; reject impossible values."""
    (choice,) = answer.ordered()
    tokens = tokens_of(choice)
    check_logprobs(tokens, noise)
    return tokens


def tokens_of(choice: Completion) -> tuple[Token, ...]:
    return tuple(
        replace(_token(one), top=tuple(map(_token, one.top_logprobs)))
        for one in (choice.logprobs.content if choice.logprobs else ())
    )


def _token(one: TopToken) -> Token:
    number = written_id(one.token[len(_BY_ID) :]) if one.token.startswith(_BY_ID) else None
    return (
        Token(one.token, one.id, one.logprob)
        if number is None
        else Token(None, number, one.logprob)
    )


def check_logprobs(tokens: Sequence[Token], noise: float = UNKNOWN_NOISE) -> None:
    """Reject log-probabilities that no language model can produce."""
    for token in tokens:
        for one in (token, *token.top):
            if one.logprob is not None and not one.logprob <= _ABOVE_ZERO:
                raise ReplyError(
                    f"it returns a log-probability of {one.logprob:.4g}, which is above 0"
                )
        summed = _mass(token)
        if summed > _MOST_MASS * math.exp(noise):
            raise ReplyError(
                f"the probabilities of its {len(token.top)} most probable tokens sum to "
                f"{summed:.4g}; are its values natural logarithms?"
            )
    own = [token.logprob for token in tokens if token.logprob is not None]
    if len(own) >= _FEWEST_OF_OWN and not any(own):
        raise ReplyError("all its log-probabilities are 0")


def _mass(token: Token) -> float:
    return sum(math.exp(one.logprob) for one in token.top if one.logprob is not None)


def are_rescaled(tokens: Sequence[Token]) -> bool:
    """Return whether the listed probabilities sum to exactly 1 at every position."""
    longer = [token for token in tokens if len(token.top) > 1]
    return bool(longer) and all(abs(_mass(token) - 1) < _EXACTLY_ONE for token in longer)


def are_logits(tokens: Sequence[Token]) -> bool:
    """Return whether the most probable tokens are less probable than tokens are on average."""
    return bool(tokens) and all(
        0 < _mass(token) < max(1, len(token.top) - 1) / _ANY_VOCABULARY for token in tokens
    )


def identifies_token(text: str | None) -> bool:
    """Return whether a text identifies a token; a text with incomplete characters does not."""
    return bool(text) and HALF not in str(text) and not _BYTE.fullmatch(str(text))


def find(top: Sequence[Token], text: str | None, number: int | None) -> Token | None:
    """Find a token in ``top`` by its id or, if ids are unavailable, by its text."""
    if number is not None and any(one.number is not None for one in top):
        return next((one for one in top if one.number == number), None)
    named = [one for one in top if identifies_token(text) and one.text == text]
    return named[0] if len(named) == 1 else None


def likeliest(token: Token, most: int) -> Token:
    """Copy the token, but keep only the most probable tokens (at most ``most``) in ``top``."""
    ranked = sorted(token.top, key=lambda one: math.inf if one.logprob is None else -one.logprob)
    return replace(token, top=tuple(ranked[:most]))


def returned(tokens: Sequence[Token]) -> int:
    """Return the number of most probable tokens that a server lists at each position."""
    # If a listed token is less probable than the drawn one, the drawn one is not additional.
    sure = [len(token.top) for token in tokens if len(token.top) == 1 or not _is_last(token)]
    most = max(sure) if sure else max((len(token.top) - 1 for token in tokens), default=0)
    return max((top for top in TOPS if top <= most), default=0)


def _is_last(token: Token) -> bool:
    drawn = find(token.top, token.text, token.number)
    values = [one.logprob for one in token.top if one.logprob is not None]
    if not values:
        return False
    return drawn is not None and drawn.logprob is not None and drawn.logprob <= min(values)


def least_listed(token: Token) -> float:
    """Return the lowest log-probability that a server lists at a position."""
    drawn = find(token.top, token.text, token.number)
    texts = Counter(one.text for one in token.top)
    listed = [
        one.logprob
        for one in token.top
        if one.logprob is not None
        and one != drawn
        and (one.number is not None or (texts[one.text] == 1 and identifies_token(one.text)))
    ]
    if listed:
        return min(listed)
    return drawn.logprob if drawn is not None and drawn.logprob is not None else -math.inf


def differences(then: Sequence[Token], now: Token) -> list[float]:
    """Return the differences (nats) between tokens of one answer and another answer.

    A token that is not listed now, although it should be, differs by NaN.
    """
    listed = now.top or (now,)
    least = least_listed(now)
    changes = []
    for one in then:
        if one.logprob is None:
            continue
        found = find(listed, one.text, one.number)
        if found is not None and found.logprob is not None:
            changes.append(abs(one.logprob - found.logprob))
        elif now.top and one.logprob >= least + LARGEST:
            changes.append(math.nan)
    return changes


def apart(one: float | None, other: float | None) -> float:
    """Return the difference of two values; NaN if one is unknown."""
    return math.nan if one is None or other is None else abs(one - other)


def largest(changes: Sequence[float]) -> float:
    """Return the largest difference; infinity if one is unknown."""
    return max((math.inf if math.isnan(one) else one for one in changes), default=0.0)


def agree(changes: Sequence[float]) -> bool:
    """Return whether absolute log-probability differences (nats) may be rounding errors."""
    # NaN compares false, so a NaN difference does not agree.
    return all(one <= LARGEST for one in changes) and statistics.median(changes) <= TYPICAL
