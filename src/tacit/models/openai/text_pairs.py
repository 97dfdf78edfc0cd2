"""Pairs of similar texts that reveal whether a server changes or truncates prompts."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.models.openai.client import RefusalError
from tacit.models.openai.token_lists import LARGEST, find, likeliest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.models.openai.token_lists import Token

_LONG = (
    "{first} old harbour lay quiet in the early light, and only a few gulls walked along the wall. "
    "Two men in blue coats mended their nets beside a {case} boat, and a dog slept in the shade of "
    "a cart. Behind them a narrow street climbed to the square, where a {middle} had opened her "
    "door and the smell of bread hung over the stones. A bell rang seven times. Nobody hurried, "
    "for the day would be long and warm, and the boats would not be back before the evening tide. "
    "What the first man told the second about the {last} was that it is"
)
_SHORTER = (
    "{first} old harbour lay quiet in the early light, while a {middle} opened her door and the "
    "smell of {case} tea hung over the stones; what one man told another about the {last} was that "
    "it is"
)
_ESCAPED = "Ice < steam & tea"
"""A text whose answer changes if a server begins to escape HTML.

HTML escaping cannot be detected by sending two similar texts and comparing the answers, because the
two texts still differ after escaping.
"""
_TWO_PARTS = "Question: Is tea hot?\nAnswer: Yes\n\nQuestion: Is {} hot?\nAnswer:"
_WORDS = {"first": "The", "case": "green", "middle": "baker", "last": "sea"}
_OTHERS = {"first": "Our", "case": "Green", "middle": "miner", "last": "sky"}
_SAME = 1e-6

ENDS = ("white space at the end of a text", "white space at the beginning of a text")


@dataclass(frozen=True)
class Pair:
    """Two texts that differ in one place and, if possible, have the same length."""

    differ: str
    texts: tuple[str, str]


SHORT_PAIRS = (
    Pair(ENDS[0], ("The sun rises in the", "The sun rises in the ")),
    Pair(ENDS[1], ("The sun rises in the", " The sun rises in the")),
    Pair("two spaces instead of one", ("The sun rises in the", "The sun  rises in the")),
    Pair("a line break instead of a space", ("One, two, three,\nfour,", "One, two, three, four,")),
    Pair("capital letters", ("Paris is the capital of", "paris is the capital of")),
    Pair("the encoding of an accent", ("The caf\u00e9 sells", "The cafe\u0301 sells")),
    Pair("a letter with an accent", ("The caf sells", "The caf\u00e9 sells")),
    Pair("the last character", ("One, two, three, four,", "One, two, three, four;")),
    Pair("the text after an empty line", (_TWO_PARTS.format("ice"), _TWO_PARTS.format("oil"))),
)


MOST_TEXTS = 2 * len(_OTHERS) + 3 + 2 * len(SHORT_PAIRS)
"""The maximum number of texts that ``compare_pairs`` requests."""


def long_pairs(template: str) -> tuple[Pair, ...]:
    """Return pairs of equally long texts; the two texts of a pair differ in one word."""
    whole = template.format(**_WORDS)
    places = {
        "first": "the first word",
        "case": "a capital letter",
        "middle": "a word in the middle",
        "last": "a word near the end",
    }
    return tuple(
        Pair(
            f"{places[which]} of a text of {len(whole.split())} words",
            (whole, template.format(**{**_WORDS, which: other})),
        )
        for which, other in _OTHERS.items()
    )


@dataclass(frozen=True)
class Differences:
    """A server's answers to pairs of texts; the two texts of a pair differ in one place."""

    nexts: dict[str, Token]
    alike: tuple[str, ...]
    telling: int = 0
    unread: str | None = None
    drawn: dict[str, Token] = field(default_factory=dict)

    @property
    def long(self) -> dict[str, Token]:
        """One long text and the token that follows it; empty if no long text was tested."""
        return {} if self.unread else dict(itertools.islice(self.nexts.items(), 1))


def compare_pairs(
    at_once: Callable[[Sequence[str]], Sequence[Token | None]],
    known: Mapping[str, Token],
    is_same: Callable[[str, str], bool],
    noise: float,
    top: int,
) -> Differences:
    """Test whether a server's answers differ for two texts that differ in only one place."""
    nexts, unread = dict(known), None
    pairs: tuple[Pair, ...] = ()
    for template in (_LONG, _SHORTER):
        try:
            nexts |= _asked(long_pairs(template), at_once, nexts)
        except RefusalError as error:
            unread = str(error)
        else:
            pairs, unread = long_pairs(template), None
            break
    for pair in (*SHORT_PAIRS, Pair("", (_ESCAPED, _ESCAPED))):
        with suppress(RefusalError):  # the text may exceed the server's window
            nexts |= _asked([pair], at_once, nexts)
    pairs += SHORT_PAIRS
    drawn, nexts = nexts, {text: likeliest(token, top) for text, token in nexts.items()}
    alike = [
        pair.differ
        for pair in pairs
        if _are_alike(nexts.get(pair.texts[0]), nexts.get(pair.texts[1]), noise)
        and not is_same(*pair.texts)
    ]
    long = [text for pair in pairs for text in pair.texts if pair not in SHORT_PAIRS]
    seconds = [pair.texts[1] for pair in SHORT_PAIRS]
    telling = [text for text in dict.fromkeys([*long, *seconds, _ESCAPED]) if text in nexts]
    texts = dict.fromkeys([*telling, *(text for pair in pairs for text in pair.texts)])
    found = {text: nexts[text] for text in texts if text in nexts}
    return Differences(found, tuple(alike), len(telling), unread, drawn)


def _asked(
    pairs: Sequence[Pair],
    at_once: Callable[[Sequence[str]], Sequence[Token | None]],
    known: Mapping[str, Token],
) -> dict[str, Token]:
    """Request the next token after each text that is not in ``known``."""
    every = dict.fromkeys(text for pair in pairs for text in pair.texts)
    texts = [text for text in every if text not in known]
    found = zip(texts, at_once(texts), strict=True)
    return {text: token for text, token in found if token is not None and token.top}


def apart(one: Token, other: Token, most: int | None = None) -> list[float]:
    """Compare the log-probabilities in the lists of most probable tokens at two positions."""
    least = least_listed(other)
    known = [(each, each.logprob) for each in one.top if each.logprob is not None]
    known.sort(key=lambda pair: -pair[1])
    differences = []
    for each, value in known[:most]:
        if find(one.top, each.text, each.number) is None:
            continue  # a part of a character: many tokens are written like this
        found = find(other.top, each.text, each.number)
        there = None if found is None else found.logprob
        if there is None and value < least + LARGEST:
            continue
        differences.append(float("nan") if there is None else abs(value - there))
    return differences


def least_listed(place: Token) -> float:
    """Return the lowest log-probability that a server lists at a position."""
    drawn = find(place.top, place.text, place.number)
    known = [
        each.logprob
        for each in place.top
        if each.logprob is not None
        and each != drawn
        and find(place.top, each.text, each.number) is not None
    ]
    if known:
        return min(known)
    return drawn.logprob if drawn is not None and drawn.logprob is not None else -math.inf


def _are_alike(one: Token | None, other: Token | None, noise: float) -> bool:
    """Return whether two positions have the same tokens with the same log-probabilities."""
    if one is None or other is None or len(one.top) != len(other.top):
        return False
    differences = apart(one, other)
    return bool(differences) and all(each <= max(_SAME, 2 * noise) for each in differences)


def problems_and_notes(
    differences: Differences, *, trims: bool = False
) -> tuple[list[str], list[str]]:
    """Return the problems that make a server unusable, and notes for the user."""
    allowed = ENDS if trims else ()
    wrong = [each for each in differences.alike if each not in allowed]
    notes = [f"it drops {each}" for each in differences.alike if each in allowed]
    if differences.unread is not None:
        notes.append(
            "it accepts no text of 40 words, so whether it reads long texts whole was not tested "
            f"({differences.unread})"
        )
    return wrong, notes


def refusal(wrong: Sequence[str], hint: str) -> str:
    """Return the message about a server that returns the same answers to different texts."""
    return (
        f"it returns the same log-probabilities for texts that differ in {', '.join(wrong)}: it, "
        f"or a proxy in front of it, changes prompts, truncates them or answers from a cache{hint}"
    )
