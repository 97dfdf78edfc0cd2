"""Watching what goes through a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from tacit.models.huggingface.causal import CausalModel
from tacit.models.huggingface.masked import MaskedModel
from tacit.models.huggingface.seq2seq import Seq2SeqModel

Local = CausalModel | MaskedModel | Seq2SeqModel
Hook = Callable[[torch.nn.Module, tuple[object, ...], dict[str, Any]], None]

_PACKED = 4
"""Dimensions of a mask that says of each token which ones it sees."""


@dataclass(frozen=True)
class Pass:
    """One forward pass.

    Args:
        part: The model's part: model, or encoder.
        rows: How many sequences went in.
        tokens: How many tokens, padding left out.
        padded: How many tokens, padding included.
        arguments: All that the model was given by name.
        is_packed: Whether the sequences are packs.
    """

    part: str
    rows: int
    tokens: int
    padded: int
    arguments: dict[str, Any]
    is_packed: bool


@contextmanager
def passes(model: Local) -> Iterator[list[Pass]]:
    """The forward passes that are made inside the block, in order."""
    seen: list[Pass] = []

    def watch(part: str) -> Hook:
        def hook(_module: object, _given: object, arguments: dict[str, Any]) -> None:
            own = "decoder_" if "decoder_input_ids" in arguments else ""
            ids = arguments[f"{own}input_ids"]
            mask = arguments[f"{own}attention_mask"]
            is_packed = mask.ndim == _PACKED
            # A packed token sees itself, behind what was kept, and padding does not.
            kept = mask.shape[-1] - ids.shape[1]
            there = mask.diagonal(kept, 2, 3) == 0 if is_packed else mask[:, -ids.shape[1] :]
            seen.append(Pass(part, len(ids), int(there.sum()), ids.numel(), arguments, is_packed))

        return hook

    watched = [model._model.register_forward_pre_hook(watch("model"), with_kwargs=True)]
    if model.kind == "seq2seq":
        encoder = model._model.get_encoder()
        watched.append(encoder.register_forward_pre_hook(watch("encoder"), with_kwargs=True))
    try:
        yield seen
    finally:
        for hook in watched:
            hook.remove()
