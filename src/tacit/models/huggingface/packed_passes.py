"""Forward passes over packs, in which a token attends only to its own prompt's tokens."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError
from tacit.models.huggingface.batching import Budget, how_many, in_batches
from tacit.models.huggingface.logprobs import (
    Found,
    Tally,
    Values,
    captured,
    is_plain,
    narrowed,
    on_device,
    padded,
    read_states,
    read_values,
)
from tacit.models.huggingface.packing import Pack
from tacit.models.huggingface.prefix_tree import Ints

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """A token prefix that several packs share, with its cached keys and values."""

    size: int = 0
    cache: Any = None

    def given(self, rows: int) -> dict[str, Any]:
        """Return the arguments that pass the cache to the model, for a given number of rows."""
        import torch

        if self.cache is None:
            return {"use_cache": False}
        cache = copy.deepcopy(self.cache)
        cache.batch_select_indices(torch.zeros(rows, dtype=torch.long))
        return {"use_cache": True, "past_key_values": cache}


@dataclass(frozen=True)
class Packer:
    """Scores token sequences, several of which are packed into one row."""

    model: PreTrainedModel
    head: torch.nn.Module | None
    pad: int
    budget: Budget
    splits: bool = False

    def score(self, packs: Sequence[Pack], tally: Tally, begin: tuple[int, ...] = ()) -> None:
        """Score packs, and add the log-probabilities to a tally, which has one sum per answer."""
        kept = self._keep(begin)
        in_batches(
            [kept.size + len(pack) for pack in packs],
            self.budget,
            lambda batch: tally.add(self._score([packs[i] for i in batch], kept)),
        )

    def _keep(self, begin: tuple[int, ...]) -> CachedPrefix:
        """Compute and cache the keys and values of a prefix."""
        caches: list[Any] = []

        def compute(_: object) -> None:
            import torch

            ids, mask = padded([begin], self.pad, self.model.device)
            last = on_device([[0], [len(begin) - 1]], self.model.device)
            with torch.inference_mode(), narrowed(self._head, *last):
                caches.append(
                    self.model(input_ids=ids, attention_mask=mask, use_cache=True).past_key_values
                )

        in_batches([len(begin)] if begin else [], self.budget, compute)
        return CachedPrefix(len(begin), *caches)

    def _score(self, packs: Sequence[Pack], kept: CachedPrefix) -> Found:
        """Score packs in one pass, or in several passes over shorter packs if memory is short."""
        shorter = max(1, self.budget.tokens - kept.size)
        parts = [part for pack in packs for part in pack.again(shorter)]
        size = how_many(kept.size + max(map(len, parts)), self.budget)
        return [self._pass(parts[at : at + size], kept) for at in range(0, len(parts), size)]

    def _pass(self, packs: Sequence[Pack], kept: CachedPrefix) -> Values:
        """Run one pass and return the log-probabilities of all tokens to score in the packs."""
        import torch

        device = self.model.device
        width = max(map(len, packs))
        each = [number * width + pack.reads.position for number, pack in enumerate(packs)]
        # Several answers may read the same position: normalise each position once.
        distinct, which = np.unique(np.concatenate(each), return_inverse=True)
        rows, columns = on_device(np.stack([distinct // width, distinct % width]), device)
        tokens = np.concatenate([pack.reads.token for pack in packs])
        head = self._head
        with torch.inference_mode():
            if self.splits and is_plain(head):
                with captured(head) as states:
                    self._forward(packs, kept)
                values = read_states(states[0][rows, columns], head, which, tokens)
            else:
                with narrowed(head, rows, columns):
                    logits = self._forward(packs, kept)
                values = read_values(logits[0], which, tokens)
        return Values(np.concatenate([pack.reads.answer for pack in packs]), values)

    @property
    def _head(self) -> torch.nn.Module:
        if self.head is None:
            raise ScoringError("the head cannot be restricted to some positions")
        return self.head

    def _forward(self, packs: Sequence[Pack], kept: CachedPrefix) -> torch.Tensor:
        """Run the model, and return its logits."""
        import torch

        from tacit.models.huggingface.packed_attention import PackedAttention, piece_of

        device, dtype = self.model.device, self.model.dtype
        length = max(map(len, packs))
        piece = piece_of(length)

        def filled(rows: Sequence[Ints], fill: int) -> torch.Tensor:
            """Return the rows as a padded table whose width is a multiple of ``piece``."""
            table = np.full((len(rows), length + -length % piece), fill, np.int64)
            for number, row in enumerate(rows):
                table[number, : len(row)] = row
            return on_device(table, device)

        sees = torch.nn.functional.pad(
            sight(filled([pack.ends for pack in packs], 0)), (kept.size, 0), value=True
        )
        hidden = torch.finfo(dtype).min
        mask = torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill_(~sees, hidden)
        with PackedAttention(packs, sees, piece):
            logits: torch.Tensor = self.model(
                input_ids=filled([pack.ids for pack in packs], self.pad),
                attention_mask=mask,
                position_ids=filled([pack.depths for pack in packs], 0) + kept.size,
                **kept.given(len(packs)),
            ).logits
        return logits


def sight(ends: torch.Tensor) -> torch.Tensor:
    """Return the attention mask for packs, with the shape (packs, 1, length, length)."""
    import torch

    index = torch.arange(ends.shape[1], device=ends.device)
    sees = (index[:, None] >= index) & (index[:, None] < ends[:, None, :])
    sees[:, :, 0] |= ends == 0
    return sees.unsqueeze(1)
