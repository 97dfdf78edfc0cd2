"""Models and engines as the command line uses them: loaded quietly, with progress shown."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli import progress
from tacit.english import several
from tacit.prompts import missing_by_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tacit.engine.ask import Engine
    from tacit.engine.plan import Plan, PlanOf, RankingPlan
    from tacit.engine.requests import Request
    from tacit.engine.store import Store
    from tacit.models.base import LanguageModel
    from tacit.models.loading import LoadOptions
    from tacit.prompts import LogProbs, Prompt
    from tacit.rankings import Ranking, RankingPrompt

_TRIAL = 16
_LISTED = 3


def store_at(place: str | None) -> Store:
    """The store at a place; without one the default."""
    from tacit.engine.store import Store

    return Store(place) if place else Store.default()


def load(name: str, options: LoadOptions, store: Store) -> LanguageModel:
    """Loads a model; its libraries' own progress bars and advice are not shown.

    Raises:
        ModelError: As ``tacit.models.loading.load_model``.
    """
    from tacit.models.loading import load_model

    tell_warnings()
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    hush()
    return load_model(name, options, store.hashes)


def tell_warnings() -> None:
    """Has what Tacit warns of said on standard error."""
    logging.basicConfig(format="tacit: %(message)s", level=logging.WARNING)


def check_places(names: Sequence[str], options: LoadOptions) -> None:
    """Refuses, before any model is loaded, what cannot be one.

    Raises:
        ModelError: As ``tacit.models.loading.check_place``.
    """
    from tacit.models.loading import check_place

    for name in names:
        check_place(name, options)


def hush() -> None:
    """Silence the advice and the progress bars of transformers, where it is installed.

    What huggingface_hub reports of its own is shown once, by its own handler.
    """
    logging.getLogger("huggingface_hub").propagate = False
    try:
        from transformers.utils import logging as advice
    except ImportError:
        return  # loading says what is missing
    advice.set_verbosity_error()
    advice.disable_progress_bar()


def ask(engine: Engine, prompts: Sequence[Prompt], plan: Plan) -> list[LogProbs]:
    """Asks what is planned, with progress, the rate and the time left on standard error.

    The prompts that were skipped are listed there, and the answers without a score are counted by
    reason, those in the store included.
    """
    tell_skipped(engine, plan)
    with progress.asking(plan) as advance:
        scores = engine.ask(prompts, plan, advance)
    for reason, count in missing_by_reason(scores).items():
        sys.stderr.write(
            f"tacit: {engine.model.name}: {several(count, 'answer has', 'answers have')} no "
            f"score: {reason}\n"
        )
    return scores


def rank(engine: Engine, prompts: Sequence[RankingPrompt], plan: RankingPlan) -> list[Ranking]:
    """As ``ask``, for prompts that rank a vocabulary."""
    tell_skipped(engine, plan)
    with progress.asking(plan) as advance:
        return engine.rank(prompts, plan, advance)


def tell_skipped(engine: Engine, plan: PlanOf[Request]) -> None:
    """Lists the first prompts that a plan skips on standard error."""
    from tacit.english import several

    if not plan.skipped:
        return
    sys.stderr.write(
        f"tacit: {engine.model.name}: skipped {several(len(plan.skipped), 'prompt')} longer than "
        "the model's window; the answers are missing (--strict refuses such a run)\n"
    )
    for reason in list(plan.skipped.values())[:_LISTED]:
        sys.stderr.write(f"tacit:   {reason}\n")
    if len(plan.skipped) > _LISTED:
        sys.stderr.write(f"tacit:   and {len(plan.skipped) - _LISTED:,} more\n")


def estimate(
    engine: Engine, prompts: Sequence[Prompt], blocks: Path | None = None
) -> dict[str, Any]:
    """What ``--dry-run`` tells; asks a few of the prompts, and keeps no answer.

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
    told = _told(len(prompts), plan, model.score, model.tokens)
    return _shared(told, engine)


def estimate_ranking(
    engine: Engine, prompts: Sequence[RankingPrompt], blocks: Path | None = None
) -> dict[str, Any]:
    """As ``estimate``, for prompts that rank a vocabulary.

    Raises:
        ModelError: The model ranks no vocabularies.
    """
    plan, ranker = engine.plan_rankings(prompts, blocks), engine.ranker
    told = _told(len(prompts), plan, ranker.rank, ranker.ranking_tokens)
    return _shared(told, engine)


def _told(
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


def _shared(told: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """The estimate with its time shared out among the engine's workers."""
    at_once = engine.crew.size if engine.crew else 1
    return {**told, "seconds": round(told["seconds"] / at_once, 1)}


def echo_estimate(told: dict[str, Any]) -> None:
    """Prints what ``--dry-run`` found, for a person."""
    from tacit.english import several

    name = f"{told['model']}: " if "model" in told else ""
    if "calls" in told:
        from tacit.cli.costs import Cost

        cost = Cost(*(told[key] for key in ("distinct", "calls", "prompt_tokens", "answer_tokens")))
        typer.echo(f"{name}{cost.told}\nNothing was asked.")
        return
    skipped = (
        f"to skip: {several(told['skipped'], 'prompt')} longer than the model's window\n"
        if told["skipped"]
        else ""
    )
    typer.echo(
        f"{name}{several(told['prompts'], 'prompt')}, {told['distinct']:,} distinct, "
        f"{told['stored']:,} of them in the store\n{skipped}"
        f"to ask: {several(told['to_ask'], 'prompt')}, {several(told['tokens'], 'token')}, "
        f"about {progress.duration(told['seconds'])} by a short trial\n"
        "Nothing was stored or written."
    )


def check_ranks(names: Sequence[str]) -> None:
    """Refuses servers where a whole vocabulary is to be ranked.

    Raises:
        ModelError: A name is a server's address.
    """
    from tacit.errors import ModelError
    from tacit.models.server.address import is_address

    for name in names:
        if is_address(name):
            raise ModelError(
                f"{name}: a server returns the most probable tokens alone, and this ranks a whole "
                "vocabulary: use a model in this process"
            )
