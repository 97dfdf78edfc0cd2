"""Tokenize a vocabulary, and find words that are a single token for all given models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.alignment import Filled, Tokens
from tacit.requests import Prompt, RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer


MOST_SEVERAL = 1000
"""The maximum number of candidate words per prompt that are scored in separate passes."""

Frame = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens before and after the only token in which a prompt's candidates differ."""

Written = Sequence["Tokens | None"]
"""The tokens of a prompt's answers; None for an answer that produces no token."""

_WITNESSES = 4
# A tokenizer's output takes far more memory than the token ids.
_WORDS_AT_ONCE = 2048
_PROMPTS_AT_ONCE = 256
_REACHING = re.compile(r"\S[^\S\r\n]")
# A token such as "> </" reaches beyond a mark, but joins no word to another.
_JOINING = re.compile(r"\w[^\S\r\n]|\S[^\S\r\n]+\w")
_LEFT = re.compile(r"(\s+|\S+)\Z")
_RIGHT = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The tokenized words of a vocabulary, for prompts with the same text beside the blank."""

    single: NDArray[np.int64]
    ids: NDArray[np.int64]
    several: tuple[int, ...]
    tokens: NDArray[np.int32]
    witnesses: tuple[tuple[int, tuple[int, ...], bool], ...]
    lead: int = 0

    @property
    def whole(self) -> tuple[int, ...]:
        """The indices of the words that are scored in separate passes."""
        return (*self.several, int(self.single[0])) if self.lead else self.several


@dataclass(frozen=True, slots=True)
class Placed:
    """A prompt's tokenized candidate words, and the tokens around them in the prompt."""

    candidates: Candidates
    frame: Frame | None


class CandidateTokens:
    """The tokenization of candidates in prompts, cached by vocabulary and context."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        is_known: Callable[[Tokens], bool],
        *,
        in_order: bool,
    ) -> None:
        self._is_writable = is_known
        self._in_order = in_order
        self._tokenizer = tokenizer
        self._seen: dict[tuple[str, ...], Candidates] = {}

    @cached_property
    def _reaching(self) -> list[str]:
        return _reaching(self._tokenizer)

    def locate(
        self,
        prompts: Sequence[RankingPrompt],
        filled: Sequence[Filled],
        write: Callable[[Sequence[Prompt]], Sequence[Written]],
    ) -> list[Placed]:
        """Tokenize each prompt's candidate words in the context of the prompt."""
        reaching = self._reaching
        if any(map(_JOINING.search, reaching)) or (
            reaching and not all(_word_ends(prompt.vocabulary) for prompt in prompts)
        ):
            return [self._in_full(prompt, write) for prompt in prompts]
        keys = [
            (prompt.vocabulary.digest, *_nearest(one))
            for prompt, one in zip(prompts, filled, strict=True)
        ]
        # Shorter texts first: the text is tokenized again with every word.
        for at in sorted(range(len(prompts)), key=lambda at: len(prompts[at].text)):
            if keys[at] not in self._seen:
                self._seen[keys[at]] = self._in_full(prompts[at], write).candidates
        seen = [self._seen[key] for key in keys]
        asked = [_witnessed(*pair) for pair in zip(prompts, seen, strict=True)]
        written: list[Written] = []
        for at in range(0, len(asked), _PROMPTS_AT_ONCE):
            written += write(asked[at : at + _PROMPTS_AT_ONCE])
        return [
            _placed_alike(one, own) or self._in_full(prompt, write)
            for prompt, one, own in zip(prompts, seen, written, strict=True)
        ]

    def _in_full(
        self, prompt: RankingPrompt, write: Callable[[Sequence[Prompt]], Sequence[Written]]
    ) -> Placed:
        words = prompt.vocabulary.words
        written: list[Tokens | None] = []
        for at in range(0, len(words), _WORDS_AT_ONCE):
            written += write([prompt.asking(words[at : at + _WORDS_AT_ONCE])])[0]
        placed = self._worked_out(written)
        number = len(placed.candidates.several)
        if number > MOST_SEVERAL:
            raise PromptError(
                f"{prompt.asking(words[:1]).shown} has {len(words)} candidates, and {number} of "
                "them are not a single token in this position and need a separate pass (at most "
                f"{MOST_SEVERAL} can): rank fewer words, or only the whole words that the models "
                "share"
            )
        return placed

    def _worked_out(self, written: Written) -> Placed:
        known = [(at, one) for at, one in enumerate(written) if one and self._is_writable(one)]
        lead, frame = self._frame([one for _, one in known])
        single = {at: one.ids[one.end - 1] for at, one in known if _fills(one, lead, frame)}
        others = [at for at, _ in known if at not in single]
        lengths = [len(_own(one)) for one in written]
        longest = max(range(len(written)), key=lengths.__getitem__)
        witnesses = dict.fromkeys([*_spread(list(single)), *_spread(others), longest])
        candidates = Candidates(
            np.array(list(single), np.int64),
            np.array(list(single.values()), np.int64),
            tuple(others),
            np.array(lengths, np.int32),
            tuple((at, _own(written[at]), at in single) for at in witnesses),
            lead,
        )
        return Placed(candidates, frame)

    def _frame(self, known: Sequence[Tokens]) -> tuple[int, Frame | None]:
        """Find the shared context of the largest group of candidates that differ in one token."""
        frames = Counter((0, _around(one)) for one in known if one.end - one.begin == 1)
        if not frames and self._in_order:
            alike = Counter((one.end - 1 - one.begin, _around(one)) for one in known)
            frames = Counter({found: number for found, number in alike.items() if number > 1})
        return frames.most_common(1)[0][0] if frames else (0, None)


def _reaching(tokenizer: Tokenizer) -> list[str]:
    """Return the tokens that have a space after another character."""
    from tokenizers import decoders, models

    tokens = list(tokenizer.get_vocab())
    spelled: Iterable[str] = tokens
    if not isinstance(tokenizer.model, (models.WordPiece, models.WordLevel)):
        metaspaced = sum(token.startswith("▁") for token in tokens)
        if metaspaced > sum(token.startswith("Ġ") for token in tokens):
            spelled = (token.replace("▁", " ") for token in tokens)
        else:
            # Only the decoded characters show that some GPT-2 tokens are no-break spaces.
            decoder = decoders.ByteLevel()
            spelled = (decoder.decode([token]) for token in tokens)
    return list(filter(_REACHING.search, spelled))


@lru_cache(maxsize=64)
def _word_ends(vocabulary: Vocabulary) -> bool:
    """Return whether each candidate begins and ends with a letter, a digit or an underscore."""
    return all(re.match(r"\w", word) and re.search(r"\w\Z", word) for word in vocabulary.words)


def _nearest(filled: Filled) -> tuple[str, str, str]:
    """Return the separator before a candidate, and the text adjacent to the candidate."""
    before, after = filled.string[: filled.begin], filled.string[filled.end :]
    left, right = _LEFT.search(before), _RIGHT.match(after)
    return (
        filled.string[filled.text_end : filled.begin],
        before if not left or not left.start() else f"…{left[0]}",
        after if not right or right.end() == len(after) else f"{right[0]}…",
    )


def _witnessed(prompt: RankingPrompt, seen: Candidates) -> Prompt:
    return prompt.asking([prompt.vocabulary.words[at] for at, _, _ in seen.witnesses])


def _placed_alike(seen: Candidates, written: Written) -> Placed | None:
    """Place the candidates' tokens from an earlier prompt in a new prompt, if they fit."""
    if [_own(one) for one in written] != [own for _, own, _ in seen.witnesses]:
        return None
    pairs = zip(seen.witnesses, written, strict=True)
    frames = {_around(one) for (_, _, is_single), one in pairs if one and is_single}
    if len(frames) > 1:
        return None
    return Placed(seen, frames.pop() if frames else None)


def _own(tokens: Tokens | None) -> tuple[int, ...]:
    return tokens.ids[tokens.begin : tokens.end] if tokens else ()


def _around(tokens: Tokens) -> Frame:
    return tokens.ids[: tokens.end - 1], tokens.ids[tokens.end :]


def _fills(tokens: Tokens, lead: int, frame: Frame | None) -> bool:
    return tokens.end - 1 - tokens.begin == lead and _around(tokens) == frame


def _spread(places: Sequence[int]) -> list[int]:
    """Select a few word indices from ``places``, including the first and the last one."""
    step = max(1, len(places) // _WITNESSES)
    return [*places[::step][:_WITNESSES], *places[-1:]]


_CARRIER = "a"


def whole_words(tokenizer: Tokenizer, locate: Callable[[Sequence[Filled]], Written]) -> Vocabulary:
    """Return the words that a tokenizer encodes as a single token after a space."""
    known = tokenizer.get_vocab()
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    tokens = sorted(set(known) - added)
    pairs = zip(_spelled(tokenizer, tokens), tokens, strict=True)
    spelled = [(word, known[token]) for word, token in pairs if word]
    filled = [Filled(f"{_CARRIER} {word}", 2, 2 + len(word), 1) for word, _ in spelled]
    words = [
        word
        for (word, number), found in zip(spelled, locate(filled), strict=True)
        if found and found.ids[found.begin : found.end] == (number,) and not found.spanned
    ]
    if not words:
        raise ModelError("its tokenizer encodes no word as a single token after a space")
    return Vocabulary(words)


def _spelled(tokenizer: Tokenizer, tokens: Sequence[str]) -> list[str | None]:
    """Return the word that each token spells, or None for a token that continues a word."""
    from tokenizers import decoders, models

    if isinstance(tokenizer.model, (models.WordPiece, models.WordLevel)):
        return [None if token.startswith("##") else token for token in tokens]
    metaspaced = sum(token.startswith("▁") for token in tokens)
    if metaspaced > sum(token.startswith("Ġ") for token in tokens):
        return [token[1:] if token.startswith("▁") else None for token in tokens]
    decoder = decoders.ByteLevel()
    return [decoder.decode([token])[1:] if token.startswith("Ġ") else None for token in tokens]
