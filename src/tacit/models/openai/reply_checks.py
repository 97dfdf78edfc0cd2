"""Whether a server's reply can be right; one that cannot is asked for once more, and never kept.

Some checks hold for every server: no log-probability is above 0, the probabilities of a place sum
to 1 at most, a reply that was filtered or broke off is no reply. Others are learned while the
server is tried: the model's name in its replies, how replies end, how many tokens it counts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from tacit.errors import ScoringError, UnreliableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.models.openai.token_lists import Token

Result = TypeVar("Result")

MOST_MASS = 1.001
"""The probabilities of different tokens in one place sum to this at most, rounding included."""

_ABOVE_ZERO = 1e-3
_EXACTLY_ONE = 1e-6
_FEWEST_ALIKE = 3
_FEWEST_OF_OWN = 4
# So much is allowed for until it was measured.
UNKNOWN_NOISE = 0.05


class ReplyError(ScoringError):
    """A server's reply is not of the right form, or cannot be right."""


class WrongRepliesError(UnreliableError):
    """A server's replies to the same request cannot be right, twice in turn."""


def twice(ask: Callable[[], Result], where: str) -> Result:
    """What is asked for, once more where the reply cannot be right.

    Raises:
        WrongRepliesError: The second reply cannot be right either.
        ScoringError: The server failed.
    """
    try:
        return ask()
    except ReplyError:
        pass
    try:
        return ask()
    except ReplyError as error:
        raise WrongRepliesError(
            f"{where}: the server's reply cannot be right, twice in turn: {error}"
        ) from error


def check_logprobs(tokens: Sequence[Token], noise: float = UNKNOWN_NOISE) -> None:
    """Refuses log-probabilities that no model gives.

    Args:
        tokens: What a server returned.
        noise: Nats by which its log-probabilities are known to differ from time to time.

    Raises:
        ReplyError: One is above 0 or no number, those of one place have probabilities that sum to
            more than 1, or all are the same.
    """
    for token in tokens:
        top = [one.logprob for one in token.top if one.logprob is not None]
        for value in top if token.logprob is None else (token.logprob, *top):
            if not value <= _ABOVE_ZERO:
                raise ReplyError(f"it gives a log-probability of {value:.4g}, which is above 0")
        if len(top) >= _FEWEST_ALIKE and len(set(top)) == 1:
            raise ReplyError(f"all its {len(top)} log-probabilities are {top[0]:.4g}")
        summed = mass(token)
        if summed > MOST_MASS * math.exp(noise):
            raise ReplyError(
                f"its {len(top)} most probable tokens have probabilities that sum to "
                f"{summed:.4g}; are its values natural logarithms?"
            )
    own = [token.logprob for token in tokens if token.logprob is not None]
    if len(own) >= _FEWEST_OF_OWN and not any(own):
        raise ReplyError("all its log-probabilities are 0")


def mass(token: Token) -> float:
    """The summed probability of the most probable tokens in a token's place."""
    return sum(math.exp(one.logprob) for one in token.top if one.logprob is not None)


def are_rescaled(tokens: Sequence[Token]) -> bool:
    """Whether the most probable tokens always sum to exactly 1, as if there were no others.

    A server that cuts off unlikely tokens and scales up the others before it reports them does so.
    """
    several = [token for token in tokens if len(token.top) > 1]
    return bool(several) and all(abs(mass(token) - 1) < _EXACTLY_ONE for token in several)
