from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import wraps
from itertools import product
from typing import Any, NoReturn

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import ScoringError
from tacit.models import registry
from tacit.models.huggingface import causal, packed_passes
from tacit.requests import Prompt, Scores
from tests.models import packing_table, plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, passes
from tests.models.test_contract import differences, encodes, prompts_for

_PACKED = 4
CAUSAL = tiny.names("causal")
PACKING = [name for name in CAUSAL if tiny.MODELS[name].packs]
EVERY = [name for name, one in tiny.EVERY.items() if one.kind == "causal"]
LOCAL = ["mistral", "gemma3", "gemma2", "gpt-oss", "gpt-neo-local"]

FACTS = ("a bird used for wings", "a tree part of roots", "the egg yolk inside the shell")
SHORT = [Prompt("a a", ("a", "a tree")), Prompt("a", ("a a", "tree", "i1"))]
ASKED = SHORT + [
    Prompt(text.format(fact), answers)
    for fact in FACTS
    for text, answers in (
        ("Is {}?", ("Yes", "No", "True", "unbelievable")),
        ("Is {}. Is this true?", ("Yes", "No", "True", "False")),
        ("Question: Is {}? Answer:", ("yes", "no", "the roots", "the egg yolk")),
        ("Question: Is {}? Answer:", ("the", "the roots")),
    )
]


FULL = [
    *ASKED,
    *(
        Prompt(f"A bear has fur. Is a {a} a {b} {c}?", ("Yes", "No"))
        for a, b, c in product(("tree", "bird", "egg", "roots", "trunk"), repeat=3)
    ),
]
"""Prompts that fill a pack."""


def plainly(name: str, folder_of: FolderOf, prompts: Sequence[Prompt]) -> list[list[float]]:
    """The values of the independent computation."""
    # Falcon's own two ways to attend differ when it counts positions by ALiBi.
    attention = "sdpa" if name == "falcon-alibi" else "eager"
    reference = plain.load(name, folder_of(name), attention=attention)
    return [[reference.score(p, answer)[0] for answer in p.answers] for p in prompts]


def off(name: str, model: Local, folder_of: FolderOf, prompts: Sequence[Prompt]) -> float:
    """The largest difference from the independent computation, in nats."""
    scored: list[Scores] = model.answer(prompts)
    return max(
        abs(one.logprob - value)
        for score, values in zip(scored, plainly(name, folder_of, prompts), strict=True)
        for one, value in zip(score.answers, values, strict=True)
        if one.logprob is not None and encodes(name, one.answer)
    )


@pytest.mark.parametrize("name", EVERY)
def test_whether_an_architecture_packs(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Each says so as expected, why not, and scores as the independent computation either way."""
    model = loaded(name)
    told = model.description
    assert told["packs"] is tiny.EVERY[name].packs
    assert (told["not_packed"] is None) is told["packs"]
    assert not told["packs"] or 0 <= told["errors"]["packed"] < 1e-4
    with passes(model) as seen:
        assert off(name, model, folder_of, ASKED) < 1e-4
    assert any(one.is_packed for one in seen) is told["packs"]


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("batch_tokens", [40, 100_000])
def test_packing_changes_nothing(name: str, batch_tokens: int, loaded: Loaded) -> None:
    """Packed scores are the plain ones, also where a pass holds fewer tokens than a prompt has."""
    prompts = [*prompts_for(name), *ASKED]
    alone = loaded(name, packing=False)
    assert alone.description["packs"] is False
    with passes(alone) as seen:
        expected = alone.answer(prompts)
    assert not any(one.is_packed for one in seen)
    assert max(differences(loaded(name, batch_tokens).answer(prompts), expected)) < 1e-4


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("packing", [True, False])
def test_the_tokens_of_many_prompts(name: str, packing: bool, loaded: Loaded) -> None:  # noqa: FBT001 - a column
    """What prompts cost together is what goes through the model, padding left out."""
    model = loaded(name, packing=packing)
    prompts = [*prompts_for(name), *ASKED]
    model.answer(prompts)  # the first packs are checked
    with passes(model) as seen:
        model.answer(prompts)
    assert sum(one.tokens for one in seen) == sum(model.cost(prompts))


@pytest.mark.parametrize("name", PACKING)
def test_prompts_share_what_they_begin_with(name: str, loaded: Loaded) -> None:
    """All prompts in one pass cost what their prefix tree has tokens."""
    model = loaded(name)
    assert isinstance(model, causal.CausalModel)
    prompts = [Prompt(f"Is a {word}", ("a", "a bird")) for word in ("tree", "bird", "tree is a")]
    encoded = model._encode(prompts)
    inputs = [answer.ids[:-1] for number in range(3) for answer in encoded.of(number)]
    tree = {ids[:at] for ids in inputs for at in range(1, len(ids) + 1)}
    assert sum(model.cost(prompts)) == len(tree)
    assert sum(model.cost([prompt])[0] for prompt in prompts) > len(tree)


WORDS = st.sampled_from(["a", "tree", "bird", "birdhouse", "egg yolk", "12", "?", "unbelievable"])
TEXTS = st.lists(WORDS, min_size=0, max_size=6).map(" ".join)
ANSWERS = st.lists(WORDS, min_size=1, max_size=4, unique=True).map(tuple)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.builds(Prompt, TEXTS, ANSWERS), min_size=1, max_size=12))
@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma3"])
@pytest.mark.parametrize("batch_tokens", [33, 70, 2048])
def test_any_prompts(name: str, batch_tokens: int, loaded: Loaded, prompts: list[Prompt]) -> None:
    """Whatever they share, and whether one is another's beginning, packs score as rows do."""
    packed = loaded(name, batch_tokens)
    assert packed.description["packs"] is True
    expected = loaded(name, packing=False).answer(prompts)
    assert max(differences(packed.answer(prompts), expected), default=0) < 1e-4


@pytest.mark.parametrize("name", LOCAL)
def test_prompts_around_a_local_window(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Prompts longer than a local window are right beside packed ones, and are not packed."""
    model = loaded(name)
    prompts = [Prompt("a" + " a tree" * words, ("a", "a bird", "roots")) for words in range(8)]
    with passes(model) as seen:
        assert off(name, model, folder_of, prompts) < 1e-4
    assert {one.is_packed for one in seen} == {False, tiny.EVERY[name].packs}
    for one in seen:
        if one.is_packed:
            assert int(one.arguments["position_ids"].max()) < 11


@pytest.mark.parametrize("name", [name for name in CAUSAL if not tiny.MODELS[name].packs])
def test_what_packs_wrongly_is_warned_of(
    name: str, folder_of: FolderOf, caplog: pytest.LogCaptureFixture
) -> None:
    """With the reason; when packing is turned off, nothing is measured nor said."""
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of(name))
    assert "each prompt is computed separately" in caplog.text
    assert model.description["not_packed"] in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of(name), packing=False)
    assert "each prompt is computed separately" not in caplog.text
    assert model.description["not_packed"] == "turned off"


def test_a_window_that_no_config_tells_of(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that sees the nearest 20 tokens, unless a mask says what it sees, does not pack."""
    import torch
    from transformers import GPT2LMHeadModel

    forward = GPT2LMHeadModel.forward

    def masked_forward(self: GPT2LMHeadModel, **given: Any) -> object:  # noqa: ANN401 - forward's own
        mask = given["attention_mask"]
        if mask.ndim != _PACKED and "past_key_values" not in given:
            index = torch.arange(mask.shape[1])
            far = (index[:, None] < index) | (index[:, None] - index >= 20)
            given["attention_mask"] = torch.where(far, -1e30, 0.0)[None, None].expand(
                len(mask), 1, -1, -1
            )
        return forward(self, **given)

    monkeypatch.setattr(GPT2LMHeadModel, "forward", wraps(forward)(masked_forward))
    model = tiny.load(folder_of("gpt2"))
    assert model.description["packs"] is False
    assert model.description["errors"]["packed"] > 1e-3


@pytest.mark.parametrize("how", ["far", "early", "first", "nan", "fails"])
def test_a_broken_mask_is_not_used(
    how: str, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is found out at load, or by the first pack that is long enough, and scored right."""
    import torch
    from transformers import GPT2LMHeadModel

    forward = GPT2LMHeadModel.forward

    def spoilt(mask: torch.Tensor) -> torch.Tensor:
        if how == "fails":
            raise IndexError("no such mask")
        if how == "nan":
            return mask * torch.nan
        if how == "first":
            return mask[:1].expand_as(mask)
        index = torch.arange(mask.shape[-1])
        near = index[:, None] - index < 300
        return mask.masked_fill(~near if how == "far" else index[:, None] > 380, -1e30)

    def breaking(self: GPT2LMHeadModel, **given: Any) -> object:  # noqa: ANN401 - forward's own
        if given["attention_mask"].ndim == _PACKED:
            given["attention_mask"] = spoilt(given["attention_mask"])
        return forward(self, **given)

    monkeypatch.setattr(GPT2LMHeadModel, "forward", wraps(forward)(breaking))
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of("gpt2"))
        assert model.description["packs"] is (how in {"far", "early"})
        scores = model.answer(FULL)
    assert caplog.text.count("each prompt is computed separately") == 1
    assert model.description["packs"] is False
    monkeypatch.setattr(GPT2LMHeadModel, "forward", forward)
    assert max(differences(scores, model.answer(FULL))) == 0
    assert off("gpt2", model, folder_of, ASKED) < 1e-4


def test_a_failure_that_a_device_tells_late(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the values are fetched: it is the tool's own error."""

    class Late:
        def cpu(self) -> NoReturn:
            raise RuntimeError("device-side assert triggered")

    model = loaded("gpt2")
    model.answer(ASKED)  # the first packs are checked
    monkeypatch.setattr(packed_passes, "read_states", lambda *_: Late())
    with pytest.raises(ScoringError, match="failed on its device: device-side assert"):
        model.answer(ASKED)


def test_the_checks_at_load_are_short_and_done_once(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few hundred tokens the first time, none with the checks that were recorded."""
    from transformers import GPT2LMHeadModel

    seen: list[int] = []
    forward = GPT2LMHeadModel.forward

    def watching(self: GPT2LMHeadModel, **given: Any) -> object:  # noqa: ANN401 - forward's own
        seen.append(given["input_ids"].numel())
        return forward(self, **given)

    monkeypatch.setattr(GPT2LMHeadModel, "forward", wraps(forward)(watching))
    model = tiny.load(folder_of("gpt2"))
    assert 0 < sum(seen) < 400
    seen.clear()
    checkpoint = model._checkpoint
    again = causal.CausalModel(checkpoint, 2048)
    assert checkpoint.checks.done
    assert not seen
    assert again.description == model.description


@pytest.mark.parametrize("name", ["read_states", "read_values"])
def test_only_places_that_are_read_get_logits(
    name: str, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many states or logits are read as there are places, of a scored sentence too."""
    model = loaded("gpt2")
    model.answer(ASKED)  # the first packs are checked
    splits = name == "read_states"
    assert isinstance(model, causal.CausalModel)
    assert model._checks.accepts("split")
    monkeypatch.setattr(model, "_packer", model._packer_of(splits=splits))
    read, seen = getattr(packed_passes, name), list[int]()

    def watch(given: Any, *rest: Any) -> Any:  # noqa: ANN401 - tensors
        seen.append(len(given))
        return read(given, *rest)

    monkeypatch.setattr(packed_passes, name, watch)
    model.answer([Prompt("Is a tree", ("a", "b", "c")), Prompt("Is a bird", ("a", "b"))])
    (sentence,) = model.answer([Prompt("", ("Is a tree a bird?",), "")])
    assert seen == [2, sentence.answers[0].tokens]


def test_logits_that_the_model_changes_are_not_split(loaded: Loaded) -> None:
    """Gemma 2 caps the head's output, here by less than rounding; it is packed all the same."""
    model = loaded("gemma2")
    assert "not the output" in model._checks.refused["split"]
    assert model.description["packs"] is True


@pytest.mark.parametrize("name", PACKING)
def test_half_precision_packs(name: str, folder_of: FolderOf) -> None:
    """Rounding in bfloat16 is not taken for an error."""
    model = tiny.load(folder_of(name), dtype="bfloat16")
    assert model.description["packs"] is True
    errors = model.description["errors"]
    assert errors["against"] == "float32"
    assert errors["packed"] <= 4 * errors["alone"]


@pytest.mark.parametrize("shift", [-35.0, -100.0])
def test_large_logits_in_half_precision(
    shift: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Logits that bfloat16 holds to a quarter or a half of a nat are not taken for wrong ones."""
    from transformers import GPT2LMHeadModel

    forward = GPT2LMHeadModel.forward

    def shifted(self: GPT2LMHeadModel, **given: Any) -> object:  # noqa: ANN401 - forward's own
        output = forward(self, **given)
        output.logits = output.logits + shift
        return output

    monkeypatch.setattr(GPT2LMHeadModel, "forward", wraps(forward)(shifted))
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(registry.folder_of("demo"), dtype="bfloat16")
    assert model.description["packs"] is True
    assert model.description["errors"]["alone"] > 0.1
    assert not caplog.messages


def test_the_page_tells_of_every_architecture_that_is_measured() -> None:
    """Its table, which ``tests.models.packing_table`` writes, says of each whether it packs."""
    lines = [line.split(" | ") for line in packing_table.shown().splitlines()[2:]]
    told = {line[0].removeprefix("| "): line[1] for line in lines}
    expected = {}
    for name in packing_table.names():
        model = tiny.EVERY[name].model(tiny.tokenizer_of(name))
        packs = "yes" if tiny.EVERY[name].packs else "no"
        expected[packing_table.named(name, type(model).__name__)] = packs
    assert told == expected
    assert len(told) > 25


def test_a_cap_of_attention_scores_is_kept_by_every_transformers(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some versions say that Gemma 2 works with torch's own attention, which leaves out the cap."""
    from transformers.models.gemma2.modeling_gemma2 import Gemma2PreTrainedModel

    monkeypatch.setattr(Gemma2PreTrainedModel, "_supports_sdpa", True)
    assert off("gemma2", tiny.load(folder_of("gemma2")), folder_of, ASKED) < 1e-4
