"""How many tokens, and how much arithmetic, scoring takes: what was computed and what is needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from ranking import Clock  # type: ignore[import-not-found]  # beside this file
from transformers import PreTrainedModel

from tacit.models.huggingface.local import LocalModel
from tacit.requests import Prompt


@dataclass
class Work:
    """What goes through a model.

    Args:
        tokens: Through its layers.
        pairs: Of tokens, one of which looks at the other.
        heads: Through its head, which gives a vocabulary's logits.
    """

    tokens: int = 0
    pairs: int = 0
    heads: int = 0

    def watch(self, model: PreTrainedModel) -> None:
        """Adds up all that the model computes from now on, padding included."""

        def embed(_module: object, given: tuple[torch.Tensor, ...], _output: object) -> None:
            ids = given[0]
            self.tokens += ids.numel()
            self.pairs += ids.numel() * ids.shape[-1]

        def head(_module: object, _given: object, output: torch.Tensor) -> None:
            self.heads += output.numel() // output.shape[-1]

        several = model.config.is_encoder_decoder
        for part in (model.get_encoder(), model.get_decoder()) if several else (model,):
            part.get_input_embeddings().register_forward_hook(embed)
        model.get_output_embeddings().register_forward_hook(head)
        self._watch_pieces()

    def _watch_pieces(self) -> None:
        """Counts what packs look at in pieces as what it is, and not as whole rows."""
        from tacit.models.huggingface.packed_attention import PackedAttention

        make = PackedAttention.__init__

        def made(near: PackedAttention, packs: Any, sees: torch.Tensor, piece: int) -> None:  # noqa: ANN401 - as it is
            make(near, packs, sees, piece)
            rows, _, length, _ = sees.shape
            if length > piece:
                self.pairs += rows * length * (near._keys.shape[-1] - length)  # noqa: SLF001 - no other tells

        PackedAttention.__init__ = made  # type: ignore[method-assign,assignment] # in its own process


def needed(model: LocalModel, prompts: Iterable[Prompt]) -> Work:
    """The prefix tree of all inputs: each distinct beginning once, and the head where it is read.

    A token looks at those before it and at itself.
    """
    inputs: set[tuple[int, ...]] = set()
    places: set[tuple[int, ...]] = set()
    for prompt in prompts:
        for answer in prompt.answers:
            (one,) = model.inputs(prompt, answer)
            inputs.add(one.ids[:-1])
            places.update(one.ids[:at] for at in one.scored)
    work = Work(heads=len(places))
    before: tuple[int, ...] = ()
    for ids in sorted(inputs):
        shared = next(
            (at for at, (a, b) in enumerate(zip(before, ids, strict=False)) if a != b),
            min(len(before), len(ids)),
        )
        work.tokens += len(ids) - shared
        work.pairs += sum(range(shared + 1, len(ids) + 1))
        before = ids
    return work


@dataclass(frozen=True)
class Shape:
    """Of a causal model.

    Args:
        matrices: The sizes of all its layers' weights, from numbers in to numbers out.
        attends: The numbers of a token that all layers' attention looks at.
        width: What goes into its head.
        vocabulary: What comes out.
    """

    matrices: tuple[tuple[int, int], ...]
    attends: int
    width: int
    vocabulary: int

    @classmethod
    def of(cls, model: PreTrainedModel) -> Shape:
        """Reads it off the modules and the config."""
        import torch
        from transformers.pytorch_utils import Conv1D

        config: Any = model.config
        head: Any = model.get_output_embeddings()
        linear = [one for one in model.modules() if isinstance(one, torch.nn.Linear | Conv1D)]
        sizes = [(one, tuple(one.weight.shape)) for one in linear if one is not head]
        matrices = [(a, b) if isinstance(one, Conv1D) else (b, a) for one, (a, b) in sizes]
        heads, layers = config.num_attention_heads, config.num_hidden_layers
        each = getattr(config, "head_dim", None) or config.hidden_size // heads
        vocabulary, width = head.weight.shape
        return cls(tuple(matrices), layers * heads * each, width, vocabulary)

    def flops(self, work: Work) -> float:
        """Two for each weight and token, and four for each number that a token looks at."""
        body = 2.0 * work.tokens * sum(a * b for a, b in self.matrices)
        looked = 4.0 * work.pairs * self.attends
        return body + looked + 2.0 * work.heads * self.width * self.vocabulary


def peak(shape: Shape, tokens: int, work: Work, like: torch.Tensor) -> float:
    """FLOP/s of a device at the model's own matrix products, in the share that work has them.

    Args:
        shape: The model's.
        tokens: In one pass.
        work: What is asked, whose share of the head counts.
        like: Of the model's device and number format.
    """
    import torch

    heads = max(1, round(tokens * work.heads / work.tokens))
    products = [(tokens, a, b) for a, b in shape.matrices]
    given = {
        size: (like.new_empty(size[:2]).normal_(), like.new_empty(size[1:]).normal_())
        for size in {*products, (heads, shape.width, shape.vocabulary)}
    }
    best = dict.fromkeys(given, float("inf"))
    for _ in range(5):
        for size, (one, other) in given.items():
            clock = Clock(str(like.device))
            with clock:
                torch.matmul(one, other)
            best[size] = min(best[size], clock.worked)
    sizes = [*products, (heads, shape.width, shape.vocabulary)]
    return sum(2.0 * a * b * c for a, b, c in sizes) / sum(best[size] for size in sizes)


def largest_peak(like: torch.Tensor, size: int = 2048) -> float:
    """FLOP/s of a device at one large square matrix product, the best of five."""
    import torch

    one, other = like.new_empty(size, size).normal_(), like.new_empty(size, size).normal_()
    best = float("inf")
    for _ in range(5):
        clock = Clock(str(like.device))
        with clock:
            torch.matmul(one, other)
        best = min(best, clock.worked)
    return 2.0 * size**3 / best
