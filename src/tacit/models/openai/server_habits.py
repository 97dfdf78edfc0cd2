"""What the replies of a server have in common, learned while it is tried and held to afterwards."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.models.openai import schema
from tacit.models.openai.drawn_tokens import Tally
from tacit.models.openai.reply_checks import UNKNOWN_NOISE, ReplyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.models.openai.token_lists import Token
    from tacit.models.openai.tokenizer import TokenizerFile

# So much of the fewest tokens that it counted of a word are there of any words.
_SURELY = 0.6
_FAILURES = frozenset({"error", "content_filter", "abort", "aborted", "cancelled", "canceled"})
_ENDS = frozenset({"length", "stop", "eos", "eos_token", "stop_sequence", "max_tokens", "end_turn"})


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
    it. ``noise`` is by how many nats log-probabilities may differ from time to time, ``tally`` what
    was drawn since.
    """

    _seen: list[tuple[str, _About]] = field(default_factory=list)
    _settled: bool = False
    _models: frozenset[str] = frozenset()
    _ends: frozenset[str] = _ENDS
    _counts: dict[str, int] = field(default_factory=dict)
    _tokenizer: TokenizerFile | None = None
    _beside: int | None = None
    _fewest_of_a_word: float = 0.0
    noise: float = UNKNOWN_NOISE
    tally: Tally | None = None

    @property
    def names(self) -> frozenset[str]:
        """What replies have called their model."""
        return frozenset(about.model for _, about in self._seen if about.model)

    def settle(
        self, tokenizer: TokenizerFile | None = None, noise: float = 0.0, top: int = 0
    ) -> None:
        """Takes what was recorded as the rule.

        Args:
            tokenizer: The model's; without it a prompt's tokens are only bounded by its words.
            noise: Nats by which log-probabilities differ from time to time.
            top: How many of the most probable tokens it returns.
        """
        self.tally = Tally(top) if top > 1 else None
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

    def counted(self, text: str) -> int | None:
        """How many tokens it counted in a text while it was tried; None where it did not."""
        return self._counts.get(text)

    def draw(self, tokens: Sequence[Token]) -> None:
        """Counts the token that a reply begins with, where that is counted."""
        if self.tally is not None and tokens:
            self.tally.add(tokens[0])

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
        usage = schema.record(answer.get("usage") or {}, "usage")
        ends = [choice.get("finish_reason") for choice in schema.listed_choices(answer)]
    except schema.FormError as error:
        raise ReplyError(str(error)) from error
    model = answer.get("model")
    return _About(
        model if isinstance(model, str) else None,
        tuple(end for end in ends if isinstance(end, str)),
        schema.count(usage.get("prompt_tokens")),
    )
