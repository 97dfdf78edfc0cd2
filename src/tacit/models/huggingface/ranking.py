"""Rank words with a local model; one forward pass per text ranks single-token words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError
from tacit.models.base import by_kind
from tacit.models.huggingface.alignment import Filled, locate
from tacit.models.huggingface.local import Checkpoint, LocalModel
from tacit.models.huggingface.packing import Rows
from tacit.models.huggingface.passes import in_batches, on_host
from tacit.models.huggingface.vocabulary import (
    Candidates,
    CandidateTokens,
    Frame,
    Written,
    whole_words,
)
from tacit.requests import Prompt, Ranking, RankingPrompt, Scores, Vocabulary, rank

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """The model's input, and the position at which the model predicts candidate words."""

    ids: tuple[int, ...]
    position: int
    start: tuple[int, ...] = ()

    @property
    def cost(self) -> int:
        """The number of tokens that the model processes."""
        return len(self.ids) + len(self.start)


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, its tokenized candidate words, and the position that predicts them."""

    prompt: RankingPrompt
    candidates: Candidates
    place: ReadPosition | None

    @property
    def whole(self) -> Prompt:
        """A prompt whose answers are the candidate words that are scored in separate passes."""
        words = self.prompt.vocabulary.words
        return self.prompt.asking([words[at] for at in self.candidates.whole])


class RankingModel(LocalModel):
    """A local model that ranks the words of a vocabulary by their log-probabilities."""

    supports = frozenset({Prompt, RankingPrompt})

    def __init__(
        self, checkpoint: Checkpoint, batch_tokens: int, *, in_order: bool = True, **options: object
    ) -> None:
        super().__init__(checkpoint, batch_tokens, **options)
        backend = self._tokenizer.backend_tokenizer
        self._writing = CandidateTokens(backend, self._is_writable, in_order=in_order)

    def whole_words(self) -> Vocabulary:
        """Return the words that the tokenizer encodes as one token after a space."""
        return whole_words(self._bare.backend_tokenizer, partial(locate, self._bare))

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """Return the number of tokens that the model processes for each request."""
        return by_kind(requests, {Prompt: self._scoring_cost, RankingPrompt: self._ranking_cost})

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return the answers in the order of the requests. See ``LanguageModel``."""
        return by_kind(requests, {Prompt: self._score, RankingPrompt: self._rank})

    def next_tokens(self, prompts: Sequence[Prompt], most: int) -> list[tuple[str, float]]:
        """Return the likeliest tokens after the prompts. See ``PredictsTokens``."""
        first = [Prompt(one.text, one.answers[:1], one.separator) for one in prompts]
        framed: list[tuple[Prompt, Frame]] = [
            (prompt, (one.ids[: one.begin], one.ids[one.end :]))
            for prompt, (one,) in zip(first, self._written(first), strict=True)
            if one
        ]
        places = self._positions_of(framed)
        if not places:
            return []
        total = np.zeros(1)

        def read(batch: list[int]) -> None:
            nonlocal total
            logits = self._logits([places[at] for at in batch])
            total = total + on_host(logits.softmax(dim=-1)).sum(axis=0, dtype=np.float64)

        in_batches([spot.cost for spot in places], self._passes.budget, read)
        likeliest = np.argsort(-total, kind="stable")[:most].tolist()
        return [(self._shown(at), float(total[at]) / len(places)) for at in likeliest]

    def _shown(self, token: int) -> str:
        """Return a token as text, with the space that some tokenizers do not decode."""
        text = str(self._tokenizer.decode([token]))
        piece = str(self._tokenizer.convert_ids_to_tokens([token])[0])
        begins = piece.startswith("\N{LOWER ONE EIGHTH BLOCK}") and not text.startswith(" ")
        return f" {text}" if begins else text

    def _ranking_cost(self, prompts: Sequence[RankingPrompt]) -> list[int]:
        asked = self._asked(prompts)
        costs = [one.place.cost if one.place else 0 for one in asked]
        apart = [at for at, one in enumerate(asked) if one.candidates.whole]
        for at, cost in zip(
            apart, self._scoring_cost([asked[i].whole for i in apart]), strict=True
        ):
            costs[at] += cost
        return costs

    def _rank(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        asked = self._asked(prompts)
        apart = [at for at, one in enumerate(asked) if one.candidates.whole]
        scores = self._score([asked[at].whole for at in apart])
        values = [dict[int, float]() for _ in asked]
        for at, score in zip(apart, scores, strict=True):
            values[at] = _scored(asked[at], score)
        ranked = {at: _ranked(one, values[at]) for at, one in enumerate(asked) if not one.place}
        readers: dict[ReadPosition, list[int]] = {}
        for at, one in enumerate(asked):
            if one.place:
                readers.setdefault(one.place, []).append(at)
        places = list(readers)

        pending: list[tuple[int, torch.Tensor]] = []

        def rank_pending() -> None:
            while pending:
                at, single = pending.pop()
                ranked[at] = _ranked(asked[at], values[at], single)

        def read(batch: list[int]) -> None:
            logits = self._logits([places[row] for row in batch])
            totals = logits.logsumexp(dim=-1, keepdim=True)
            singles = [
                (at, logits[row, ids.to(logits.device)] - totals[row])
                for row, number in enumerate(batch)
                for at in readers[places[number]]
                for ids in [self._passes.on_device(asked[at].candidates.ids)]
            ]
            # Rank the batch before on the host while a GPU computes this one.
            rank_pending()
            pending.extend(singles)

        in_batches([spot.cost for spot in places], self._passes.budget, read)
        rank_pending()
        self._checkpoint.files.check()
        return [ranked[at] for at in range(len(asked))]

    def _asked(self, prompts: Sequence[RankingPrompt]) -> list[Asked]:
        first = [prompt.asking(prompt.vocabulary.words[:1]) for prompt in prompts]
        filled = [self._first_filled(prompt) for prompt in first]
        placed = self._writing.locate(prompts, filled, self._written)
        framed = [(prompt, one.frame) for prompt, one in zip(first, placed, strict=True)]
        places = iter(self._positions_of([(p, frame) for p, frame in framed if frame]))
        return [
            Asked(prompt, one.candidates, next(places) if one.frame else None)
            for prompt, one in zip(prompts, placed, strict=True)
        ]

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return the number of tokens that the model processes to score each prompt's answers."""
        raise NotImplementedError

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the scores of each prompt's answers."""
        raise NotImplementedError

    def _first_filled(self, prompt: Prompt) -> Filled:
        """Return the prompt's text with the first candidate word inserted."""
        raise NotImplementedError

    def _written(self, prompts: Sequence[Prompt]) -> list[Written]:
        """Tokenize each prompt's text with each answer; None for an answer without tokens."""
        raise NotImplementedError

    def _positions_of(self, prompts: Sequence[tuple[Prompt, Frame]]) -> list[ReadPosition]:
        """Return the position at which each prompt's single-token candidates are predicted."""
        raise NotImplementedError

    def _all_fit(self, prompt: Prompt, written: Written) -> None:
        """Raise if ``_fits`` rejects the input for any of the prompt's candidates."""
        longest = max((one.ids for one in written if one), key=len, default=())
        highest = max((one.ids for one in written if one), key=max, default=())
        for ids in filter(None, (longest, highest)):
            self._fits(prompt, ids)

    def _logits(self, places: Sequence[ReadPosition]) -> torch.Tensor:
        """Return the float32 logits at the given positions, of shape (positions, vocabulary)."""
        ids, mask = self._passes.as_table(Rows.of([spot.ids for spot in places]))
        position = np.array([spot.position for spot in places])
        given = {"input_ids": ids, "attention_mask": mask}
        return self._passes.logits(given, np.arange(len(places)), position).float()


def _scored(asked: Asked, score: Scores) -> dict[int, float]:
    """Return the log-probabilities of the candidates that were scored in separate passes."""
    pairs = zip(asked.candidates.whole, score.answers, strict=True)
    return {at: one.logprob for at, one in pairs if one.logprob is not None}


def _ranked(
    asked: Asked, whole: Mapping[int, float], single: torch.Tensor | None = None
) -> Ranking:
    """Rank all candidates: those scored in separate passes and single-token candidates."""
    values = np.full(len(asked.prompt.vocabulary), np.nan)
    for at, value in whole.items():
        values[at] = value
    if single is not None:
        read = on_host(single)
        if not np.isfinite(read).all():
            raise ScoringError(
                "the model returned a log-probability that is not finite; its number format may "
                "have overflowed: try --dtype float32"
            )
        if asked.candidates.lead:
            read = read + (whole[int(asked.candidates.single[0])] - read[0])
        values[asked.candidates.single] = read
    return rank(asked.prompt, values, asked.candidates.tokens)
