"""Rank the words of a vocabulary on a server that returns log-probabilities of named tokens."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tacit.models.huggingface.alignment import Tokens
from tacit.models.huggingface.encoding import fill
from tacit.models.huggingface.vocabulary import Candidates, CandidateTokens, Placed
from tacit.models.openai.named import NamedTokens, Wanted, total, wanted_of
from tacit.models.openai.named_routes import Ids
from tacit.requests import Prompt, Ranking, RankingPrompt, rank


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, its candidates, and the tokens of those that are not a single token."""

    prompt: RankingPrompt
    candidates: Candidates
    before: Ids | None
    """The tokens before the candidates that are a single token; None if none is."""
    whole: tuple[Tokens | None, ...]

    @property
    def wanted(self) -> Wanted:
        """Every token whose log-probability is needed, by the tokens before it."""
        wanted = wanted_of(self.whole)
        if self.before:
            wanted.setdefault(self.before, []).extend(self.candidates.ids.tolist())
        return wanted


class Rankings:
    """Ranks candidates as a model in this process does: in one pass where they are one token."""

    def __init__(self, named: NamedTokens) -> None:
        self._named, self._lock = named, threading.Lock()
        self._words = CandidateTokens(
            named.tokenizer.backend, partial(_is_writable, named.tokenizer.unknown), in_order=True
        )

    def wanted(self, prompts: Sequence[RankingPrompt]) -> list[Wanted]:
        """Return the tokens that rank each prompt's candidates, by the tokens before them."""
        return [one.wanted for one in self._asked(prompts)]

    def rank(self, prompt: RankingPrompt) -> Ranking:
        """Rank a prompt's candidates; those without a log-probability are missing."""
        (asked,) = self._asked([prompt])
        candidates = asked.candidates
        found = self._named.ask(self._named.requests(asked.wanted))
        values = np.full(len(prompt.vocabulary), np.nan)
        for at, one in zip(candidates.whole, asked.whole, strict=True):
            if one and one.begin:
                value = total(one, found)
                values[at] = np.nan if value is None else value
        if asked.before:
            single = found[asked.before]
            read = np.array([single[one] for one in candidates.ids.tolist()], float)
            if candidates.lead:
                read = read + (values[candidates.single[0]] - read[0])
            values[candidates.single] = read
        return rank(prompt, values, candidates.tokens)

    def _asked(self, prompts: Sequence[RankingPrompt]) -> list[Asked]:
        first = [fill(prompt.asking(prompt.vocabulary.words[:1]))[0] for prompt in prompts]
        with self._lock:  # the words of a vocabulary are tokenized once
            placed = self._words.locate(prompts, first, self._written)
        return [self._of(*pair) for pair in zip(prompts, placed, strict=True)]

    def _of(self, prompt: RankingPrompt, placed: Placed) -> Asked:
        words, candidates = prompt.vocabulary.words, placed.candidates
        others = [words[at] for at in candidates.whole]
        whole = self._named.cut(fill(prompt.asking(others))) if others else []
        return Asked(prompt, candidates, placed.frame and placed.frame[0], tuple(whole))

    def _written(self, prompts: Sequence[Prompt]) -> list[list[Tokens | None]]:
        return [self._named.cut(fill(prompt)) for prompt in prompts]


def _is_writable(unknown: int | None, tokens: Tokens) -> bool:
    return unknown is None or unknown not in tokens.ids[tokens.begin : tokens.end]
