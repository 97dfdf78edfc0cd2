from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates
from tests.models import tiny
from tests.models.passes import passes

if TYPE_CHECKING:
    from pathlib import Path


def test_the_mask_is_before_the_last_full_stop(tmp_path: Path) -> None:
    """A masked model sees the prompt, a space, the mask and a full stop."""
    model = tiny.load(tiny.save("bert", tmp_path))
    tokenizer = tiny.tokenizer_of("bert")
    short = [
        variant
        for variant in prompt_variants(load_templates())
        if variant.pair in (None, ("On", "Off"))
    ]
    for variant in (variant for variant in short if variant.meta in (1, 2, 5, 6)):
        prompt = variant.prompt("Is it a bird")
        with passes(model) as seen:
            (scores,) = model.answer([prompt])
        rows = {
            tuple(token for token in row if token != tokenizer.pad_token_id)
            for one in seen
            for row in one.arguments["input_ids"].tolist()
        }
        masked = {
            tuple(tokenizer(f"{prompt.text} {'[MASK]' * one.tokens}.")["input_ids"])
            for one in scores.answers
        }
        assert masked <= rows
