"""What every local model promises, one row per architecture."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import PromptError, TooLongError
from tacit.requests import TOO_LONG, AnswerScore, Prompt, Scores
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import passes

TOLERANCE = 1e-4
ONE = 1
LARGE = 100_000

WORDS = (
    "True",
    "False",
    "Trues",
    "Falsehoods",
    "a",
    "bird",
    "birdhouse",
    "bird bath",
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
]


def prompts_for(name: str) -> list[Prompt]:
    """The prompts that a model's kind can be asked."""
    more = {
        "causal": [*CONTINUED, *SEPARATED],
        "masked": [*FILLED, *SEPARATED],
        "seq2seq": [*FILLED, *CONTINUED],
    }
    prompts = EVERYWHERE + more[tiny.MODELS[name].kind]
    if name == "bart":
        return [prompt for prompt in prompts if "___" not in prompt.text]
    return prompts


def encodes(name: str, answer: str) -> bool:
    """Whether the tokenizer knows all of an answer, by what it gives back."""
    tokenizer = tiny.tokenizer_of(name)
    ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
    return tokenizer.unk_token_id not in ids or tokenizer.unk_token_id == tokenizer.eos_token_id


def scored(
    name: str, loaded: Loaded, batch_tokens: int = LARGE, **options: str
) -> Sequence[Scores]:
    """The scores of all the prompts that a model can be asked."""
    return loaded(name, batch_tokens, **options).answer(prompts_for(name))


def values(scores: Sequence[Scores]) -> list[float | None]:
    """All log-probabilities in order."""
    return [one.logprob for score in scores for one in score.answers]


def differences(ours: Sequence[Scores], theirs: Sequence[Scores]) -> list[float]:
    """How far apart two scorings are, answer by answer; unknown ones must be so in both."""
    pairs = list(zip(values(ours), values(theirs), strict=True))
    assert [a is None for a, _ in pairs] == [b is None for _, b in pairs]
    return [abs(a - b) for a, b in pairs if a is not None and b is not None]


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, "left-to-right") for name in tiny.MODELS]
    + [(name, "one-at-a-time") for name in tiny.names("masked")],
)
def test_equals_the_plain_computation(
    name: str,
    mode: str,
    loaded: Loaded,
    folder_of: FolderOf,
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    """Every score equals one sequence per pass, no padding, no cache; misreading is far off."""
    options: dict[str, Any] = {"masked_mode": mode} if tiny.MODELS[name].kind == "masked" else {}
    reference = plain.load(name, folder_of(name), one_at_a_time=mode == "one-at-a-time")
    off, misread, untold = [], [], []
    for prompt, score in zip(prompts_for(name), scored(name, loaded, **options), strict=True):
        for ours in score.answers:
            if not encodes(name, ours.answer):
                assert ours.logprob is None, (prompt, ours)
                continue
            expected, tokens = reference.score(prompt, ours.answer)
            assert ours.tokens == tokens, (prompt, ours)
            assert ours.logprob == pytest.approx(expected, abs=TOLERANCE), (prompt, ours)
            assert ours.logprob is not None
            off.append(abs(ours.logprob - expected))
            shifted = [reference.score(prompt, ours.answer, shift)[0] for shift in (-1, 1)]
            misread += [abs(expected - value) for value in shifted]
            other = replace(prompt, text=f"Is {prompt.text}")
            untold.append(abs(expected - reference.score(other, ours.answer)[0]))
    record_testsuite_property(f"{name}, {mode}: largest difference in nats", max(off))
    assert len(off) > 40
    for wrong in (misread, untold):
        assert statistics.median(wrong) > 1000 * TOLERANCE
        assert statistics.quantiles(wrong, n=10)[0] > 5 * TOLERANCE


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_batches_change_nothing(name: str, loaded: Loaded) -> None:
    """One row at a time, some rows at a time and all at once give the same."""
    together = scored(name, loaded)
    for batch_tokens in (ONE, 100):
        assert max(differences(scored(name, loaded, batch_tokens), together)) < TOLERANCE


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_prompts_alone_score_the_same(name: str, loaded: Loaded) -> None:
    """A prompt, and an answer, asked alone scores as among 32 others."""
    model = loaded(name)
    prompts = (prompts_for(name) * 3)[:32]
    for prompt, score in list(zip(prompts, model.answer(prompts), strict=True))[:12]:
        alone = [
            model.answer([replace(prompt, answers=(a,))])[0].answers[0] for a in prompt.answers
        ]
        assert max(differences([Scores(tuple(alone))], [score]), default=0) < TOLERANCE
        assert [(a.answer, a.tokens, a.spanned) for a in alone] == [
            (a.answer, a.tokens, a.spanned) for a in score.answers
        ]


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_order_does_not_matter(name: str, loaded: Loaded) -> None:
    """Scores come in the order of the prompts and of their answers."""
    model = loaded(name)
    prompts = prompts_for(name)
    turned = [replace(p, answers=p.answers[::-1]) for p in reversed(prompts)]
    again = [Scores(score.answers[::-1]) for score in reversed(model.answer(turned))]
    assert max(differences(again, model.answer(prompts))) < TOLERANCE


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_no_prompts(name: str, loaded: Loaded) -> None:
    """No prompts give no scores."""
    assert loaded(name).answer([]) == []
    assert loaded(name).cost([]) == []


@pytest.mark.parametrize("name", [n for n, one in tiny.MODELS.items() if one.window])
def test_window(name: str, loaded: Loaded) -> None:
    """What fills the window is scored; one token more is an error with text and lengths."""
    model = loaded(name)
    window = tiny.MODELS[name].window or 0
    last = None
    for words in range(50, 80):
        prompt = Prompt("a" + " a" * words, ("a",))
        try:
            last = model.answer([prompt])
        except PromptError as error:
            message = str(error)
            break
    assert last
    assert last[0].answers[0].logprob is not None
    assert prompt.shown in message
    assert f"window of {model.name} is {window} tokens" in message
    length = re.search(r"has (\d+) tokens with its answer", message)
    assert length
    assert int(length[1]) == window + 1
    with pytest.raises(PromptError, match=f"window of .* is {window} tokens"):
        model.cost([prompt])


@pytest.mark.parametrize("name", [n for n, one in tiny.MODELS.items() if one.window])
def test_an_engine_skips_what_does_not_fit(name: str, loaded: Loaded, tmp_path: Path) -> None:
    """The scores of the prompts that fit are those without the long one, to the last bit."""
    model = loaded(name)
    fitting = [Prompt("a bird" + " a" * words, ("a", "bird")) for words in range(4)]
    long = Prompt("a" + " a" * 100, ("a",))
    before, skipped, *after = Engine(model, Store(tmp_path / "mixed")).ask(
        [fitting[0], long, *fitting[1:]]
    )
    assert skipped.answers == (AnswerScore("a", None, 0, missing=TOO_LONG),)
    assert [before, *after] == Engine(model, Store(tmp_path / "alone")).ask(fitting)
    with pytest.raises(TooLongError, match="tokens with its answer"):
        Engine(model, Store(tmp_path / "strict"), strict=True).ask([*fitting, long])


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_unknown_token(name: str, loaded: Loaded) -> None:
    """An answer with the unknown token has no log-probability; the others keep theirs."""
    prompt = Prompt("In a tree", ("True", "🐦", "True 🐦", "bird"))
    values = [one.logprob for one in loaded(name).answer([prompt])[0].answers]
    whole = encodes(name, "🐦")
    assert [value is not None for value in values] == [True, whole, whole, True]
    only = loaded(name).answer([Prompt("🐦 in a tree", ("True",))])[0]
    assert only["True"].logprob is not None


@pytest.mark.parametrize(
    "name", [name for name in tiny.MODELS if name != "fnet"]
)  # no bfloat16 FFT
def test_half_precision(name: str, folder_of: FolderOf, loaded: Loaded) -> None:
    """In bfloat16 a model loads, says so, and scores about the same."""
    prompts = EVERYWHERE[:3]
    model = tiny.load(folder_of(name), dtype="bfloat16")
    assert model.description["dtype"] == "bfloat16"
    assert model.fingerprint != loaded(name).fingerprint
    off = differences(model.answer(prompts), loaded(name).answer(prompts))
    assert statistics.median(off) < 0.5
    assert 0 < max(off) < 5


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_tokens_are_counted(name: str, loaded: Loaded) -> None:
    """The tokens that a prompt costs are those that go through the model, padding left out."""
    model = loaded(name, ONE)
    prompts = [Prompt("In a tree, the trunk is above", ("True",)), EVERYWHERE[1]]
    for prompt, tokens in zip(prompts, model.cost(prompts), strict=True):
        with passes(model) as seen:
            model.answer([prompt])
        assert sum(one.tokens for one in seen) == tokens
