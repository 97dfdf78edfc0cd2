from __future__ import annotations

import logging
from functools import wraps
from typing import Any

import pytest

from tacit.requests import Prompt
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import passes

CLASSES = {
    "gpt2": "GPT2LMHeadModel",
    "gpt2-long": "GPT2LMHeadModel",
    "bert": "BertForMaskedLM",
    "t5": "T5ForConditionalGeneration",
}
PROMPTS = [Prompt("A bear has" + " a bird" * n, ("fur", "a birdhouse")) for n in range(4)]


@pytest.mark.parametrize("name", ["bert", "t5", "gpt2"])
def test_a_model_that_padding_disturbs(
    name: str,
    folder_of: FolderOf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A model to which padding is not nothing is warned of, and scored right, row by row."""
    import transformers

    model_class = getattr(transformers, CLASSES[name])
    forward = model_class.forward

    def disturbed(self: object, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - forward's own
        output = forward(self, *given, **named)
        masks = [m for k, m in named.items() if k.endswith("attention_mask") and m is not None]
        if any(int(mask.min()) == 0 for mask in masks):
            noise = output.logits.new_zeros(output.logits.shape)
            noise[..., 7] = 1
            output.logits = output.logits + noise
        return output

    monkeypatch.setattr(model_class, "forward", wraps(forward)(disturbed))
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of(name), batch_tokens=4096)
    assert "sequences are computed one at a time" in caplog.text
    with passes(model) as seen:
        scores = model.answer(PROMPTS)
    assert {one.rows for one in seen} == {1}
    monkeypatch.setattr(model_class, "forward", forward)
    reference = plain.load(name, folder_of(name))
    for prompt, score in zip(PROMPTS, scores, strict=True):
        for one in score.answers:
            expected, _ = reference.score(prompt, one.answer)
            assert one.logprob == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "ignored", "way"),
    [
        ("bert", "attention_mask", "padded"),
        ("gpt2-long", "position_ids", "packed"),
        ("gpt2", "attention_mask", "packed"),
    ],
)
def test_a_way_that_is_really_wrong_is_refused(
    name: str, ignored: str, way: str, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mask that is ignored, or absolute positions that are not those of the input's own."""
    import transformers

    model_class = getattr(transformers, CLASSES[name])
    forward = model_class.forward

    def ignoring(self: object, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - forward's own
        return forward(self, *given, **{**named, ignored: None})

    monkeypatch.setattr(model_class, "forward", wraps(forward)(ignoring))
    checks = tiny.load(folder_of(name))._checks
    assert checks.errors[way] > 100 * checks.limit
    assert way in checks.refused


def test_fnet_is_one(loaded: Loaded) -> None:
    """FNet, which mixes padding in like any token, is found out; the others are not."""
    single = [name for name in tiny.MODELS if loaded(name).description["batch_tokens"] == 1]
    assert single == ["fnet"]


def test_half_precision_is_not_disturbed(folder_of: FolderOf) -> None:
    """Rounding in bfloat16 is not taken for a disturbance."""
    model = tiny.load(folder_of("bert"), dtype="bfloat16", batch_tokens=512)
    assert model.description["dtype"] == "bfloat16"
    assert model.description["batch_tokens"] == 512
