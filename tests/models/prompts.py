"""The prompts that models are asked, by kind."""

from itertools import product

from tacit.requests import Prompt
from tests.models import tiny

WORDS = (
    *("True", "False", "Trues", "Falsehoods", "a", "bird", "birdhouse", "bird bath"),
    "unbelievable",
)
ANSWERS = ("true", "the egg", "the eggs", "the egg yolk", "roots", "12 345")
EVERYWHERE = [
    Prompt("In a tree, the trunk is above the roots.", WORDS),
    Prompt(
        "Judge whether this statement is true or false: the egg yolk is inside.", ("True",), "\n"
    ),
    Prompt("A bear has fur, is big, and has", (*ANSWERS, "claws", "claw")),
    Prompt("naïve café 🐻", ("naïve", "café", "don't", "bird 🐦")),
    Prompt("Is it?\nAnswer:", ("yes", "no", "Yes", "No", "yes, it is: a bird, a tree and 12 eggs")),
    Prompt("a", ("cat", "cats")),
    Prompt("Something that has wings is", ("a bird", "called a bird"), ""),
    Prompt("Something that has wings is ", ("bird", "called a bird"), ""),
    Prompt("  spaced  out ", ("bird", "birds")),
]
# A decoder is given no separator. Most tokenizers make it a token of its own before some of these.
SEPARATED = [
    Prompt("It is", ("bird", ",", "é", " bird", "'s", "birdhouse")),
    Prompt("It is", (", a bird", "bird"), ": "),
]
CONTINUED = [
    Prompt("", ("True", "In a tree", "birds")),
    Prompt("", ("True", "In a tree", "birds"), ""),
    Prompt("", ("True", "birds"), "\n"),
    Prompt("Something that has fur is called a ___", ("bear", "bird", "birdhouse")),
    Prompt("___", ("bear", "In a tree")),
    Prompt("Is it?", ("🐻", "🐦", "bear 🐻")),
    Prompt("the egg yo", ("lk", "lks", "ke"), ""),
]
FILLED = [
    Prompt("A ___ has fur, is big, and has claws.", ("bear", "bird", "birdhouse", "egg yolk")),
    Prompt("___ is above the roots.", ("The trunk", "It")),
    Prompt("In a tree, the ___, like the trunk, is a part", ("roots", "branches", "crown")),
    Prompt("There are three ___s", ("bird", "egg")),
    Prompt("It is called a bird___, is it?", ("house", "bath", " bath")),
    Prompt("True or ___", ("False", "Falsehoods")),
    *(Prompt(f"It is a ___{after}", ("bird", "tree house")) for after in ("able", " is", "\n")),
]
# Around a local window of 12 tokens.
LENGTHS = [Prompt("a" + " a tree" * words, ("a", "a bird", "roots")) for words in range(8)]
ALIKE = [
    *(Prompt("a a", ("a", "a tree")), Prompt("a", ("a a", "tree", "i1"))),
    *(
        Prompt(text.format(fact), answers)
        for fact in ("a bird used for wings", "a tree part of roots", "the egg yolk inside the egg")
        for text, answers in (
            ("Is {}?", ("Yes", "No", "True", "unbelievable")),
            ("Is {}. Is this true?", ("Yes", "No", "True", "False")),
            ("Question: Is {}? Answer:", ("yes", "no", "the roots", "the egg yolk")),
            ("Question: Is {}? Answer:", ("the", "the roots")),
        )
    ),
]
"""Prompts that begin alike."""

MANY = [
    *ALIKE,
    *(
        Prompt(f"A bear has fur. Is a {a} a {b} {c}?", ("Yes", "No"))
        for a, b, c in product(("tree", "bird", "egg", "roots", "trunk"), repeat=3)
    ),
]
"""Prompts that fill a pack."""


def prompts_for(name: str) -> list[Prompt]:
    more = {
        "causal": [*CONTINUED, *SEPARATED, *LENGTHS, *ALIKE],
        "masked": [*FILLED, *SEPARATED],
        "seq2seq": [*FILLED, *CONTINUED],
    }
    prompts = EVERYWHERE + more[tiny.EVERY[name].kind]
    if name == "bart":
        return [prompt for prompt in prompts if "___" not in prompt.text]
    return prompts


def encodes(name: str, answer: str) -> bool:
    """Whether the tokenizer knows all of an answer, by what it gives back."""
    tokenizer = tiny.tokenizer_of(name)
    ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
    return tokenizer.unk_token_id not in ids or tokenizer.unk_token_id == tokenizer.eos_token_id
