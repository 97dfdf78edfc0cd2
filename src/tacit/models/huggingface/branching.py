"""Score multi-token answers; the keys and values of the text are computed only once."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tacit.models.huggingface.batching import how_many
from tacit.models.huggingface.logprobs import on_device, padded, read_off

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

    from tacit.models.huggingface.batching import Budget
    from tacit.models.huggingface.logprobs import Found, Row
    from tacit.models.huggingface.prefix_tree import Tree


class Forward(Protocol):
    """A causal model's forward pass, which returns logits only for requested positions."""

    def __call__(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        needed: Sequence[int],
        positions: torch.Tensor | None = None,
        **rest: object,
    ) -> Any: ...  # noqa: ANN401 - each architecture has an output class


@dataclass(frozen=True)
class _Trunks:
    """The common prefixes (trunks) of several prefix trees, computed in one batch."""

    trees: Sequence[Tree]
    mask: torch.Tensor
    cache: Any

    def begin(self, number: int) -> int:
        return len(self.trees[number].trunk)


def tree_cost(tree: Tree) -> int:
    """Return the number of tokens in all rows of a prefix tree, which determines memory use."""
    return sum(len(row.ids) for row in tree.rows)


def score_trees(
    trees: Sequence[Tree], forward: Forward, pad: int, device: torch.device, budget: Budget
) -> Found:
    """Return the log-probabilities (nats) of all tokens to score in the prefix trees."""
    trunks, found = _compute_trunks(trees, forward, pad, device)
    rows = [(number, row) for number, tree in enumerate(trees) for row in tree.rows]
    for chunk, cache in _chunks(rows, trunks, budget):
        found += _go_on(chunk, trunks, cache, forward, pad)
    return found


def _compute_trunks(
    trees: Sequence[Tree], forward: Forward, pad: int, device: torch.device
) -> tuple[_Trunks, Found]:
    ids, mask = padded([tree.trunk for tree in trees], pad, device, left=True)
    width = ids.shape[1]
    early = [
        [
            (read.position + width - len(tree.trunk), read)
            for row in tree.rows
            for read in row.reads
            if read.position < len(tree.trunk)
        ]
        for tree in trees
    ]
    needed = sorted({at for part in early for at, _ in part}) or [width - 1]
    column = {at: number for number, at in enumerate(needed)}
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    output = forward(ids, mask, needed, positions, use_cache=True)
    wanted = [[(column[at], read) for at, read in part] for part in early]
    return _Trunks(trees, mask, output.past_key_values), read_off(output.logits, wanted)


def _chunks(
    rows: Sequence[tuple[int, Row]], trunks: _Trunks, budget: Budget
) -> Iterator[tuple[Sequence[tuple[int, Row]], Any]]:
    """Divide rows (token sequences) into batches of limited size."""
    width = trunks.mask.shape[1]
    cost = max(width + len(row.ids) - trunks.begin(number) for number, row in rows)
    size = how_many(cost, budget)
    for at in range(0, len(rows), size):
        last = at + size >= len(rows)
        yield rows[at : at + size], trunks.cache if last else copy.deepcopy(trunks.cache)


def _go_on(
    chunk: Sequence[tuple[int, Row]],
    trunks: _Trunks,
    cache: Any,  # noqa: ANN401 - each architecture has a cache class
    forward: Forward,
    pad: int,
) -> Found:
    import torch

    device = trunks.mask.device
    which = on_device([number for number, _ in chunk], device)
    cache.batch_select_indices(which)
    before = trunks.mask[which]
    ids, mask = padded([row.ids[trunks.begin(n) :] for n, row in chunk], pad, device)
    steps = torch.arange(ids.shape[1], device=device)
    logits = forward(
        ids,
        torch.cat([before, mask], dim=1),
        range(ids.shape[1]),
        before.sum(-1, keepdim=True) + steps,
        past_key_values=cache,
        use_cache=True,
    ).logits
    late = [
        [(r.position - trunks.begin(n), r) for r in row.reads if r.position >= trunks.begin(n)]
        for n, row in chunk
    ]
    return read_off(logits, late)
