"""Passes over packs: each token sees the tokens before it in its own inputs, and no others."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError
from tacit.models.huggingface.batching import how_many, in_batches
from tacit.models.huggingface.logprobs import (
    Tally,
    Values,
    gathered,
    on_device,
    padded,
    read_values,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedModel

    from tacit.models.huggingface.batching import Budget
    from tacit.models.huggingface.logprobs import Found
    from tacit.models.huggingface.packing import Pack
    from tacit.models.huggingface.prefix_tree import Ints


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """A beginning that was computed.

    Args:
        size: Its tokens.
        cache: Its keys and values; None of none.
    """

    size: int = 0
    cache: Any = None

    def given(self, rows: int) -> dict[str, Any]:
        """What a pass over some rows is given of it: a copy for each, which the pass may add to."""
        import torch

        if self.cache is None:
            return {"use_cache": False}
        cache = copy.deepcopy(self.cache)
        cache.batch_select_indices(torch.zeros(rows, dtype=torch.long))
        return {"use_cache": True, "past_key_values": cache}


@dataclass(frozen=True)
class Packer:
    """Scores rows in packs.

    Args:
        model: A causal model that takes positions.
        body: The part of it whose output its head sees; None where the head must see all.
        pad: Any token.
        budget: Tokens in one pass, padding included.
    """

    model: PreTrainedModel
    body: torch.nn.Module | None
    pad: int
    budget: Budget

    def score(self, packs: Sequence[Pack], tally: Tally, begin: tuple[int, ...] = ()) -> None:
        """Reads packs off.

        Args:
            packs: Those to score, behind what is kept.
            tally: Takes in what is read.
            begin: What all their rows begin with and is to be kept; nothing of it is read.

        Raises:
            ScoringError: The model fails.
        """
        kept = self._keep(begin)
        in_batches(
            [kept.size + len(pack) for pack in packs],
            self.budget,
            lambda batch: tally.add(self._score([packs[i] for i in batch], kept)),
        )

    def _keep(self, begin: tuple[int, ...]) -> CachedPrefix:
        """A beginning's keys and values."""
        caches: list[Any] = []

        def compute(_: object) -> None:
            import torch

            ids, mask = padded([begin], self.pad, self.model.device)
            last = on_device([[0], [len(begin) - 1]], self.model.device)
            with torch.inference_mode(), gathered(self._narrow, *last):
                caches.append(
                    self.model(input_ids=ids, attention_mask=mask, use_cache=True).past_key_values
                )

        in_batches([len(begin)] if begin else [], self.budget, compute)
        return CachedPrefix(len(begin), *caches)

    def _score(self, packs: Sequence[Pack], kept: CachedPrefix) -> Found:
        """One pass; where memory ran out since the packs were made, some, over shorter packs."""
        shorter = max(1, self.budget.tokens - kept.size)
        parts = [part for pack in packs for part in pack.again(shorter)]
        size = how_many(kept.size + max(map(len, parts)), self.budget)
        return [self._pass(parts[at : at + size], kept) for at in range(0, len(parts), size)]

    def _pass(self, packs: Sequence[Pack], kept: CachedPrefix) -> Values:
        """All that is read off the packs."""
        device = self.model.device
        width = max(map(len, packs))
        each = [number * width + pack.reads.position for number, pack in enumerate(packs)]
        # Many answers may be read at one place: each place is normalised once.
        distinct, which = np.unique(np.concatenate(each), return_inverse=True)
        rows, columns = on_device(np.stack([distinct // width, distinct % width]), device)
        values = read_values(
            self._logits(packs, kept, (rows, columns)),
            which,
            np.concatenate([pack.reads.token for pack in packs]),
        )
        return Values(np.concatenate([pack.reads.answer for pack in packs]), values)

    @property
    def _narrow(self) -> torch.nn.Module:
        if self.body is None:
            raise ScoringError("its head cannot be used at chosen places only")
        return self.body

    def _logits(
        self, packs: Sequence[Pack], kept: CachedPrefix, places: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """The logits at places (row and column of each), of shape (places, vocabulary)."""
        import torch

        from tacit.models.huggingface.packed_attention import PackedAttention, piece_of

        device, dtype = self.model.device, self.model.dtype
        length = max(map(len, packs))
        piece = piece_of(length)

        def filled(rows: Sequence[Ints], fill: int) -> torch.Tensor:
            """Of whole pieces."""
            table = np.full((len(rows), length + -length % piece), fill, np.int64)
            for number, row in enumerate(rows):
                table[number, : len(row)] = row
            return on_device(table, device)

        with torch.inference_mode(), gathered(self._narrow, *places):
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
        return logits[0]


def sight(ends: torch.Tensor) -> torch.Tensor:
    """Which tokens each token sees, of shape (packs, 1, length, length); True where it does.

    Args:
        ends: Of shape (packs, length), as ``Pack.ends``; 0 for padding, which no token sees, and
            which sees the first token, since softmax over nothing is no number.
    """
    import torch

    index = torch.arange(ends.shape[1], device=ends.device)
    sees = (index[:, None] >= index) & (index[:, None] < ends[:, None, :])
    sees[:, :, 0] |= ends == 0
    return sees.unsqueeze(1)
