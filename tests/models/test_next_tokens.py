"""The likeliest next tokens, against one forward pass of transformers per prompt."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.requests import Prompt
from tests.models import plain
from tests.models.conftest import FolderOf, Loaded

TEXTS = (
    "In a tree, the trunk is above the",
    "A bear has fur, is big, and has",
    "Is it?",
    "True or False? The egg yolk is inside the shell. The crown is part of a tree. It is a",
)
MOST = 8


def likeliest(name: str, folder: Path) -> list[tuple[int, float]]:
    model = plain.load(name, folder)
    mask = model.tokenizer.mask_token
    rows, decoder = [], {}
    if model.kind == "seq2seq":
        decoder["decoder_input_ids"] = [model.model.config.decoder_start_token_id]
    for text in TEXTS:
        ids = model.tokenizer(f"{text} {mask}." if mask else text)["input_ids"]
        at = ids.index(model.tokenizer.mask_token_id) if mask else -1
        rows.append(model._logits(ids, **decoder)[at].exp())
    best = torch.stack(rows).mean(0).topk(MOST)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma3", "bert", "t5"])
def test_equal_to_one_pass_for_each_prompt(name: str, folder_of: FolderOf, loaded: Loaded) -> None:
    prompts = [Prompt(text, ("bird", "a tree")) for text in TEXTS]
    model: Any = loaded(name)
    found = model.next_tokens(prompts, MOST)
    expected = likeliest(name, folder_of(name))
    for (token, probability), (number, other) in zip(found, expected, strict=True):
        assert probability == pytest.approx(other, abs=1e-5)
        assert token.strip() == str(model._tokenizer.decode([number])).strip()
    assert math.fsum(p for _, p in found) <= 1
