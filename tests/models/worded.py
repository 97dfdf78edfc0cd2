"""Tiny models with random weights that write given words as single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from transformers import PreTrainedTokenizerFast


def build(
    folder: Path, words: Sequence[str], kind: Literal["masked", "causal"], seed: int = 0
) -> None:
    """Writes a RoBERTa or a GPT-2 with a byte-level tokenizer that was trained on the words."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, RobertaConfig, RobertaForMaskedLM

    tokenizer = _tokenizer(words, with_mask=kind == "masked")
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "initializer_range": 0.5}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if kind == "causal":
            config = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, **sizes)
            GPT2LMHeadModel(config).save_pretrained(folder)
        else:
            RobertaForMaskedLM(
                RobertaConfig(
                    hidden_size=32,
                    num_hidden_layers=2,
                    num_attention_heads=2,
                    intermediate_size=64,
                    max_position_embeddings=130,
                    **sizes,
                )
            ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer(words: Sequence[str], *, with_mask: bool) -> PreTrainedTokenizerFast:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    line = " ".join(words)
    backend.train_from_iterator([f" {line}", f"A {line}"] * 3, trainer)
    ends: dict[str, Any] = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    if not with_mask:
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
        return PreTrainedTokenizerFast(tokenizer_object=backend, **ends)
    mask = AddedToken("<mask>", lstrip=True, special=True)
    backend.add_special_tokens([mask])
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    more: dict[str, Any] = {"cls_token": "<s>", "sep_token": "</s>", "mask_token": mask}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ends, **more)
