"""Align answers with tokens, and treat special tokens in a text as plain text."""

from __future__ import annotations

import copy
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from tokenizers import Tokenizer

from tacit.errors import ModelError, PromptError
from tacit.requests import shown

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


_NOTHING = r"(?!)"
"""A pattern that occurs in no text."""


@dataclass(frozen=True)
class ControlTokens:
    """A tokenizer's special tokens, and a pattern that finds them in a text."""

    ids: frozenset[int]
    spelled: re.Pattern[str]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> ControlTokens:
        """Return the special tokens of a fast tokenizer, cached per tokenizer."""
        known = _KNOWN.get(tokenizer)
        if known is None:
            added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
            # A token that is matched in normalized text may be spelled in any case.
            patterns = {
                number: f"(?i:{re.escape(one.content)})"
                if one.normalized
                else re.escape(one.content)
                for number, one in added.items()
                if one.special and one.content
            }
            spelled = re.compile("|".join(patterns.values()) or _NOTHING)
            known = _KNOWN[tokenizer] = cls(frozenset(patterns), spelled)
        return known

    def misread(
        self, text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
    ) -> list[re.Match[str]]:
        """Return a regex match for each part of a text that was encoded as a special token."""
        control = [span for one, span in zip(ids, offsets, strict=True) if one in self.ids]
        return [
            found
            for found in (self.spelled.finditer(text) if control else ())
            if any(begin < found.end() and end > found.start() for begin, end in control)
        ]


_KNOWN: WeakKeyDictionary[PreTrainedTokenizerBase, ControlTokens] = WeakKeyDictionary()


def check_text(tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    """Raise if a text contains a special token that the tokenizer cannot encode as plain text."""
    read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    control = ControlTokens.of(tokenizer)
    refuse(text, control.misread(text, read["input_ids"], read["offset_mapping"]))


def refuse(text: str, misread: Sequence[re.Match[str]]) -> None:
    """Raise if a text contains special tokens that were not encoded as plain text."""
    if misread:
        raise PromptError(
            f"{shown(text)} contains {misread[0][0]!r}, which the tokenizer would encode as a "
            "special token instead of plain text; remove it"
        )


class Filled(NamedTuple):
    """A text with one answer inserted."""

    string: str
    begin: int
    end: int
    text_end: int

    @classmethod
    def after(cls, text: str, gap: str, answer: str) -> Filled:
        """Append an answer to a text, with a gap such as a space between them."""
        begin = len(text) + len(gap)
        return cls(text + gap + answer, begin, begin + len(answer), len(text))


class Tokens(NamedTuple):
    """The token ids of a text with an answer, and the range of the scored tokens."""

    ids: tuple[int, ...]
    begin: int
    end: int
    spanned: bool


@dataclass(frozen=True, slots=True)
class Specials:
    """The special tokens that a tokenizer's configuration adds before and after a text."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Specials:
        """Tokenize a test word, and return the special tokens that the tokenizer adds."""
        bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
        full = list(tokenizer("a")["input_ids"])
        for begin in range(len(full) - len(bare) + 1):
            if full[begin : begin + len(bare)] == bare:
                return cls(tuple(full[:begin]), tuple(full[begin + len(bare) :]))
        raise ModelError(
            f"the tokenizer encodes a text differently when it adds special tokens ('a' is {bare} "
            f"without them and {full} with them); such tokenizers are not supported"
        )


def enclosed(ids: Sequence[int], specials: Specials) -> tuple[int, ...]:
    """Add the special tokens that are missing before and after the given tokens."""
    before, after = specials.before, specials.after
    if tuple(ids[: len(before)]) == before:
        before = ()
    if tuple(ids[len(ids) - len(after) :]) == after:
        after = ()
    return (*before, *ids, *after)


def bare(
    tokenizer: PreTrainedTokenizerBase, *, reads_specials: bool = False
) -> PreTrainedTokenizerBase:
    """Copy a fast tokenizer; the copy adds no special tokens, and its offsets include spaces."""
    plain = copy.copy(tokenizer)
    plain._tokenizer = _without_post_processor(tokenizer.backend_tokenizer)  # noqa: SLF001 - its only way in
    plain.split_special_tokens = not reads_specials
    plain.backend_tokenizer.encode_special_tokens = not reads_specials
    return plain


def _without_post_processor(backend: Tokenizer) -> Tokenizer:
    """Return a tokenizer that shares the vocabulary, which a deep copy would parse again."""
    from tokenizers import Tokenizer

    made, added = Tokenizer(backend.model), backend.get_added_tokens_decoder()
    for part in ("normalizer", "pre_tokenizer", "decoder"):
        if getattr(backend, part) is not None:
            setattr(made, part, getattr(backend, part))
    tokens = (token for _, token in sorted(added.items()))
    for special, some in groupby(tokens, key=lambda token: token.special):
        (made.add_special_tokens if special else made.add_tokens)(list(some))
    if made.get_added_tokens_decoder() != added:  # ids that adding the tokens does not give
        made = copy.deepcopy(backend)
        made.post_processor = None
    return made


def tokenize(tokenizer: PreTrainedTokenizerBase, filled: Sequence[Filled]) -> list[Tokens]:
    """Tokenize texts that contain answers, and find the tokens to score."""
    return [
        tokens or _dropped(tokenizer, item)
        for tokens, item in zip(locate(tokenizer, filled), filled, strict=True)
    ]


def locate(tokenizer: PreTrainedTokenizerBase, filled: Sequence[Filled]) -> list[Tokens | None]:
    """Tokenize like ``tokenize``, but return None for an answer that cannot be scored."""
    if not filled:
        return []
    distinct = list(dict.fromkeys(filled))
    control = ControlTokens.of(tokenizer)
    encoded = tokenizer(
        [item.string for item in distinct],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    located: dict[Filled, Tokens | None] = {}
    pairs = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    for item, (ids, offsets) in zip(distinct, pairs, strict=True):
        located[item] = answer_tokens(ids, offsets, item)
        if tokenizer.split_special_tokens and control.spelled.search(item.string):
            misread = control.misread(item.string, ids, offsets)
            refuse(
                item.string,
                [one for one in misread if one.start() < item.begin or one.end() > item.end],
            )
            if misread:
                located[item] = None
    return [located[item] for item in filled]


def answer_tokens(
    ids: Sequence[int], offsets: Sequence[tuple[int, int]], filled: Filled
) -> Tokens | None:
    """Return the tokens to score for an answer, or None if no token covers the answer."""
    start, end = itemgetter(0), itemgetter(1)
    own = bisect_left(offsets, filled.begin + 1, key=end)
    if own == len(ids) or offsets[own][0] >= filled.end:
        return None
    # A space that a tokenizer adds before a string may cover none of its characters. It is scored
    # if no text precedes the answer.
    first = min(
        bisect_left(offsets, filled.text_end + 1, key=end),
        bisect_left(offsets, filled.text_end, key=start),
    )
    last = max(bisect_left(offsets, filled.end, key=start) - 1, own)
    spanned = offsets[first][0] < filled.text_end or offsets[last][1] > filled.end
    return Tokens(tuple(ids), first, last + 1, spanned)


def _dropped(tokenizer: PreTrainedTokenizerBase, filled: Filled) -> Tokens:
    answer = filled.string[filled.begin : filled.end]
    found = ControlTokens.of(tokenizer).spelled.search(answer)
    if found:
        raise PromptError(
            f"the tokenizer cannot encode the answer {answer!r} in {filled.string!r} as plain "
            f"text: it would encode {found[0]!r} as a special token"
        )
    raise PromptError(
        f"the tokenizer produces no token for the answer {answer!r} in {filled.string!r}"
    )
