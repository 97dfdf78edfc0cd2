"""Texts that differ in one place each: a server that answers two of them alike did not read both.

Servers, or what stands before them, trim white space, cut long prompts short, or answer from a
cache that is keyed by a part of the prompt. What comes next then no longer depends on all that was
sent, and nothing in a single reply shows it.
"""

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
"""What software that writes pages would change; no other text becomes the same."""
_TWO_PARTS = "Question: Is tea hot?\nAnswer: Yes\n\nQuestion: Is {} hot?\nAnswer:"
_WORDS = {"first": "The", "case": "green", "middle": "baker", "last": "sea"}
_OTHERS = {"first": "Our", "case": "Green", "middle": "miner", "last": "sky"}
_SAME = 1e-6

ENDS = ("white space at the end of a text", "white space at the beginning of a text")


@dataclass(frozen=True)
class Pair:
    """Two texts that differ in one way, of one length wherever that is possible.

    Args:
        differ: In what.
        texts: The two; where a server begins to change texts, its answer to the second one changes.
    """

    differ: str
    texts: tuple[str, str]


SHORT_PAIRS = (
    Pair(ENDS[0], ("The sun rises in the", "The sun rises in the ")),
    Pair(ENDS[1], ("The sun rises in the", " The sun rises in the")),
    Pair("two spaces in place of one", ("The sun rises in the", "The sun  rises in the")),
    Pair("a line break in place of a space", ("One, two, three,\nfour,", "One, two, three, four,")),
    Pair("capital letters", ("Paris is the capital of", "paris is the capital of")),
    Pair("the way an accent is encoded", ("The caf\u00e9 sells", "The cafe\u0301 sells")),
    Pair("a letter with an accent", ("The caf sells", "The caf\u00e9 sells")),
    Pair("the last character", ("One, two, three, four,", "One, two, three, four;")),
    Pair("what follows an empty line", (_TWO_PARTS.format("ice"), _TWO_PARTS.format("oil"))),
)


MOST_TEXTS = 2 * len(_OTHERS) + 3 + 2 * len(SHORT_PAIRS)
"""So many texts are asked about, at most."""


def long_pairs(template: str) -> tuple[Pair, ...]:
    """A text and others that differ from it in one word each, of as many characters."""
    whole = template.format(**_WORDS)
    places = {
        "first": "the first word",
        "case": "a capital letter",
        "middle": "a word in the middle",
        "last": "a late word",
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
    """What a server makes of texts that differ in one place.

    Args:
        nexts: The next token of each text, with the most probable ones; first those that tell most.
        telling: How many tell most: long texts, and the second one of each pair.
        alike: In what the texts differ that it answers alike.
        unread: Why long texts could not be tried; None where they were.
        drawn: As ``nexts``, as they came.
    """

    nexts: dict[str, Token]
    alike: tuple[str, ...]
    telling: int = 0
    unread: str | None = None
    drawn: dict[str, Token] = field(default_factory=dict)

    @property
    def long(self) -> dict[str, Token]:
        """The next token of a long text; nothing where none was tried."""
        return {} if self.unread else dict(itertools.islice(self.nexts.items(), 1))


def compare_pairs(
    at_once: Callable[[Sequence[str]], Sequence[Token | None]],
    known: Mapping[str, Token],
    is_same: Callable[[str, str], bool],
    noise: float,
    top: int,
) -> Differences:
    """Tries whether a server answers texts differently that differ in one place.

    Args:
        at_once: Gives the next token of each text, with the most probable ones.
        known: What is known of some texts already.
        is_same: Whether two texts are the same tokens, so that they are rightly answered alike.
        noise: Nats by which answers to the same text differ.
        top: So many of the most probable tokens are compared, without the one that was drawn.

    Raises:
        ScoringError: The server failed.
    """
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
        with suppress(RefusalError):  # it may be longer than all that the server takes
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
    """The next tokens of those texts of pairs that are not known."""
    every = dict.fromkeys(text for pair in pairs for text in pair.texts)
    texts = [text for text in every if text not in known]
    found = zip(texts, at_once(texts), strict=True)
    return {text: token for text, token in found if token is not None and token.top}


def apart(one: Token, other: Token, most: int | None = None) -> list[float]:
    """How far the log-probabilities of two places are apart, of the most probable tokens of one.

    Args:
        one: A token with the most probable ones in its place.
        other: Another.
        most: So many of the first one's are compared; None for all.

    Returns:
        Not a number of a token that only the first one has, though it is more probable there than
        the least probable one that the other lists. (A server that writes several tokens alike
        lists one of them, and so fewer.)
    """
    least = _least_listed(other)
    known = [(each, each.logprob) for each in one.top if each.logprob is not None]
    known.sort(key=lambda pair: -pair[1])
    differences = []
    for each, value in known[:most]:
        if find(one.top, each.text, each.number) is None:
            continue  # a part of a character, which many tokens are written as
        found = find(other.top, each.text, each.number)
        there = None if found is None else found.logprob
        if there is None and value < least + LARGEST:
            continue
        differences.append(float("nan") if there is None else abs(value - there))
    return differences


def _least_listed(place: Token) -> float:
    """The log-probability of the least probable token that is sure to be listed.

    A part of a character may stand for another one, and the drawn token is listed in any case.
    """
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
    """Whether two places have the same tokens with the same log-probabilities."""
    if one is None or other is None or len(one.top) != len(other.top):
        return False
    differences = apart(one, other)
    return bool(differences) and all(each <= max(_SAME, 2 * noise) for each in differences)


def problems_and_notes(
    differences: Differences, *, trims: bool = False
) -> tuple[list[str], list[str]]:
    """What is wrong with a server's differences, and what is only worth saying.

    Args:
        differences: What was found.
        trims: Whether white space around a text may be dropped, as many chat templates do.
    """
    allowed = ENDS if trims else ()
    wrong = [each for each in differences.alike if each not in allowed]
    notes = [f"it drops {each}" for each in differences.alike if each in allowed]
    if differences.unread is not None:
        notes.append(
            "it takes no text of 40 words, so that it was not tried whether it reads long ones "
            f"whole ({differences.unread})"
        )
    return wrong, notes


def refusal(wrong: Sequence[str], hint: str) -> str:
    """What is said of a server that answers different texts alike."""
    return (
        f"it gives the same log-probabilities to texts that differ in {', '.join(wrong)}: it, or "
        f"what stands before it, changes prompts, cuts them short or answers from a cache{hint}"
    )
