"""What the matrix's servers serve, and what they are asked: every prompt's true scores are known.

The distribution behind a text depends on all of it, so that a server that loses, changes or adds
anything anywhere gives other values.
"""

import hashlib
import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from tokenizers import Tokenizer

from tacit.models.huggingface.alignment import bare, tokenize
from tacit.models.huggingface.encoding import fill
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.openai.model import Toy, spelled

ANSWERS = ("True", "False", "Yes", "No", "Perhaps")
"""What replies in the chat may begin with."""

_FILLERS = (
    "Well Maybe Hardly Surely Indeed Often Never Always Sometimes Usually Probably Possibly "
    "Clearly Certainly Rarely Both Neither Either Some Most Many Few All None Every Each Sure "
    "Right Wrong Correct Exactly Absolutely Definitely Unlikely Likely Honestly Frankly "
    "Actually Generally Mostly Partly Hm Oh So But And"
)
_TAILS = (". I said {}", "! See {}", ", as in {}", " \nThat is {}")
_OPEN_ENDED = ("Write", "Describe")


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of the language: byte-level, nothing is added to a text."""
    backend: Tokenizer = tiny.gpt2_like().backend_tokenizer
    return backend


@cache
def language(weights: int = 0, heat: float = 1.0) -> Toy:
    return Toy(tokenizer(), weights, heat)


@cache
def opinions(text: str, weights: int = 0) -> Mapping[str, float]:
    digest = hashlib.sha256(f"{weights} {text}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8]))
    words = (*ANSWERS, *_FILLERS.split())
    values = random.normal(0, 1.2, len(words))
    values[: len(ANSWERS)] += 3.0
    shares = np.exp(values - np.logaddexp.reduce(values))
    return dict(sorted(zip(words, map(float, shares), strict=True), key=lambda pair: -pair[1]))


def reply(text: str, word: str, draw: int) -> str:
    """A reply that begins with a word and is of one text alone; to open questions, very many."""
    if text.lstrip().startswith(_OPEN_ENDED):
        return f"{word} {draw} is far away"
    digest = hashlib.sha256(f"{text} {word}".encode()).digest()
    return word + _TAILS[digest[0] % len(_TAILS)].format(int.from_bytes(digest[1:5]))


@cache
def replies(text: str, weights: int = 0, heat: float = 1.0) -> Mapping[str, float]:
    shares = {word: share ** (1 / heat) for word, share in opinions(text, weights).items()}
    draws = 20 if text.lstrip().startswith(_OPEN_ENDED) else 1
    total = draws * sum(shares.values())
    return {
        reply(text, word, draw): share / total
        for draw in range(draws)
        for word, share in shares.items()
    }


# What is asked

_THINGS = ("bear", "bird", "cat", "tree", "shell", "crown", "trunk", "branch", "root", "egg")
_TAIL = " is above the roots and the branches are part of the crown, and it has wings and a beak."
_BEGIN = "Judge whether this statement is true or false, and be brief about it: "
_SHORT = (
    "A {} has fur, is big, and has",
    "True or false? The {} is inside the shell.",
    "Something that has wings is not a {}, it is",
    "Question: is the {} above the roots?\nAnswer:",
)
_ODD = (
    "  A {} has  two  spaces in it",
    "naïve café of a {}",
    "nai\u0308ve cafe\u0301 of a {}",
    'Is a {} < 12 & > 34? "It\'s unbelievable"',
    "The \ufb01rst {} \u2014 and \u201cthe\u201d \u00bd of it",
    "First the {}.\n\nThen the words.\n\nThen",
)
_BLANKS = ("Something that has fur is called a ___", "A {} has ___")


@cache
def texts() -> tuple[str, ...]:
    """What is asked about: many pairs differ in one respect only that a bad server may lose."""
    short = [form.format(thing) for form in _SHORT for thing in _THINGS]
    trailing = [text + end for text in short[::5] for end in (" ", "\n", "  ")]
    cases = [change(text) for text in short[1::5] for change in (str.upper, str.lower)]
    late = [f"The {thing}{_TAIL} So the words are" for thing in _THINGS]
    early = [f"{_BEGIN}a {thing} has claws" for thing in _THINGS]
    both = [f"The {thing}{_TAIL} {_BEGIN}the {thing} has {end}" for thing, end in _LONG]
    odd = [form.format(thing) for form in _ODD for thing in _THINGS[:5]]
    listed = [*short, *trailing, *cases, *late, *early, *both, *odd]
    # In the order of a digest, so that each kind comes all the time.
    return tuple(sorted(dict.fromkeys(listed), key=lambda t: hashlib.sha256(t.encode()).digest()))


_LONG = [(thing, end) for thing in _THINGS[:8] for end in ("a shell, or", "whiskers, and")]


@cache
def prompts() -> tuple[Prompt, ...]:
    found = []
    for number, text in enumerate(texts()):
        if number % 4 == 1:
            found.append(Prompt(text, ("True", "called a bird")))
        elif number % 4 == 3:
            found.append(Prompt(text, ("the egg", *_next_words(text, 1)), ""))
        else:
            found.append(Prompt(text, _next_words(text, 2), ""))
    blanks = dict.fromkeys(form.format(thing) for form in _BLANKS for thing in _THINGS[:5])
    return (*found, *(Prompt(text, ("bear", "egg yolk")) for text in blanks))


@cache
def questions() -> tuple[Prompt, ...]:
    return tuple(Prompt(text, ANSWERS, "\n") for text in texts())


@cache
def decisions() -> tuple[Prompt, ...]:
    options = ("True", "False"), ("a bird", "the egg yolk", "wings")
    return tuple(Prompt(text, options[number % 2]) for number, text in enumerate(texts()))


def _next_words(text: str, count: int) -> tuple[str, ...]:
    """Some of the likeliest next tokens, which stay themselves behind the text."""
    ids = tuple(tokenizer().encode(text).ids)
    words = [
        (int(one), spelled(tokenizer(), int(one)))
        for one in np.argsort(-language().following(ids))[:100]
    ]
    fitting = [
        word
        for one, word in words
        if word.strip().isalpha() and tuple(tokenizer().encode(text + word).ids) == (*ids, one)
    ]
    return tuple(fitting[:count])


@cache
def true_scores() -> Mapping[tuple[str, str, str], float]:
    """The log-probability of each answer, by text, separator and answer, from the language."""
    found = {}
    cutter = bare(tiny.gpt2_like())
    for prompt in prompts():
        for answer, cut in zip(prompt.answers, tokenize(cutter, fill(prompt)), strict=True):
            ids = tuple(cut.ids[: cut.end])
            value = language().logprob(ids, cut.begin)
            found[prompt.text, prompt.separator, answer] = value
    return found


@cache
def true_decisions() -> Mapping[tuple[str, str, str], float]:
    found = {}
    for prompt in decisions():
        begin = len(tokenizer().encode(f"{prompt.text}\n").ids)
        behind = [tokenizer().encode(f"{prompt.text}\n{one}").ids for one in prompt.answers]
        values = [language().logprob(tuple(ids), begin) for ids in behind]
        for answer, value in zip(prompt.answers, values, strict=True):
            found[prompt.text, "", answer] = value - float(np.logaddexp.reduce(values))
    return found


@cache
def true_opinions() -> Mapping[tuple[str, str, str], float]:
    return {
        (prompt.text, prompt.separator, answer): math.log(opinions(prompt.text)[answer])
        for prompt in questions()
        for answer in prompt.answers
    }
