"""Encode prompts as arrays of inputs for a causal model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tacit.errors import PromptError
from tacit.models.huggingface.alignment import (
    ControlTokens,
    Filled,
    Specials,
    Tokens,
    check_text,
    locate,
)
from tacit.models.huggingface.packing import Bools, Ints, Reads, Rows, ragged, starts_of
from tacit.models.huggingface.tokenization import WORD_STARTS, splits
from tacit.requests import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


Beginning: TypeAlias = tuple[str, str]
"""A prompt's text, and what stands between it and each answer."""


class Inputs(NamedTuple):
    """The token sequence of each answer, from the start of its prompt to the end of the answer.

    ``tokens`` is the number of the answer's tokens, which are the last ones, or 0 if it has none;
    ``prompt`` is the index of its prompt.
    """

    ids: Ints
    starts: Ints
    tokens: Ints
    spanned: Bools
    prompt: Ints

    def of(self, prompt: int) -> list[Tokens | None]:
        """Return the tokens of a prompt's answers; None for an answer that has no token."""
        found: list[Tokens | None] = []
        for at in range(*np.searchsorted(self.prompt, (prompt, prompt + 1)).tolist()):
            ids = tuple(self.ids[self.starts[at] : self.starts[at + 1]].tolist())
            begin = len(ids) - int(self.tokens[at])
            whole = Tokens(ids, begin, len(ids), bool(self.spanned[at]))
            found.append(whole if self.tokens[at] else None)
        return found

    def rows(self, own: slice) -> Rows:
        """Return some inputs as token rows, each without its last token, which predicts none."""
        starts, scored = self.starts[own.start : own.stop + 1], self.tokens[own]
        lengths = np.diff(starts) - 1
        row = np.repeat(np.arange(len(scored)), scored)
        position = ragged(lengths - scored, scored)
        reads = Reads(row, position, self.ids[starts[row] + position + 1], row)
        return Rows(self.ids[ragged(starts[:-1], lengths)], lengths, reads)


_DROPPED = Tokens((), 0, 0, spanned=False)


class Encoder:
    """An encoder that converts prompts with answers to token sequences for a causal model."""

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase,
        specials: Specials,
        begin: Callable[[Prompt], Beginning],
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._before = specials.before
        self._begin = begin
        self._control = ControlTokens.of(tokenizer).spelled
        self._splits = splits(tokenizer)

    def encode(self, prompts: Sequence[Prompt]) -> Inputs:
        """Encode prompts; the input of an answer that has no token ends where the answer begins."""
        begun = [(*self._begin(prompt), prompt.answers) for prompt in prompts]
        inputs = self._tokenized(begun)
        ids, starts = inputs.ids, inputs.starts
        begin = np.diff(starts) - inputs.tokens
        if self._before:
            lacks = begin < len(self._before)
            rest = np.flatnonzero(~lacks)
            first = ids[starts[rest, None] + np.arange(len(self._before))]
            lacks[rest] = (first != self._before).any(axis=1)
        else:
            is_empty = np.array([not text.strip() for text, _, _ in begun], bool)
            lacks = is_empty[inputs.prompt] | (begin == 0)
        lacks &= inputs.tokens > 0
        if not lacks.any():
            return inputs
        before = self._before or (self._first(),)
        where = np.repeat(starts[:-1][lacks], len(before))
        ids = np.insert(ids, where, np.tile(before, lacks.sum()))
        return inputs._replace(ids=ids, starts=starts + len(before) * starts_of(lacks.astype(int)))

    def _tokenized(self, prompts: Sequence[tuple[str, str, tuple[str, ...]]]) -> Inputs:
        """Tokenize texts, each followed by a gap and answers, without adding special tokens.

        Each distinct word and each distinct tail is tokenized once, if that changes no token.
        """
        tokenizer, split = self._tokenizer, self._splits
        words: dict[str, int] = {}
        seen: dict[tuple[str, str, tuple[str, ...]], int] = {}
        tails = list[Filled]()
        head, counts, tail = list[int](), list[int](), list[int]()
        for text, gap, answers in prompts:
            if split and tokenizer.split_special_tokens and self._control.search(text):
                check_text(tokenizer, text)
            *before, last = WORD_STARTS.split(text) if split else [text]
            counts.append(len(before))
            for word in before:
                head.append(words.setdefault(word, len(words)))
            first = seen.setdefault((last, gap, answers), len(tails))
            if first == len(tails):
                tails += [Filled.after(last, gap, answer) for answer in answers]
            tail += range(first, first + len(answers))
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = tokenizer.split_special_tokens
        encoded = backend.encode_batch_fast(list(words), add_special_tokens=False)
        located = [one or _DROPPED for one in locate(tokenizer, tails)]
        parts = Rows.of([one.ids for one in encoded] + [one.ids[: one.end] for one in located])
        sizes = np.array([len(answers) for _, _, answers in prompts], np.int64)
        prompt = np.repeat(np.arange(len(prompts)), sizes)
        number, which = np.array(counts, np.int64), np.array(tail, np.int64)
        own = number[prompt]
        # The words of each answer's text, and behind them its tail.
        order = np.insert(
            np.array(head, np.int64)[ragged(starts_of(number)[prompt], own)],
            np.cumsum(own),
            len(words) + which,
        )
        every = parts.take(order)
        tokens = np.array([one.end - one.begin for one in located], np.int64)[which]
        spanned = np.array([one.spanned for one in located], bool)[which]
        starts = every.starts[starts_of(own + 1)]
        return Inputs(every.ids, starts, tokens, spanned, prompt)

    def _first(self) -> int:
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if isinstance(token, int):
                return token
        raise PromptError(
            f"{self._name} has neither a BOS nor an EOS token, so it cannot score an answer at the "
            "beginning of a text"
        )


def beginning(prompt: Prompt) -> Beginning:
    """Return a text and its separator, or what stands before a blank at the text's end."""
    around = prompt.around
    if around is None:
        return prompt.text, prompt.separator
    before, after = around
    if after:
        raise PromptError(
            f"{prompt.shown} has text after its blank, which a causal model cannot see: move the "
            "blank to the end, or use a masked model"
        )
    text = before.rstrip()
    return text, before[len(text) :]


def fill(prompt: Prompt, begin: Callable[[Prompt], Beginning] = beginning) -> list[Filled]:
    """Insert each answer after the text and separator, or into a blank at the text's end."""
    text, gap = begin(prompt)
    return [Filled.after(text, gap, answer) for answer in prompt.answers]
