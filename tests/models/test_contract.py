"""What every local model promises, one row per architecture."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from tacit.models.loading import LoadOptions, load_model
from tacit.prompts import Prompt
from tests.models import plain, tiny

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tacit.models.local import LocalModel
    from tacit.prompts import LogProbs

    Loaded = Callable[..., LocalModel]

TOLERANCE = 1e-4
ONE = 1
LARGE = 100_000

WORDS = ("True", "False", "Trues", "Falsehoods", "a", "bird", "birdhouse", "bird bath", "unbelievable")
ANSWERS = ("true", "the egg", "the eggs", "the egg yolk", "roots", "12 345")
EVERYWHERE = [
    Prompt("In a tree, the trunk is above the roots.", WORDS),
    Prompt("Judge whether this statement is true or false: the egg yolk is inside.", ("True",), "\n"),
    Prompt("A bear has fur, is big, and has", (*ANSWERS, "claws", "claw")),
    Prompt("naïve café 🐻", ("naïve", "café", "don't", "bird 🐦")),
    Prompt("Is it?\nAnswer:", ("yes", "no", "Yes", "No", "yes, it is: a bird, a tree and 12 eggs")),
    Prompt("a", ("cat", "cats")),
    Prompt("Something that has wings is", ("a bird", "called a bird"), ""),
    Prompt("Something that has wings is ", ("bird", "called a bird"), ""),
    Prompt("  spaced  out ", ("bird", "birds")),
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
    Prompt("It is called a bird___; or is it un___", ("house",)) if False else Prompt("A ___s", ("bird",)),
    Prompt("It is called a bird___, is it?", ("house", "bath", " bath")),
    Prompt("True or ___", ("False", "Falsehoods")),
]


@pytest.fixture(scope="session")
def loaded(folder_of: Callable[[str], Path]) -> Loaded:
    """A tiny model, loaded as a user loads it; the same one each time."""

    @cache
    def load(name: str, batch_tokens: int = LARGE, **options: str) -> LocalModel:
        return load_model(
            str(folder_of(name)), LoadOptions(batch_tokens=batch_tokens, **options)
        )

    return load


def prompts_for(name: str) -> list[Prompt]:
    """The prompts that a model's kind can be asked."""
    more = {"causal": CONTINUED, "masked": FILLED, "seq2seq": [*FILLED, *CONTINUED]}
    prompts = EVERYWHERE + more[tiny.MODELS[name].kind]
    if name == "bart":
        return [prompt for prompt in prompts if "___" not in prompt.text]
    return prompts


def known(name: str, answer: str) -> bool:
    """Whether the tokenizer knows all of an answer, by what it gives back."""
    tokenizer = tiny.tokenizer_of(name)
    ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
    return (
        tokenizer.unk_token_id not in ids or tokenizer.unk_token_id == tokenizer.eos_token_id
    )


def values(scores: Sequence[LogProbs]) -> list[float | None]:
    """All log-probabilities in order."""
    return [one.logprob for score in scores for one in score.answers]


def differences(ours: Sequence[LogProbs], theirs: Sequence[LogProbs]) -> list[float]:
    """How far apart two scorings are, answer by answer; unknown ones must be so in both."""
    pairs = list(zip(values(ours), values(theirs), strict=True))
    assert [a is None for a, _ in pairs] == [b is None for _, b in pairs]
    return [abs(a - b) for a, b in pairs if a is not None and b is not None]


@pytest.mark.parametrize("mode", ["left-to-right", "one-at-a-time"])
@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_equals_the_plain_computation(
    name: str, mode: str, loaded: Loaded, folder_of: Callable[[str], Path]
) -> None:
    """Every score equals one sequence per pass without padding and cache; a shift is far off."""
    if mode == "one-at-a-time" and tiny.MODELS[name].kind != "masked":
        pytest.skip("only masked models have a choice")
    options = {"masked_mode": mode} if tiny.MODELS[name].kind == "masked" else {}
    prompts = prompts_for(name)
    scores = loaded(name, **options).score(prompts)
    reference = plain.load(name, folder_of(name), one_at_a_time=mode == "one-at-a-time")
    right, shifted, counted = [], [], 0
    for prompt, score in zip(prompts, scores, strict=True):
        for answer, ours in zip(prompt.answers, score.answers, strict=True):
            assert ours.answer == answer
            if not known(name, answer):
                assert ours.logprob is None, (prompt, answer)
                continue
            expected, tokens = reference.score(prompt, answer)
            assert ours.tokens == tokens, (prompt, answer)
            assert ours.logprob == pytest.approx(expected, abs=TOLERANCE), (prompt, answer)
            right.append(abs(ours.logprob - expected))
            shifted += [
                abs(ours.logprob - reference.score(prompt, answer, by)[0]) for by in (-1, 1)
            ]
            counted += 1
    print(f"{name}: largest difference {max(right):.1e} nats over {counted} answers; shifted: median {sorted(shifted)[len(shifted)//2]:.2g}, lowest decile {sorted(shifted)[len(shifted)//10]:.2g}")
    assert sorted(shifted)[len(shifted) // 10] > 100 * TOLERANCE
