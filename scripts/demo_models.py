# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""The demo's tokenizers and the two architectures, before anything is learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo_rows import BEGIN, END, MASK, PAD, SPECIAL, UNKNOWN
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

WINDOW = 128
# The usual 0.02 is meant for wider models; from there these learn little for hundreds of steps.
_SPREAD = 0.06


@dataclass(frozen=True)
class Size:
    """How large a model is, and its steps.

    Args:
        batch: Lessons in a step.
        width: Of the hidden states.
        layers: How many.
        rates: The highest learning rate of each kind; it rises at first, and falls to the
            end of a stage.
        vocabulary: At most so many tokens.
    """

    batch: int = 128
    width: int = 144
    layers: int = 3
    rates: Mapping[str, float] = field(default_factory=lambda: {"causal": 2.5e-3, "masked": 1.5e-3})
    vocabulary: int = 4096


def make_tokenizer(texts: Iterable[str], kind: str, most: int) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of these texts; a masked model's puts a text between <s> and </s>."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=most,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    if kind == "masked":
        ends = [(token, SPECIAL.index(token)) for token in (BEGIN, END)]
        bpe.post_processor = processors.TemplateProcessing(
            single=f"{BEGIN} $A {END}", special_tokens=ends
        )
    names = {"bos_token": BEGIN, "eos_token": END, "pad_token": PAD, "unk_token": UNKNOWN}
    more = {"mask_token": MASK} if kind == "masked" else {}
    return PreTrainedTokenizerFast(tokenizer_object=bpe, model_max_length=WINDOW, **names, **more)


def make_model(kind: str, vocabulary: int, size: Size) -> Any:  # noqa: ANN401 - a model of either class
    """A model of random weights."""
    heads = max(1, size.width // 48)
    if kind == "causal":
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=vocabulary,
                n_positions=WINDOW,
                n_embd=size.width,
                n_layer=size.layers,
                n_head=heads,
                initializer_range=_SPREAD,
                activation_function="relu",
                attn_implementation="eager",
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
                bos_token_id=0,
                eos_token_id=2,
            )
        )
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=vocabulary,
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=heads,
            initializer_range=_SPREAD,
            intermediate_size=4 * size.width,
            hidden_act="relu",
            attn_implementation="eager",
            max_position_embeddings=WINDOW + 2,
            type_vocab_size=1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
        )
    )


def save(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:  # noqa: ANN401 - a model of either class
    """Writes the model's folder, its weights as fp16."""
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
