"""Tiny models with random weights that write given words as single tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tests.models import tiny


def build(
    folder: Path, words: Sequence[str], kind: Literal["masked", "causal"], seed: int = 0
) -> None:
    """Writes a RoBERTa or a GPT-2 with a byte-level tokenizer that was trained on the words."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, RobertaConfig, RobertaForMaskedLM

    line = " ".join(words)
    make = tiny.gpt2_like if kind == "causal" else tiny.roberta_like
    tokenizer = make([f" {line}", f"A {line}"] * 3, 600)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "initializer_range": 0.5}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if kind == "causal":
            causal = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, **sizes)
            GPT2LMHeadModel(causal).save_pretrained(folder)
        else:
            layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
            sizes |= {"hidden_size": 32, "max_position_embeddings": 130, **layers}
            RobertaForMaskedLM(RobertaConfig(**sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
