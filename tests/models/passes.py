"""Watching what goes through a model, and comparing what comes out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from tacit.models.huggingface.causal import CausalModel
from tacit.models.huggingface.masked import MaskedModel
from tacit.models.huggingface.seq2seq import Seq2SeqModel
from tacit.requests import Scores

Local = CausalModel | MaskedModel | Seq2SeqModel
Hook = Callable[[torch.nn.Module, tuple[object, ...], dict[str, Any]], None]

_PACKED = 4
"""Dimensions of a mask that says of each token which ones it sees."""


@dataclass(frozen=True)
class Pass:
    """One forward pass of a part: model, or encoder; ``tokens`` leaves padding out."""

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


def differences(ours: Sequence[Scores], theirs: Sequence[Scores]) -> list[float]:
    """How far apart two scorings are, answer by answer; all else is the same."""
    pairs = [
        pair
        for one, other in zip(ours, theirs, strict=True)
        for pair in zip(one.answers, other.answers, strict=True)
    ]
    assert all(replace(a, logprob=None) == replace(b, logprob=None) for a, b in pairs)
    assert all((a.logprob is None) is (b.logprob is None) for a, b in pairs)
    both = [(a.logprob, b.logprob) for a, b in pairs]
    return [abs(a - b) for a, b in both if a is not None and b is not None]
