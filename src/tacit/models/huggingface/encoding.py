"""Encode prompts as arrays of inputs for a causal model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import PromptError
from tacit.models.huggingface.alignment import Filled, Specials, Tokens, tokenize
from tacit.models.huggingface.logprobs import Reads
from tacit.models.huggingface.prefix_tree import Ints, Rows, ragged, starts_of
from tacit.models.huggingface.tokenization import Halves, halves, splits, whole
from tacit.models.huggingface.vocabulary import Written
from tacit.requests import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, eq=False)
class Inputs:
    """The token sequence of each answer, from the start of its prompt to the end of the answer."""

    ids: Ints
    starts: Ints
    begin: Ints
    spanned: NDArray[np.bool_]
    answers: Ints

    def __len__(self) -> int:
        return len(self.answers) - 1

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each input, including the answer."""
        return np.diff(self.starts)

    @property
    def prompt(self) -> Ints:
        """The index of the prompt to which each input belongs."""
        return np.repeat(np.arange(len(self)), np.diff(self.answers))

    def of(self, prompt: int) -> list[Tokens]:
        """Return one ``Tokens`` object per answer of the prompt with the given index."""
        found = []
        for at in range(self.answers[prompt], self.answers[prompt + 1]):
            ids = self.ids[self.starts[at] : self.starts[at + 1]].tolist()
            spanned = bool(self.spanned[at])
            found.append(Tokens(tuple(ids), int(self.begin[at]), len(ids), spanned))
        return found

    def take(self, prompts: Ints) -> Inputs:
        """Return the inputs of the given prompts, in the given order."""
        counts = np.diff(self.answers)[prompts]
        own = ragged(self.answers[:-1][prompts], counts)
        lengths = self.lengths[own]
        return Inputs(
            self.ids[ragged(self.starts[:-1][own], lengths)],
            starts_of(lengths),
            self.begin[own],
            self.spanned[own],
            starts_of(counts),
        )

    def rows(self, prompts: Ints) -> Rows:
        """Return the inputs of ``prompts`` as token rows, each without its last token."""
        counts = np.diff(self.answers)[prompts]
        own = ragged(self.answers[:-1][prompts], counts)
        lengths = self.lengths[own] - 1
        scored = self.lengths[own] - self.begin[own]
        position = ragged(self.begin[own] - 1, scored)
        row = np.repeat(np.arange(len(own)), scored)
        token = self.ids[self.starts[:-1][own][row] + position + 1]
        reads = Reads(row, position, token, own[row])
        return Rows(self.ids[ragged(self.starts[:-1][own], lengths)], starts_of(lengths), reads)


class Encoder:
    """An encoder that converts prompts with answers to token sequences for a causal model."""

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase,
        specials: Specials,
        filled: Callable[[Prompt], list[Filled]] | None = None,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._before = specials.before
        self._fill = filled or fill
        self._halves = halves if splits(tokenizer) else whole

    def encode(self, prompts: Sequence[Prompt]) -> Inputs:
        """Return each answer's input, from the special tokens to the end of the answer."""
        filled = [self._fill(prompt) for prompt in prompts]
        found = self._halves(self._tokenizer, filled)
        if None in found.tails:
            every = list(chain.from_iterable(filled))
            dropped = next(at for at, tail in enumerate(found.tail) if found.tails[tail] is None)
            tokenize(self._tokenizer, [every[dropped]])  # raises an error with the reason
        return self._assembled(found, filled)

    def write(self, prompts: Sequence[Prompt]) -> list[Written]:
        """Encode each prompt separately; return None for an answer that has no token."""
        filled = [self._fill(prompt) for prompt in prompts]
        found = self._halves(self._tokenizer, filled)
        tails = iter(found.tail)
        written: list[Written] = []
        for head, answers in zip(found.head, filled, strict=True):
            located = [found.tails[next(tails)] for _ in answers]
            written.append(
                [
                    tail and self._begun(found.heads[head], tail, one)
                    for tail, one in zip(located, answers, strict=True)
                ]
            )
        return written

    def _assembled(self, found: Halves, filled: Sequence[Sequence[Filled]]) -> Inputs:
        """Join the tokens of both parts of each string, and return the joined tokens as arrays."""
        counts = np.array([len(answers) for answers in filled], np.int64)
        head = np.repeat(np.array(found.head, np.int64), counts)
        tail = np.array(found.tail, np.int64)
        tails = [one for one in found.tails if one]  # no answer was dropped
        sizes = np.array([len(ids) for ids in found.heads], np.int64)[head]
        begin = sizes + np.array([one.begin for one in tails], np.int64)[tail]
        front = self._fronts(found, filled, begin, counts)
        ends = np.array([one.end for one in tails], np.int64)[tail]
        starts = starts_of(front + sizes + ends)
        ids = np.empty(starts[-1], np.int64)
        before = self._before or ((self._first(),) if front.any() else ())
        for at, token in enumerate(before):
            ids[starts[:-1][front > 0] + at] = token
        _fill_in(ids, starts[:-1] + front, found.heads, head)
        _fill_in(ids, starts[:-1] + front + sizes, [one.ids[: one.end] for one in tails], tail)
        spanned = np.array([one.spanned for one in tails], bool)[tail]
        return Inputs(ids, starts, begin + front, spanned, starts_of(counts))

    def _fronts(
        self, found: Halves, filled: Sequence[Sequence[Filled]], begin: Ints, counts: Ints
    ) -> Ints:
        """Return the number of special tokens to insert before each input; see ``_begun``."""
        many = len(self._before)
        if not many:
            empty = [not one.string[: one.text_end].strip() for one, *_ in filled]
            is_first: Ints = np.repeat(np.array(empty, bool), counts) | (begin == 0)
            return is_first.astype(np.int64)
        there = [tuple(ids[:many]) == self._before for ids in found.heads]
        is_there = np.repeat(np.array([there[head] for head in found.head], bool), counts)
        short = np.array([len(found.heads[head]) < many for head in found.head], bool)
        text = np.repeat(np.arange(len(counts)), counts).tolist()
        for at in np.flatnonzero(np.repeat(short, counts)).tolist():
            head, tail = found.heads[found.head[text[at]]], found.tails[found.tail[at]]
            is_there[at] = (*head, *(tail.ids if tail else ()))[:many] == self._before
        return np.where(is_there & (begin >= many), 0, many)

    def _begun(self, head: Sequence[int], tail: Tokens, filled: Filled) -> Tokens:
        """Prepend the tokenizer config's special tokens, unless the input begins with them."""
        before = self._before
        begin, ids = len(head) + tail.begin, (*head, *tail.ids[: tail.end])
        if not before:
            is_empty = not filled.string[: filled.text_end].strip()
            before = (self._first(),) if is_empty or begin == 0 else ()
        elif begin >= len(before) and ids[: len(before)] == before:
            before = ()
        shift = len(before)
        end = len(head) + tail.end + shift
        return Tokens(before + ids, begin + shift, end, tail.spanned)

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


def _fill_in(ids: Ints, starts: Ints, pieces: Sequence[Sequence[int]], which: Ints) -> None:
    """Copy the token sequence ``pieces[which[i]]`` into ``ids`` at ``starts[i]``, for every i."""
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    flat = np.fromiter(chain.from_iterable(pieces), np.int64, int(sizes.sum()))
    lengths = sizes[which]
    ids[ragged(starts, lengths)] = flat[ragged(starts_of(sizes)[:-1][which], lengths)]
