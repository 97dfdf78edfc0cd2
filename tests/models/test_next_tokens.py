"""The likeliest next tokens, against one forward pass of transformers per prompt."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import FolderOf, Loaded

TEXTS = (
    "In a tree, the trunk is above the",
    "A bear has fur, is big, and has",
    "Is it?",
    "True or False? The egg yolk is inside the shell. The crown is part of a tree. It is a",
)
MOST = 8


def plain(name: str, folder: Path) -> list[tuple[int, float]]:
    """The likeliest ids after the texts, and their mean probabilities."""
    import torch
    import transformers

    kinds: dict[str, Any] = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }
    kind = tiny.ALL[name].kind
    model = kinds[kind].from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    total = torch.zeros(model.config.vocab_size, dtype=torch.float64)
    for text in TEXTS:
        filled = f"{text} {tokenizer.mask_token}." if kind == "masked" else text
        ids = tokenizer(filled, return_tensors="pt")["input_ids"]
        given, at = {"input_ids": ids}, -1
        if kind == "masked":
            at = ids[0].tolist().index(tokenizer.mask_token_id)
        if kind == "seq2seq":
            given["decoder_input_ids"] = torch.tensor([[model.config.decoder_start_token_id]])
        with torch.inference_mode():
            total += model(**given).logits[0, at].double().softmax(-1)
    best = total.topk(MOST)
    return list(zip(best.indices.tolist(), (best.values / len(TEXTS)).tolist(), strict=True))


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma3", "bert", "t5"])
def test_equal_to_one_pass_for_each_prompt(name: str, folder_of: FolderOf, loaded: Loaded) -> None:
    """Whatever the answers of a prompt are, and with padding."""
    prompts = [Prompt(text, ("bird", "a tree")) for text in TEXTS]
    model: Any = loaded(name)
    found = model.next_tokens(prompts, MOST)
    expected = plain(name, folder_of(name))
    for (token, probability), (number, other) in zip(found, expected, strict=True):
        assert probability == pytest.approx(other, abs=1e-5)
        assert token.strip() == str(model._tokenizer.decode([number])).strip()
    assert math.fsum(p for _, p in found) <= 1
