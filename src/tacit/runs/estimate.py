"""What a run would ask, and about how long it would take: a plan, and a short trial."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tacit.engine.ask import Engine
    from tacit.engine.plan import PlanOf
    from tacit.engine.requests import Request
    from tacit.prompts import Prompt
    from tacit.rankings import RankingPrompt

_TRIAL = 16


def estimate(
    engine: Engine, prompts: Sequence[Prompt], blocks: Path | None = None
) -> dict[str, Any]:
    """What ``--dry-run`` shows; asks a few of the prompts, and keeps no answer.

    Args:
        engine: Whom to ask, with the store that may hold some answers already.
        prompts: What would be asked.
        blocks: Where a run's blocks are recorded.

    Returns:
        ``prompts``, ``distinct``, ``stored``, ``skipped`` (longer than the model's window),
        ``to_ask``, ``tokens`` of these, and ``seconds`` as a short trial makes them (0 when there
        is nothing to ask).
    """
    plan, model = engine.plan(prompts, blocks), engine.model
    return _shared(_counted(len(prompts), plan, model.score, model.tokens), engine)


def estimate_ranking(
    engine: Engine, prompts: Sequence[RankingPrompt], blocks: Path | None = None
) -> dict[str, Any]:
    """As ``estimate``, for prompts that rank a vocabulary.

    Raises:
        ModelError: The model ranks no vocabularies.
    """
    plan, ranker = engine.plan_rankings(prompts, blocks), engine.ranker
    return _shared(_counted(len(prompts), plan, ranker.rank, ranker.ranking_tokens), engine)


def _counted(
    prompts: int,
    plan: PlanOf[Request],
    work: Callable[[Sequence[Request]], object],
    cost: Callable[[Sequence[Request]], list[int]],
) -> dict[str, Any]:
    """What a plan comes to, with its time by a short trial of the work."""
    planned = [prompt for block in plan.blocks for prompt in block.prompts]
    seconds = 0.0
    if planned:
        trial = planned[:: max(1, len(planned) // _TRIAL)][:_TRIAL]
        work(trial[:1])  # the first pass also pays for what happens once
        begun = time.monotonic()
        work(trial)
        seconds = (time.monotonic() - begun) * plan.tokens / sum(cost(trial))
    return {
        "prompts": prompts,
        "distinct": plan.distinct,
        "stored": plan.stored,
        "skipped": len(plan.skipped),
        "to_ask": plan.prompts,
        "tokens": plan.tokens,
        "seconds": round(seconds, 1),
    }


def _shared(counted: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """The estimate with its time shared out among the engine's workers."""
    workers = engine.crew.size if engine.crew else 1
    return {**counted, "seconds": round(counted["seconds"] / workers, 1)}
