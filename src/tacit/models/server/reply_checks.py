"""Whether a server's reply can be right; one that cannot is asked for once more, and never kept.

Some checks hold for every server: no log-probability is above 0, the probabilities of a place sum
to 1 at most, a reply that was filtered or broke off is no reply. Others are learned while the
server is tried: the model's name in its replies, how replies end, how many tokens it counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.errors import ScoringError, UnreliableError
from tacit.models.server import forms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.models.server.cutting import TokenizerFile
    from tacit.models.server.replies import Token

Result = TypeVar("Result")

MOST_MASS = 1.001
"""The probabilities of different tokens in one place sum to this at most, rounding included."""

_ABOVE_ZERO = 1e-3
_EXACTLY_ONE = 1e-6
_ENDS = frozenset({"length", "stop", "eos", "eos_token", "stop_sequence", "max_tokens", "end_turn"})
_FAILURES = frozenset({"error", "content_filter", "abort", "aborted", "cancelled", "canceled"})
_FEWEST_ALIKE = 3
_FEWEST_OF_OWN = 4
# So much is allowed for until it was measured.
_UNKNOWN_NOISE = 0.05
# So much of the fewest tokens that it counted of a word are there of any words.
_SURELY = 0.6


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


def check_logprobs(tokens: Sequence[Token], noise: float = _UNKNOWN_NOISE) -> None:
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


@dataclass(frozen=True)
class _About:
    """What a reply says beside its tokens."""

    model: str | None
    ends: tuple[str, ...]
    counted: int | None


@dataclass
class Habits:
    """What the replies of a server have in common.

    Everything is recorded until ``settle``; from then on what differs is refused. Threads may share
    it. ``noise`` is by how many nats log-probabilities may differ from time to time.
    """

    _seen: list[tuple[str, _About]] = field(default_factory=list)
    _settled: bool = False
    _models: frozenset[str] = frozenset()
    _ends: frozenset[str] = _ENDS
    _counts: dict[str, int] = field(default_factory=dict)
    _tokenizer: TokenizerFile | None = None
    _beside: int | None = None
    _fewest_of_a_word: float = 0.0
    noise: float = _UNKNOWN_NOISE

    @property
    def names(self) -> frozenset[str]:
        """What replies have called their model."""
        return frozenset(about.model for _, about in self._seen if about.model)

    def settle(self, tokenizer: TokenizerFile | None = None, noise: float = 0.0) -> None:
        """Takes what was recorded as the rule.

        Args:
            tokenizer: The model's; without it a prompt's tokens are only bounded by its words.
            noise: Nats by which log-probabilities differ from time to time.
        """
        self._settled, self._tokenizer, self.noise = True, tokenizer, noise
        self._models = self.names
        self._ends = _ENDS | {end for _, about in self._seen for end in about.ends}
        counts: dict[str, set[int]] = defaultdict(set)
        for text, about in self._seen:
            if about.counted is not None:
                counts[text].add(about.counted)
        if not counts or any(len(some) > 1 for some in counts.values()):
            return  # it does not count, or not what it was asked
        self._counts = {text: count for text, (count,) in counts.items()}
        if tokenizer is None:
            rates = [
                count / words for text, count in self._counts.items() if (words := _words(text))
            ]
            self._fewest_of_a_word = _SURELY * min(rates, default=0.0)
            return
        beside = {count - len(tokenizer.cut(text).tokens) for text, count in self._counts.items()}
        self._beside = beside.pop() if len(beside) == 1 else None

    def check(self, text: str, answer: Mapping[str, Any]) -> None:
        """Refuses an answer that differs from all that came before the rule was taken.

        Args:
            text: What was asked.
            answer: What the server sent.

        Raises:
            ReplyError: It does; or it was filtered or broken off.
        """
        about = _about(answer)
        for end in about.ends:
            if end in _FAILURES or (self._settled and end not in self._ends):
                raise ReplyError(f"it ended for the reason {end!r}")
        if not self._settled:
            self._seen.append((text, about))
            return
        if about.model and self._models and about.model not in self._models:
            raise ReplyError(
                f"it is of the model {about.model!r}; before, replies were of "
                f"{', '.join(map(repr, sorted(self._models)))}"
            )
        if about.counted is not None:
            self._check_count(text, about.counted)

    def _check_count(self, text: str, counted: int) -> None:
        known = self._counts.get(text)
        if known is not None and counted != known:
            raise ReplyError(
                f"it counts {counted} tokens in a prompt in which it counted {known} before"
            )
        if self._tokenizer is not None and self._beside is not None and text:
            expected = len(self._tokenizer.cut(text).tokens) + self._beside
            if counted != expected:
                raise ReplyError(f"it counts {counted} tokens in a prompt of {expected}")
        words = _words(text)
        if counted < self._fewest_of_a_word * words:
            raise ReplyError(
                f"it counts {counted} tokens in a prompt of {words} words, so that it did not read "
                "it whole"
            )


def _words(text: str) -> int:
    return len(text.split())


def _about(answer: Mapping[str, Any]) -> _About:
    try:
        usage = forms.record(answer.get("usage") or {}, "usage")
        ends = [choice.get("finish_reason") for choice in forms.listed_choices(answer)]
    except forms.FormError as error:
        raise ReplyError(str(error)) from error
    model = answer.get("model")
    return _About(
        model if isinstance(model, str) else None,
        tuple(end for end in ends if isinstance(end, str)),
        forms.count(usage.get("prompt_tokens")),
    )
