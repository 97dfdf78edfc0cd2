"""What every local model promises, one row per architecture."""

import re
import statistics
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import PromptError
from tacit.requests import Prompt, Scores
from tests.models import packing_table, plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, differences, passes
from tests.models.prompts import ALIKE, EVERYWHERE, LENGTHS, encodes, prompts_for

TOLERANCE = 1e-4
ONE = 1
LARGE = 100_000
EVERY = list(tiny.EVERY)
MODELS = list(tiny.MODELS)
FEW = ("gpt2", "llama", "gemma3", "gpt-neo", "mamba", "bert", "roberta", "t5", "bart")
"""Of each kind some, with a window and without, that pack and that do not."""


def paths_of(name: str, loaded: Loaded, **options: str) -> list[Local]:
    """The fast path, in large batches and in passes shorter than a prompt, and the plain path."""
    sizes = (LARGE, 40, ONE) if name in MODELS else (LARGE,)
    paths = [loaded(name, tokens, **options) for tokens in sizes]
    if tiny.EVERY[name].packs:
        paths.append(loaded(name, packing=False, **options))
    return paths


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, "left-to-right") for name in EVERY]
    + [(name, "one-at-a-time") for name in ("bert", "roberta", "albert")],
)
def test_equals_the_plain_computation(
    name: str,
    mode: str,
    loaded: Loaded,
    folder_of: FolderOf,
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    """Every score equals one sequence per pass, no padding, no cache; misreading is far off."""
    is_masked = tiny.EVERY[name].kind == "masked"
    # Falcon's own two ways to attend differ when it counts positions by ALiBi.
    attention = "sdpa" if name == "falcon-alibi" else "eager"
    reference = plain.load(
        name, folder_of(name), one_at_a_time=mode == "one-at-a-time", attention=attention
    )
    prompts = prompts_for(name) if name in MODELS else ALIKE
    off, misread, untold = [], [], []
    for model in paths_of(name, loaded, **({"masked_mode": mode} if is_masked else {})):
        for prompt, score in zip(prompts, model.answer(prompts), strict=True):
            for ours in score.answers:
                if not encodes(name, ours.answer):
                    assert ours.logprob is None, (prompt, ours)
                    continue
                expected, tokens = reference.score(prompt, ours.answer)
                assert ours.tokens == tokens, (prompt, ours)
                assert ours.logprob == pytest.approx(expected, abs=TOLERANCE), (prompt, ours)
                assert ours.logprob is not None
                off.append(abs(ours.logprob - expected))
                if prompt in (*LENGTHS, *ALIKE):  # they repeat themselves, or exceed local windows
                    continue
                shifted = [reference.score(prompt, ours.answer, shift)[0] for shift in (-1, 1)]
                misread += [abs(expected - value) for value in shifted]
                if prompt not in EVERYWHERE[:4]:
                    continue
                other = replace(prompt, text=f"Is {prompt.text}")
                untold.append(abs(expected - reference.score(other, ours.answer)[0]))
    record_testsuite_property(f"{name}, {mode}: largest difference in nats", max(off))
    assert len(off) > 40
    for wrong in (misread, untold) if name in MODELS else ():
        assert statistics.median(wrong) > 1000 * TOLERANCE
        assert statistics.quantiles(wrong, n=10)[0] > 5 * TOLERANCE


PIECES = st.sampled_from(["a", "tree", "bird", "birdhouse", "egg yolk", "12", "?", "unbelievable"])
TEXTS = st.lists(PIECES, max_size=6).map(" ".join)
ANSWERS = st.lists(PIECES, min_size=1, max_size=4, unique=True).map(tuple)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.builds(Prompt, TEXTS, ANSWERS), min_size=1, max_size=12))
@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma3", "mamba", "roberta", "t5"])
def test_any_prompts(name: str, loaded: Loaded, prompts: list[Prompt]) -> None:
    """Whatever they share, and in whatever order, all at once score as each answer alone."""
    *fast, slow = paths_of(name, loaded)
    expected = [
        Scores(tuple(slow.answer([replace(p, answers=(a,))])[0].answers[0] for a in p.answers))
        for p in prompts
    ]
    for model in fast:
        assert max(differences(model.answer(prompts), expected), default=0) < TOLERANCE


@pytest.mark.parametrize("name", tiny.causal())
def test_whether_an_architecture_packs(name: str, loaded: Loaded) -> None:
    model, packs = loaded(name), tiny.EVERY[name].packs
    told = model.description
    assert told["packs"] is packs
    assert (told["not_packed"] is None) is packs
    assert not packs or 0 <= told["errors"]["packed"] < TOLERANCE
    with passes(model) as seen:
        model.answer(ALIKE)
    assert any(one.is_packed for one in seen) is packs
    assert loaded(name, packing=False).description["not_packed"] == "turned off"


def test_the_page_tells_of_every_architecture_that_is_measured() -> None:
    lines = [line.split(" | ") for line in packing_table.shown().splitlines()[2:]]
    told = {line[0].removeprefix("| "): line[1] for line in lines}
    expected = {}
    for name in packing_table.names():
        model = tiny.EVERY[name].model(tiny.tokenizer_of(name))
        packs = "yes" if tiny.EVERY[name].packs else "no"
        expected[packing_table.named(name, type(model).__name__)] = packs
    assert told == expected
    assert len(told) > 25


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("batch_tokens", [ONE, LARGE])
def test_tokens_are_counted(name: str, batch_tokens: int, loaded: Loaded) -> None:
    model = loaded(name, batch_tokens)
    prompts = prompts_for(name) if model.kind == "causal" else EVERYWHERE[:3]
    model.answer(prompts)  # the first packs are checked
    with passes(model) as seen:
        model.answer(prompts)
    assert sum(one.tokens for one in seen) == sum(model.cost(prompts))


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma3"])
def test_prompts_share_what_they_begin_with(name: str, loaded: Loaded) -> None:
    """All prompts in one pass cost what their prefix tree has tokens."""
    model = loaded(name)
    prompts = [Prompt(f"Is a {word}", ("a", "a bird")) for word in ("tree", "bird", "tree is a")]
    inputs = [model.inputs(p, answer)[0].ids[:-1] for p in prompts for answer in p.answers]
    tree = {ids[:at] for ids in inputs for at in range(1, len(ids) + 1)}
    assert sum(model.cost(prompts)) == len(tree)
    assert sum(model.cost([prompt])[0] for prompt in prompts) > len(tree)


@pytest.mark.parametrize("name", [name for name in FEW if tiny.MODELS[name].window])
def test_window(name: str, loaded: Loaded) -> None:
    """What fills the window is scored; one token more is an error with text and lengths."""
    model, window = loaded(name), tiny.MODELS[name].window or 0
    last = None
    for words in range(55, 80):
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


@pytest.mark.parametrize("name", FEW)
def test_half_precision(name: str, folder_of: FolderOf, loaded: Loaded) -> None:
    """Rounding in bfloat16 is not taken for an error, and scores are about the same."""
    model = tiny.load(folder_of(name), dtype="bfloat16", batch_tokens=2048)
    told = model.description
    assert (told["dtype"], told["batch_tokens"]) == ("bfloat16", 2048)
    assert model.fingerprint != loaded(name).fingerprint
    assert told.get("packs", False) is (model.kind == "causal" and tiny.MODELS[name].packs)
    if told.get("packs"):
        assert told["errors"]["against"] == "float32"
        assert told["errors"]["packed"] <= 4 * told["errors"]["alone"]
    prompts = EVERYWHERE[:3]
    off = differences(model.answer(prompts), loaded(name).answer(prompts))
    assert statistics.median(off) < 0.5
    assert 0 < max(off) < 5
