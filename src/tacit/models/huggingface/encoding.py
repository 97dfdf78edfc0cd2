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
from tacit.models.huggingface.prefix_tree import Ints, Reads, Rows, ragged, starts_of
from tacit.models.huggingface.tokenization import Halves, halves, splits, whole
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

    def of(self, prompt: int) -> list[Tokens | None]:
        """Return the tokens of a prompt's answers; None for an answer that has no token."""
        found: list[Tokens | None] = []
        for at in range(self.answers[prompt], self.answers[prompt + 1]):
            ids = tuple(self.ids[self.starts[at] : self.starts[at + 1]].tolist())
            begin, spanned = int(self.begin[at]), bool(self.spanned[at])
            found.append(Tokens(ids, begin, len(ids), spanned) if begin < len(ids) else None)
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

    def rows(self) -> Rows:
        """Return the inputs as token rows, each without its last token."""
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
        filled: Callable[[Prompt], list[Filled]] | None = None,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._before = specials.before
        self._fill = filled or fill
        self._halves = halves if splits(tokenizer) else whole

    def encode(self, prompts: Sequence[Prompt]) -> Inputs:
        """Return each answer's input, from the special tokens to the end of the answer."""
        inputs = self.write(prompts)
        for number in inputs.prompt[inputs.begin == inputs.lengths][:1].tolist():
            tokenize(self._tokenizer, self._fill(prompts[number]))  # raises with the reason
        return inputs

    def write(self, prompts: Sequence[Prompt]) -> Inputs:
        """Encode prompts; the input of an answer that has no token ends where the answer begins."""
        filled = [self._fill(prompt) for prompt in prompts]
        return self._assembled(self._halves(self._tokenizer, filled), filled)

    def _assembled(self, found: Halves, filled: Sequence[Sequence[Filled]]) -> Inputs:
        """Join the tokens of both parts of each string, and return the joined tokens as arrays."""
        counts = np.array([len(answers) for answers in filled], np.int64)
        head = np.repeat(np.array(found.head, np.int64), counts)
        tail = np.array(found.tail, np.int64)
        tails = [one or _DROPPED for one in found.tails]
        sizes = np.array([len(ids) for ids in found.heads], np.int64)[head]
        begin = sizes + np.array([one.begin for one in tails], np.int64)[tail]
        is_dropped = np.array([not one for one in found.tails], bool)[tail]
        front = np.where(is_dropped, 0, self._fronts(found, tails, filled, begin))
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
        self,
        found: Halves,
        tails: Sequence[Tokens],
        filled: Sequence[Sequence[Filled]],
        begin: Ints,
    ) -> Ints:
        """Return the number of special tokens to insert: none if the input begins with them."""
        many = len(self._before)
        counts = [len(answers) for answers in filled]
        if not many:
            empty = [not one.string[: one.text_end].strip() for one, *_ in filled]
            is_first: Ints = np.repeat(np.array(empty, bool), counts) | (begin == 0)
            return is_first.astype(np.int64)
        there = [tuple(ids[:many]) == self._before for ids in found.heads]
        is_there = np.repeat(np.array([there[head] for head in found.head], bool), counts)
        short = np.array([len(found.heads[head]) < many for head in found.head], bool)
        text = np.repeat(np.arange(len(counts)), counts).tolist()
        for at in np.flatnonzero(np.repeat(short, counts)).tolist():
            head, tail = found.heads[found.head[text[at]]], tails[found.tail[at]]
            is_there[at] = (*head, *tail.ids)[:many] == self._before
        return np.where(is_there & (begin >= many), 0, many)

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
