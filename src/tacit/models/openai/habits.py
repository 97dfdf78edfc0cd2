"""What a server's replies have in common: a reply that differs was not answered as usual."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.models.openai.schema import Reply, ReplyError

if TYPE_CHECKING:
    from tacit.models.openai.tokenizer import TokenizerFile

_FAILURES = frozenset({"error", "content_filter", "abort", "aborted", "cancelled", "canceled"})
_SURELY = 0.6
"""The fewest tokens per word, as a share of the fewest in the preflight."""


@dataclass
class Habits:
    """Model names and token counts of the preflight's replies, with which later ones must agree."""

    tokenizer: TokenizerFile | None = None
    models: set[str] = field(default_factory=set)
    _counts: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    _settled: bool = False
    _fewest_of_a_word: float = 0.0
    _extra: set[int] = field(default_factory=set)

    def check(self, text: str, answer: Reply) -> None:
        """Record a reply or, after ``settle``, compare it with the recorded replies."""
        self.check_source(answer)
        counted = answer.usage.prompt_tokens
        if counted is None:
            return
        if not self._settled:
            self._counts[text].add(counted)
        elif self._counts:
            self._check_count(text, counted)

    def check_source(self, reply: Reply) -> None:
        """Raise if a reply is a failure, or names another model than those before ``settle``."""
        for reason in reply.finish_reasons:
            if reason in _FAILURES:
                raise ReplyError(f"its finish reason is {reason!r}")
        if not self._settled:
            self.models |= {reply.model} if reply.model else set()
        elif reply.model and self.models and reply.model not in self.models:
            raise ReplyError(
                f"it names the model {reply.model!r}, but earlier replies named "
                f"{', '.join(map(repr, sorted(self.models)))}"
            )

    def settle(self) -> None:
        self._settled = True
        if any(len(some) > 1 for some in self._counts.values()):
            self._counts.clear()  # it does not count tokens that it has cached
        rates = [min(some) / _words(text) for text, some in self._counts.items() if _words(text)]
        self._fewest_of_a_word = _SURELY * min(rates, default=0.0)
        self._extra = self.extra()

    def counted(self, text: str) -> set[int]:
        return self._counts.get(text, set())

    def extra(self) -> set[int]:
        """Return how many tokens the server counts beside those of the tokenizer, for all texts."""
        if self.tokenizer is None:
            return set()
        return {
            counted - len(self.tokenizer.cut(text).tokens)
            for text, some in self._counts.items()
            for counted in some
        }

    def _check_count(self, text: str, counted: int) -> None:
        expected = set(self._counts.get(text, ()))
        if text and self.tokenizer is not None and len(self._extra) == 1:
            expected = {len(self.tokenizer.cut(text).tokens) + min(self._extra)}
        if expected and counted not in expected:
            (usual,) = expected
            raise ReplyError(
                f"it counts {several(counted, 'token')} in a prompt of {several(usual, 'token')}"
            )
        if counted < self._fewest_of_a_word * _words(text):
            raise ReplyError(
                f"it counts {several(counted, 'token')} in a prompt of "
                f"{several(_words(text), 'word')}, so it did not read the whole prompt"
            )


def _words(text: str) -> int:
    return len(text.split())
