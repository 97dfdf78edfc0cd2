"""Forward passes over batches of rows or packs; logits only where tokens are scored."""

from __future__ import annotations

import copy
import gc
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.english import several
from tacit.errors import ScoringError
from tacit.models.huggingface.packing import Ints, Pack, Reads, Rows

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

log = logging.getLogger(__name__)

# Each pass has a fixed cost, because it reads the weights again: on a CPU, up to that of 75 tokens
# in a pass of 2,048. Padding beyond that costs more than another pass.
_MOST_PADDING = 1 / 16

Floats = NDArray[np.float64]
R = TypeVar("R")


class TokenLogprobs(NamedTuple):
    """The log-probabilities, in nats, of answers' tokens, on the model's device.

    They are fetched only after all passes have been started, so that the host waits only once.
    """

    answers: Ints
    logprobs: torch.Tensor


@dataclass(slots=True)
class Budget:
    """A limit on the number of tokens per forward pass, including padding; it can only decrease.

    Rows of more than ``apart`` tokens share no batch with shorter ones.
    """

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


@dataclass
class Passes:
    """Runs a model within a budget of tokens; ``head`` computes logits at some positions only.

    ``splits`` is whether the head may be applied to a part of the vocabulary at a time; None if
    the next pass is to show it.
    """

    model: PreTrainedModel
    pad: int
    budget: Budget
    head: torch.nn.Module | None
    options: dict[str, Any] = field(default_factory=dict)
    splits: bool | None = field(init=False)

    def __post_init__(self) -> None:
        self.splits = None if _is_plain(self.head) else False

    @contextmanager
    def at_every_position(self) -> Iterator[None]:
        """Let the model compute logits at every position."""
        head, self.head = self.head, None
        try:
            yield
        finally:
            self.head = head

    def as_table(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows as token ids and their attention mask, of shape (rows, maximum length)."""
        mask = np.arange(rows.lengths.max()) < rows.lengths[:, None]
        ids = np.full(mask.shape, self.pad, np.int64)
        ids[mask] = rows.ids
        return self.on_device(ids), self.on_device(mask.astype(np.int64))

    def on_device(self, numbers: Ints) -> torch.Tensor:
        """Copy integers to the model's device, without waiting for the device."""
        import torch

        made = torch.from_numpy(numbers)
        if self.model.device.type == "cuda":
            made = made.pin_memory()
        return made.to(self.model.device, non_blocking=True)

    def logits(self, given: dict[str, Any], row: Ints, position: Ints) -> torch.Tensor:
        """Run the model; return the logits at some positions, of shape (positions, vocabulary)."""
        rows, columns = self.on_device(np.stack([row, position]))
        logits: torch.Tensor = self._output(given, rows, columns).logits
        if self.head is None:
            return logits[rows.to(logits.device), columns.to(logits.device)]
        return logits[0]

    def _output(self, given: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor) -> Any:  # noqa: ANN401 - a class of each architecture
        """Run the model; its logits are those at the given positions if ``head`` is not None."""
        import torch

        with torch.inference_mode(), _narrowed(self.head, rows, columns):
            return self.model(**self.options | given)

    def score(self, given: dict[str, Any], reads: Reads) -> TokenLogprobs:
        """Run the model once, and normalise over the vocabulary in float32."""
        import torch

        # Several answers may read the same position: normalise each position once.
        width = int(reads.position.max()) + 1
        distinct, which = np.unique(reads.row * width + reads.position, return_inverse=True)
        positions, head = np.divmod(distinct, width), self.head
        if self.splits is not False and isinstance(head, torch.nn.Linear):
            states = self._run_to_head(head, given, *positions)
            self.splits = states is not None
            if states is not None:
                return TokenLogprobs(reads.answer, _by_parts(head, states, which, reads.token))
        logits = self.logits(given, *positions)
        at, token = self.on_device(np.stack([which, reads.token])).to(logits.device)
        # In parts, because each part is copied to float once or twice.
        sums = torch.cat([part.float().logsumexp(dim=-1) for part in torch.split(logits, _PART)])
        return TokenLogprobs(reads.answer, logits[at, token].float() - sums[at])

    def _run_to_head(
        self, head: torch.nn.Linear, given: dict[str, Any], row: Ints, position: Ints
    ) -> torch.Tensor | None:
        """Run the model without its head; return the head's input at some positions.

        None if the model's logits are not exactly the head's output.
        """
        import torch

        rows, columns = self.on_device(np.stack([row, position]))
        # A cap, a scale or a bias would change it.
        number = torch.tensor(_STAND_IN)
        output = number.expand(1, len(row), head.out_features)
        states: list[torch.Tensor] = []

        def keep(every: torch.Tensor) -> torch.Tensor:
            states.append(every[rows, columns])
            return output

        vars(head)["forward"] = keep
        try:
            with torch.inference_mode():
                logits = self.model(**self.options | given).logits
        except RuntimeError as error:
            if _is_out_of_memory(error):
                raise
            return None  # the model changes its logits in place
        finally:
            del vars(head)["forward"]
        is_output = logits is output or torch.equal(logits, output)
        return states[0] if len(states) == 1 and is_output and number == _STAND_IN else None

    def batch(self, rows: Rows) -> TokenLogprobs:
        """Score padded rows in one pass."""
        ids, mask = self.as_table(rows)
        return self.score({"input_ids": ids, "attention_mask": mask}, rows.reads)

    def score_padded(self, rows: Rows) -> list[TokenLogprobs]:
        """Score rows in padded batches."""
        return in_batches(
            rows.lengths, self.budget, lambda batch: self.batch(rows.take(np.array(batch)))
        )

    def score_packed(self, packs: Sequence[Pack], cache: Any = None) -> list[TokenLogprobs]:  # noqa: ANN401 - a class of each architecture
        """Score packs; ``cache`` is that of their prefix, if they have one."""
        costs = [len(pack.tree.prefix) + len(pack.ids) for pack in packs]
        found = in_batches(costs, self.budget, partial(self._packed, packs, cache))
        return list(chain.from_iterable(found))

    def keys_and_values(self, prefix: Sequence[int]) -> Any:  # noqa: ANN401 - a class of each architecture
        """Compute the keys and values of a prefix."""
        if self.splits is None:
            # A pass that fills a cache cannot be repeated if the logits are not the head's output.
            self.batch(Rows.of([(self.pad,)], [(0, 0, self.pad, 0)]))
        own = np.array(prefix)
        ids, mask = self.on_device(np.stack([own, np.ones_like(own)])[:, None])
        given = {"input_ids": ids, "attention_mask": mask, "use_cache": True}

        def compute(_: object) -> Any:  # noqa: ANN401 - as above
            last = self.on_device(np.array([[0], [len(prefix) - 1]]))
            return self._output(given, *last).past_key_values

        (cache,) = in_batches([len(prefix)], self.budget, compute)
        return cache

    def _packed(
        self,
        every: Sequence[Pack],
        cache: Any,  # noqa: ANN401 - a class of each architecture
        batch: Sequence[int],
    ) -> list[TokenLogprobs]:
        """Score a batch of packs in one pass; a pack above the budget is cut."""
        import torch

        from tacit.models.huggingface.packed_attention import PIECES, PackedAttention, piece_of

        packs = [every[at] for at in batch]
        lengths = np.array([len(pack.ids) for pack in packs])
        longest, kept = int(lengths.max()), len(packs[0].tree.prefix)
        length = max(1, self.budget.tokens - kept)
        if longest > length and any(len(p.ids) > length and len(p.tree.rows) > 1 for p in packs):
            shorter = [part for pack in packs for part in pack.tree.cut(length)]
            return self.score_packed(list(map(Pack.of, shorter)), cache)
        piece = piece_of(longest) if longest > PIECES[-1] else longest
        is_token = np.arange(longest + -longest % piece) < lengths[:, None]
        table = np.zeros((3, *is_token.shape), np.int64)
        table[0] = self.pad
        columns = [(pack.ids, pack.ends, pack.depths) for pack in packs]
        table[:, is_token] = np.concatenate(columns, axis=1)
        ids, ends, depths = self.on_device(table)
        sees = torch.nn.functional.pad(sight(ends), (kept, 0), value=True)
        mask = torch.zeros(sees.shape, dtype=self.model.dtype, device=sees.device)
        mask.masked_fill_(~sees, torch.finfo(mask.dtype).min)
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "position_ids": depths}
        if cache is not None:
            own = copy.deepcopy(cache)
            own.batch_select_indices(torch.zeros(len(packs), dtype=torch.long))
            given |= {"past_key_values": own, "use_cache": True}
        row = np.repeat(np.arange(len(packs)), [len(pack.reads.row) for pack in packs])
        reads = Reads(*np.concatenate([pack.reads for pack in packs], axis=1))._replace(row=row)
        with PackedAttention(packs, sees, piece) if longest > piece else nullcontext():
            return [self.score(given, reads)]


_PART = 64
_LOGITS = 2**21
_STAND_IN = 64.0
_ONCE = 2


def sight(ends: torch.Tensor) -> torch.Tensor:
    """Return the attention mask for packs, with the shape (packs, 1, length, length)."""
    import torch

    index = torch.arange(ends.shape[1], device=ends.device)
    sees = (index[:, None] >= index) & (index[:, None] < ends[:, None, :])
    sees[:, :, 0] |= ends == 0  # padding sees a token too: softmax over none is not a number
    return sees.unsqueeze(1)


def _is_plain(head: torch.nn.Module | None) -> bool:
    """Return whether a head is a matrix of float32 in CPU memory."""
    import torch

    return (
        type(head) is torch.nn.Linear
        and type(head.weight) is torch.nn.Parameter  # no quantised one
        and head.weight.is_cpu
        and head.weight.dtype == torch.float32
        and "forward" not in vars(head)
    )


def _by_parts(
    head: torch.nn.Linear, states: torch.Tensor, which: Ints, tokens: Ints
) -> torch.Tensor:
    """Return tokens' log-probabilities; the logits of each part of the vocabulary fit in cache."""
    import torch

    linear, weight = torch.nn.functional.linear, head.weight
    with torch.inference_mode():
        words = max(1, _LOGITS // len(states))
        parts = torch.split(weight, words)
        biases = [None] * len(parts) if head.bias is None else torch.split(head.bias, words)
        pairs = zip(parts, biases, strict=True)
        sums = torch.stack([_log_sum_exp(linear(states, *pair)) for pair in pairs])
        at, token = torch.from_numpy(which), torch.from_numpy(tokens)
        own = (states[at] * weight[token]).sum(dim=-1)
        if head.bias is not None:
            own += head.bias[token]
        return own - sums.logsumexp(dim=0)[at]


def _log_sum_exp(logits: torch.Tensor) -> torch.Tensor:
    """Return ``logits.logsumexp(dim=-1)``, in less time on a CPU; overwrite ``logits``."""
    highest = logits.amax(dim=-1, keepdim=True)
    return logits.sub_(highest).exp_().sum(dim=-1).log_() + highest[:, 0]


@contextmanager
def _narrowed(
    head: torch.nn.Module | None, rows: torch.Tensor, columns: torch.Tensor
) -> Iterator[None]:
    """Compute logits only at the given positions, with the shape (1, positions, vocabulary)."""
    if head is None:
        yield
        return

    def cut(_head: object, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        # In a model on several devices, the head's device may differ from the input's.
        states = given[0][rows.to(given[0].device), columns.to(given[0].device)]
        return (states.unsqueeze(0), *given[1:])

    hook = head.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        hook.remove()


def on_host(values: torch.Tensor) -> NDArray[np.float32]:
    """Copy values to CPU memory after the device has computed them."""
    try:
        fetched: NDArray[np.float32] = values.cpu().numpy()
    except RuntimeError as error:
        raise ScoringError(f"the model failed on its device: {error}") from error
    return fetched


def totals(found: Sequence[TokenLogprobs], answers: int) -> Floats:
    """Return the sum of each answer's log-probabilities in nats, independent of their order."""
    read, logprobs = zip(*found, strict=True) if found else ((), ())
    which = np.concatenate([np.empty(0, np.int64), *read])
    values = np.concatenate([np.empty(0, np.float32), *map(on_host, logprobs)])
    if not np.isfinite(values).all():
        (wrong, *_) = values[~np.isfinite(values)].tolist()
        raise ScoringError(
            f"the model returned a log-probability of {wrong}; its number format may have "
            "overflowed: try --dtype float32"
        )
    counts = np.bincount(which, minlength=answers)
    sums = np.bincount(which, values.astype(np.float64), answers).astype(np.float64)
    # A sum of one or two numbers is rounded at most once, in any order. Longer sums are computed
    # exactly.
    order, ends = np.argsort(which, kind="stable"), np.cumsum(counts)
    for answer in np.flatnonzero(counts > _ONCE).tolist():
        own = order[ends[answer] - counts[answer] : ends[answer]]
        sums[answer] = math.fsum(values[own].tolist())
    return sums


def how_many(cost: int, budget: Budget) -> int:
    """Return how many rows of ``cost`` tokens each fit in the budget; at least 1."""
    return max(1, budget.tokens // max(1, cost))


def in_batches(
    costs: Sequence[int] | Ints, budget: Budget, forward: Callable[[list[int]], R]
) -> list[R]:
    """Sort rows by cost in descending order; return what ``forward`` returns for each batch.

    If memory runs out, the budget is halved, and the remaining rows are divided into new batches.
    Other exceptions of the model become a ``ScoringError``.
    """
    import torch

    found: list[R] = []
    costs = np.asarray(costs, np.int64)
    order = np.argsort(-costs, kind="stable")
    while len(order):
        own = costs[order[: how_many(int(costs[order[0]]), budget)]]
        is_alike = np.cumsum(own[0] - own) <= budget.tokens * _MOST_PADDING
        if budget.apart is not None:
            is_alike &= (own[0] <= budget.apart) | (own > budget.apart)
        batch = order[: np.logical_and.accumulate(is_alike).sum()].tolist()
        try:
            found.append(forward(batch))
        except Exception as error:
            if not _is_out_of_memory(error):
                if isinstance(error, ScoringError):
                    raise
                raise ScoringError(
                    f"the model failed on a batch of {several(len(batch), 'row')}: {error}"
                ) from error
            # A costly item may be a prompt of many rows, which smaller batches still help.
            budget.halve(int(own[0]) * len(batch))
        else:
            order = order[len(batch) :]
            continue
        # Outside the handler, so that the failed pass's tensors are no longer referenced.
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    return found


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    message = str(error).lower()
    # cuBLAS has its own message if the GPU is almost full.
    return any(one in message for one in ("can't allocate memory", "out of memory", "alloc_failed"))
