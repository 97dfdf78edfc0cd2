"""Whether a row scores the same beside a longer one, measured with made-up rows.

Most models mask padding out. Some do not, or not everywhere (FNet, ConvBERT, Funnel, Nystromformer,
Reformer), and then give another log-probability, without a word, to whatever stands in a batch.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.models.huggingface.adapters import quantised
from tacit.models.huggingface.batching import Budget, in_batches
from tacit.models.huggingface.logprobs import Read, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from transformers import PreTrainedModel

    from tacit.models.huggingface.logprobs import Found

T = TypeVar("T")


def made_up(vocabulary: int, longest: int) -> tuple[Row, Row]:
    """A row of few tokens and one of ``longest``, read at every position."""
    spread = [1 + (i * 7919) % (vocabulary - 1) for i in range(longest)]
    short, long = (
        Row(tuple(ids), [Read(at, spread[0], number) for at in range(len(ids))])
        for number, ids in enumerate((spread[: 1 + longest // 4], spread[::-1]))
    )
    return short, long


def padding_difference(score: Callable[[Sequence[T]], Found], rows: Sequence[T]) -> float:
    """The largest difference, in nats, between rows scored in one batch and each alone.

    Raises:
        ScoringError: The model fails.
    """

    def scored(most: int) -> list[float]:
        found: Found = []
        in_batches(
            [1] * len(rows),
            Budget(most),
            lambda batch: found.extend(score([rows[i] for i in batch])),
        )
        return [float(value) for one in found for value in one.fetched()[1]]

    return max(abs(a - b) for a, b in zip(scored(len(rows)), scored(1), strict=True))


def tolerance(model: PreTrainedModel, size: float = 0.0) -> float:
    """What rounding alone may change in a log-probability of a few tokens, in nats.

    Some quantised layers round each token by what else is in a pass. Logits in half precision are
    as far apart as their size has them: 0.25 between 32 and 64 in bfloat16.

    Args:
        model: What gives the log-probabilities.
        size: Of its logits, as ``sizes_of_logits`` measures it.
    """
    import torch

    exact = model.dtype in {torch.float32, torch.float64} and quantised(model.config) is None
    return 1e-4 if exact else 0.1 + torch.finfo(model.dtype).eps * size


@contextmanager
def sizes_of_logits(model: PreTrainedModel) -> Iterator[list[float]]:
    """Fills up with how large the logits of each pass are: the likeliest, or one in the middle."""
    sizes: list[float] = []

    def measure(_model: object, _given: object, output: Any) -> None:  # noqa: ANN401 - any model's class
        logits = output.logits.float()
        # Not the largest of all: some models have minus infinity for tokens that they never write.
        typical = (logits.amax(dim=-1), logits.median(dim=-1).values)
        sizes.extend(float(logit.abs().max()) for logit in typical)

    hook = model.register_forward_hook(measure)
    try:
        yield sizes
    finally:
        hook.remove()
