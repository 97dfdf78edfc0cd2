"""Divide token sequences (rows) into batches; halve the batch size if memory runs out."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.english import several
from tacit.errors import ScoringError

log = logging.getLogger(__name__)

# Each pass has a fixed cost, because it reads the weights again: on a CPU, up to that of 75 tokens
# in a pass of 2,048. Padding beyond that costs more than another pass.
_MOST_PADDING = 1 / 16


@dataclass(slots=True)
class Budget:
    """A limit on the number of tokens per forward pass, including padding; it can only decrease."""

    tokens: int
    apart: int | None = None

    def halve(self, tried: int) -> None:
        """Set ``tokens`` to half of ``tokens`` or of ``tried``, whichever is smaller."""
        smaller = min(self.tokens, tried) // 2
        if not smaller:
            raise ScoringError(
                "out of memory even with one sequence per batch; use a device with more memory"
            )
        self.tokens = smaller
        log.warning("out of memory: the batch size is reduced to %d tokens", self.tokens)


def how_many(cost: int, budget: Budget) -> int:
    """Return how many rows of ``cost`` tokens each fit in the budget; at least 1."""
    return max(1, budget.tokens // max(1, cost))


def _how_many_alike(costs: Sequence[int], budget: Budget) -> int:
    """Return how many of the first rows can form a batch without too much padding."""
    most = how_many(costs[0], budget)
    padding = 0
    for number, cost in enumerate(costs[:most]):
        padding += costs[0] - cost
        is_other = budget.apart is not None and costs[0] > budget.apart >= cost
        if is_other or padding > budget.tokens * _MOST_PADDING:
            return number
    return min(most, len(costs))


def in_batches(costs: Sequence[int], budget: Budget, forward: Callable[[list[int]], None]) -> None:
    """Sort rows by cost in descending order, and call ``forward`` on batches of the rows."""
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
                    f"the model failed on a batch of {several(len(batch), 'row')}: {error}"
                ) from error
            # A costly item may be a prompt of many rows, which smaller batches still help.
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
    message = str(error).lower()
    # cuBLAS has its own message if the GPU is almost full.
    return any(one in message for one in ("can't allocate memory", "out of memory", "alloc_failed"))
