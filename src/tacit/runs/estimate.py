"""What a run would ask, and about how long it would take: a plan, and a short trial."""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.engine.ask import Engine
    from tacit.engine.plan import Block
    from tacit.models.base import LanguageModel
    from tacit.requests import Request

_TRIAL = 16


def estimate(
    engine: Engine, requests: Sequence[Request], blocks: Path | None = None
) -> dict[str, Any]:
    """What ``--dry-run`` shows; asks a few of the requests, and keeps no answer.

    Args:
        engine: Whom to ask, with the store that may hold some answers already.
        requests: What would be asked.
        blocks: Where a run's blocks are recorded.

    Returns:
        ``prompts``, ``distinct``, ``stored``, ``skipped`` (longer than the model's window),
        ``to_ask``, ``tokens`` of these, and ``seconds`` as a short trial makes them, shared out
        among the engine's workers (0 when there is nothing to ask).
    """
    plan = engine.plan(requests, blocks)
    parts = groupby(plan.blocks, key=lambda block: block.kind.folder)
    seconds = sum(_seconds(engine.model, list(part)) for _, part in parts)
    workers = engine.executor.size if engine.executor else 1
    return {
        "prompts": len(requests),
        "distinct": plan.distinct,
        "stored": plan.stored,
        "skipped": len(plan.skipped),
        "to_ask": plan.prompts,
        "tokens": plan.tokens,
        "seconds": round(seconds / workers, 1),
    }


def _seconds(model: LanguageModel, blocks: Sequence[Block]) -> float:
    """How long blocks of one kind take, by a few of their requests."""
    planned = [request for block in blocks for request in block.requests]
    trial = planned[:: max(1, len(planned) // _TRIAL)][:_TRIAL]
    model.answer(trial[:1])  # the first pass also pays for what happens once
    begun = time.monotonic()
    model.answer(trial)
    seconds = time.monotonic() - begun
    return seconds * sum(block.tokens for block in blocks) / sum(model.cost(trial))
