"""Passes over packs: each token sees the tokens before it in its own inputs, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import ScoringError
from tacit.models.batching import how_many, in_batches
from tacit.models.narrowing import gathered
from tacit.models.packing import packs_of
from tacit.models.reading import Tally, on_device, padded, read_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedModel

    from tacit.models.batching import Budget
    from tacit.models.packing import Pack
    from tacit.models.reading import Read, Row

    # Values stay on the device until all passes are under way, so that the host need not wait.
    _Pending = tuple[list[Read], torch.Tensor]


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

    def score(self, rows: Sequence[Row], length: int) -> Tally:
        """What is read off rows in packs of at most so many tokens.

        Raises:
            ScoringError: The model fails.
        """
        packs = packs_of(rows, length)
        found: list[_Pending] = []
        in_batches(
            [len(pack.ids) for pack in packs],
            self.budget,
            lambda batch: found.extend(self._score([packs[i] for i in batch])),
        )
        tally = Tally()
        for reads, values in found:
            tally.add(zip((read.answer for read in reads), values.tolist(), strict=True))
        return tally

    def _score(self, packs: Sequence[Pack]) -> list[_Pending]:
        """One pass; where memory ran out since the packs were made, some, over shorter packs."""
        parts = [part for pack in packs for part in pack.again(self.budget.tokens)]
        size = how_many(max(len(part.ids) for part in parts), self.budget)
        return [self._pass(parts[at : at + size]) for at in range(0, len(parts), size)]

    def _pass(self, packs: Sequence[Pack]) -> _Pending:
        """All that is read off the packs, and its log-probabilities (nats)."""
        device = self.model.device
        reads = [(row, read) for row, pack in enumerate(packs) for read in pack.reads]
        distinct = dict.fromkeys((row, read.position) for row, read in reads)
        numbers = {place: number for number, place in enumerate(distinct)}
        rows, columns = on_device(list(distinct), device).unbind(-1)
        values = read_values(
            self._logits(packs, (rows, columns)),
            [numbers[row, read.position] for row, read in reads],
            [read.token for _, read in reads],
        )
        return [read for _, read in reads], values

    def _logits(
        self, packs: Sequence[Pack], places: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """The logits at places (row and column of each), of shape (places, vocabulary)."""
        import torch

        if self.body is None:
            raise ScoringError("its head cannot be used at chosen places only")
        from tacit.models.near import NearAttention, piece_of

        device, dtype = self.model.device, self.model.dtype
        length = max(len(pack.ids) for pack in packs)
        piece = piece_of(length)

        def filled(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
            """Of whole pieces."""
            return torch.nn.functional.pad(
                padded(rows, fill, device)[0], (0, -length % piece), value=fill
            )

        with torch.inference_mode(), gathered(self.body, *places):
            sees = sight(filled([pack.ends for pack in packs], 0))
            hidden = torch.finfo(dtype).min
            mask = torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill_(~sees, hidden)
            with NearAttention(packs, sees, piece):
                logits: torch.Tensor = self.model(
                    input_ids=filled([pack.ids for pack in packs], self.pad),
                    attention_mask=mask,
                    position_ids=filled([pack.depths for pack in packs], 0),
                    use_cache=False,
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
