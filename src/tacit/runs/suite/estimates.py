"""Estimate the size and the duration of each run of a suite, without running the suite."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

from tacit.engine.ask import Engine
from tacit.errors import TacitError
from tacit.requests import KINDS
from tacit.runs import asking
from tacit.runs.suite.file import PlannedRun, Suite

FINISHED = "finished"
ELSEWHERE = "the model is not on this machine"
UNKNOWN = "the prompts depend on the vocabularies of all models, and not all are on this machine"

_VALUES = ("prompts", "distinct", "to_ask", "tokens", "seconds", "calls", "note", "error")


def estimates(suite: Suite) -> Iterator[dict[str, Any]]:
    """Yield the estimated size and duration of each run, model by model; None is unknown."""
    suite.check()
    for model in suite.models:
        engine: Engine | TacitError | None = None
        for run in suite.runs:
            if run.model == model:
                if engine is None and not run.finished and _can_be_measured(run):
                    engine = _started(run)
                estimate = _estimate(run, engine)
                estimate.setdefault("tokens", estimate.get("prompt_tokens"))
                values = {name: estimate.get(name) for name in _VALUES}
                yield {"run": run.name, "model": run.model, **values}
        del engine
        gc.collect()  # frees the model before the next one is loaded


def _started(run: PlannedRun) -> Engine | TacitError:
    try:
        return run.request.model(run.model).start()
    except TacitError as error:
        return error


def _estimate(run: PlannedRun, engine: Engine | TacitError | None) -> dict[str, Any]:
    if run.finished:
        return {"to_ask": 0, "note": FINISHED}
    if run.request.model(run.model).chats:
        return run.request.size(run.model)
    if not _has_prompts(run):
        return {"note": UNKNOWN}
    if engine is not None and not isinstance(engine, TacitError):
        try:
            return run.request.size(run.model, engine)
        except TacitError as error:
            return {"error": str(error)}
    requests = asking.ungrouped(asking.requests_of(run.request.probes[run.model]))
    of_kinds = [[one for one in requests if type(one) is kind] for kind in KINDS]
    distinct = sum(len(KINDS[type(of[0])].merge(of)) for of in of_kinds if of)
    reason = {"note": ELSEWHERE} if engine is None else {"error": str(engine)}
    return {"prompts": len(requests), "distinct": distinct, **reason}


def _can_be_measured(run: PlannedRun) -> bool:
    """Return whether a run's prompts are known and a short trial of its model is possible."""
    chats = run.request.model(run.model).chats
    return not chats and _has_prompts(run) and _is_here(run, run.model)


def _has_prompts(run: PlannedRun) -> bool:
    """Return whether all prompts of a run can be determined without downloading a model."""
    request = run.request
    return not request.made.ranks_vocabulary or all(_is_here(run, name) for name in request.models)


def _is_here(run: PlannedRun, model: str) -> bool:
    from tacit.models.loading import is_here

    return is_here(model, run.request.model(model).loading)
