"""Encode prompts as arrays of inputs for a causal model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.errors import PromptError
from tacit.models.huggingface.alignment import (
    Filled,
    Specials,
    Tokens,
    check_texts,
    locate,
)
from tacit.models.huggingface.packing import Ints, Reads, Rows, ragged, starts_of
from tacit.models.huggingface.tokenization import WORD_STARTS, splits
from tacit.requests import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The token sequence of each answer, from the start of its prompt to the end of the answer."""

    ids: Ints
    starts: Ints
    begin: Ints
    spanned: Bools
    answers: Ints

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each input, including the answer."""
        return np.diff(self.starts)

    @property
    def prompt(self) -> Ints:
        """The index of the prompt to which each input belongs."""
        return np.repeat(np.arange(len(self.answers) - 1), np.diff(self.answers))

    def of(self, prompt: int) -> list[Tokens | None]:
        """Return the tokens of a prompt's answers; None for an answer that has no token."""
        found: list[Tokens | None] = []
        for at in range(self.answers[prompt], self.answers[prompt + 1]):
            ids = tuple(self.ids[self.starts[at] : self.starts[at + 1]].tolist())
            begin, spanned = int(self.begin[at]), bool(self.spanned[at])
            found.append(Tokens(ids, begin, len(ids), spanned) if begin < len(ids) else None)
        return found

    def part(self, begin: int, end: int) -> Inputs:
        """Return the inputs of consecutive prompts."""
        own = slice(self.answers[begin], self.answers[end])
        starts = self.starts[own.start : own.stop + 1]
        return Inputs(
            self.ids[starts[0] : starts[-1]],
            starts - starts[0],
            self.begin[own],
            self.spanned[own],
            self.answers[begin : end + 1] - own.start,
        )

    def rows(self) -> Rows:
        """Return the inputs as token rows, each without its last token, which predicts none."""
        lengths = self.lengths - 1
        scored = self.lengths - self.begin
        row = np.repeat(np.arange(len(scored)), scored)
        position = ragged(self.begin - 1, scored)
        reads = Reads(row, position, self.ids[self.starts[row] + position + 1], row)
        return Rows(self.ids[ragged(self.starts[:-1], lengths)], starts_of(lengths), reads)


_DROPPED = Tokens((), 0, 0, spanned=False)


class Encoder:
    """An encoder that converts prompts with answers to token sequences for a causal model."""

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase,
        specials: Specials,
        filled: Callable[[Prompt], list[Filled]],
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._before = specials.before
        self._fill = filled
        self._splits = splits(tokenizer)

    def encode(self, prompts: Sequence[Prompt]) -> Inputs:
        """Encode prompts; the input of an answer that has no token ends where the answer begins."""
        filled = [self._fill(prompt) for prompt in prompts]
        counts = np.array(list(map(len, filled)), np.int64)
        heads, found, which = divided(self._tokenizer, filled, split=self._splits)
        heads = heads.take(np.repeat(np.arange(len(filled)), counts))
        tail = np.array(which, np.int64)
        located = [one or _DROPPED for one in found]
        tails = Rows.of([one.ids[: one.end] for one in located]).take(tail)
        begin = heads.lengths + np.array([one.begin for one in located], np.int64)[tail]
        spanned = np.array([one.spanned for one in located], bool)[tail]
        lengths = heads.lengths + tails.lengths
        starts = starts_of(lengths)
        ids = np.empty(starts[-1], np.int64)
        ids[ragged(starts[:-1], heads.lengths)] = heads.ids
        ids[ragged(starts[1:] - tails.lengths, tails.lengths)] = tails.ids
        if self._before:
            lacks = begin < len(self._before)
            rest = np.flatnonzero(~lacks)
            first = ids[starts[rest, None] + np.arange(len(self._before))]
            lacks[rest] = (first != self._before).any(axis=1)
        else:
            empty = [not one.string[: one.text_end].strip() for one, *_ in filled]
            lacks = np.repeat(np.array(empty, bool), counts) | (begin == 0)
        lacks &= tails.lengths > 0
        before = self._before or ((self._first(),) if lacks.any() else ())
        added = lacks * len(before)
        ids = np.insert(ids, np.repeat(starts[:-1], added), np.tile(before, lacks.sum()))
        starts = starts_of(lengths + added)
        return Inputs(ids, starts, begin + added, spanned, starts_of(counts))

    def _first(self) -> int:
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if isinstance(token, int):
                return token
        raise PromptError(
            f"{self._name} has neither a BOS nor an EOS token, so it cannot score an answer at the "
            "beginning of a text"
        )


def fill(prompt: Prompt) -> list[Filled]:
    """Insert each answer after the text and separator, or into a blank at the text's end."""
    around = prompt.around
    if around is None:
        before, text_end = prompt.text + prompt.separator, len(prompt.text)
    elif not around[1]:
        before, text_end = around[0], len(around[0].rstrip())
    else:
        raise PromptError(
            f"{prompt.shown} has text after its blank, which a causal model cannot see: move the "
            "blank to the end, or use a masked model"
        )
    begin = len(before)
    return [Filled(before + a, begin, begin + len(a), text_end) for a in prompt.answers]


def divided(
    tokenizer: PreTrainedTokenizerBase, filled: Sequence[Sequence[Filled]], *, split: bool
) -> tuple[Rows, list[Tokens | None], list[int]]:
    """Tokenize strings in two parts, a head of whole words and a tail; each word and tail once.

    Returns:
        The head that the strings of each prompt share, without ``split`` an empty one; the distinct
        tails; and the index of each string's tail.
    """
    words: dict[str, int] = {}
    tails: dict[Filled, int] = {}
    known: dict[tuple[object, ...], list[int]] = {}
    head, counts, tail = list[int](), list[int](), list[int]()
    for answers in filled:
        string, begin, _, text_end = answers[0]
        own = WORD_STARTS.split(string[:text_end]) if split else [string[:text_end]]
        cut = text_end - len(own.pop())
        counts.append(len(own))
        for word in own:
            head.append(words.setdefault(word, len(words)))
        key = (begin - cut, text_end - cut, *[one.string[cut:] for one in answers])
        numbers = known.get(key)
        if numbers is None:
            numbers = known[key] = []
            for string, begin, end, text_end in answers:
                behind = Filled(string[cut:], begin - cut, end - cut, text_end - cut)
                numbers.append(tails.setdefault(behind, len(tails)))
        tail += numbers
    if split:
        check_texts(tokenizer, (one.string[: one.text_end] for one, *_ in filled))
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    encoded = backend.encode_batch_fast(list(words), add_special_tokens=False)
    every = Rows.of([one.ids for one in encoded]).take(np.array(head, np.int64))
    heads = Rows(every.ids, every.starts[starts_of(np.array(counts, np.int64))], every.reads)
    return heads, locate(tokenizer, list(tails)), tail
