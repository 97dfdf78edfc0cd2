"""Batches of rows of tokens under a budget that halves when memory runs out."""

from __future__ import annotations

import gc
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)

# A pass costs something however few its tokens are (the weights are read once more): on a processor
# as much as 75 tokens of 2,048 did. Padding beyond that is dearer than one more pass.
_MOST_PADDING = 1 / 16


@dataclass(slots=True)
class Budget:
    """How many tokens, padding included, one forward pass may take; it only ever shrinks.

    Args:
        tokens: So many.
        apart: Rows of more tokens than this are never beside others; None for no such limit.
    """

    tokens: int
    apart: int | None = None

    def halve(self, tried: int) -> None:
        """Halves the budget, or the tokens that were too many, for the rest of the run.

        Raises:
            ScoringError: There is nothing left to halve.
        """
        smaller = min(self.tokens, tried) // 2
        if not smaller:
            raise ScoringError("out of memory with a single row of tokens; use a larger device")
        self.tokens = smaller
        log.warning("out of memory: going on with batches of %d tokens", self.tokens)


def how_many(cost: int, budget: Budget) -> int:
    """How many rows of a cost in tokens fit the budget: one at least, however long it is."""
    return max(1, budget.tokens // max(1, cost))


def _how_many_alike(costs: Sequence[int], budget: Budget) -> int:
    """How many of the first rows, costliest first, make a batch that is not padding too much."""
    most = how_many(costs[0], budget)
    padding = 0
    for number, cost in enumerate(costs[:most]):
        padding += costs[0] - cost
        is_other = budget.apart is not None and costs[0] > budget.apart >= cost
        if is_other or padding > budget.tokens * _MOST_PADDING:
            return number
    return min(most, len(costs))


def in_batches(costs: Sequence[int], budget: Budget, forward: Callable[[list[int]], None]) -> None:
    """Hands the rows to ``forward`` in batches, the costliest first, equal ones in their order.

    A batch ends where the budget does, or where rows are so much shorter that another is cheaper.

    Args:
        costs: Tokens per row.
        budget: Halved when ``forward`` runs out of memory; the batch is then tried again, smaller.
        forward: Takes the indices of a batch's rows.

    Raises:
        ScoringError: Memory ran out with a single row, or the model failed.
    """
    import torch

    order = sorted(range(len(costs)), key=lambda row: -costs[row])
    while order:
        most = order[: how_many(costs[order[0]], budget)]
        batch = most[: _how_many_alike([costs[row] for row in most], budget)]
        try:
            forward(batch)
        except Exception as error:
            if not _is_out_of_memory(error):
                raise ScoringError(
                    f"the model failed on a batch of {len(batch)} rows: {error}"
                ) from error
            # What costs much may be a prompt of many rows, which smaller batches still help.
            budget.halve(costs[batch[0]] * len(batch))
        else:
            order = order[len(batch) :]
            continue
        # Outside the handler, so that the failed pass's tensors are no longer referenced.
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error).lower()
