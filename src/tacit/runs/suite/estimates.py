"""Estimate the size and the duration of each run of a suite, without running the suite."""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.requests import KINDS
from tacit.runs import asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.engine.ask import Engine
    from tacit.requests import Request
    from tacit.runs.suite.plan import Plan, PlannedRun


@dataclass(frozen=True)
class Estimate:
    """The estimated size and duration of one run. Unknown values are None."""

    run: str
    model: str
    family: str | None = None
    parameters: str | None = None
    prompts: int | None = None
    distinct: int | None = None
    to_ask: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    calls: int | None = None
    note: str | None = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all values of the estimate as a dict that can be written as JSON."""
        return asdict(self)


FINISHED = "finished"
ELSEWHERE = "the model is not on this machine"
UNKNOWN = "the prompts depend on the vocabularies of all models, and not all are on this machine"


def estimates(plan: Plan) -> Iterator[Estimate]:
    """Yield the estimated size and duration of each run, model by model."""
    plan.check()
    for model in [entry.name for entry in plan.file.models]:
        engine: Engine | TacitError | None = None
        for run in [run for run in plan.runs if run.model == model]:
            if not run.finished and _measurable(run) and engine is None:
                engine = _started(run)
            yield _estimate(run, _found(run, engine))
        del engine
        gc.collect()  # frees the model before the next one is loaded


def _started(run: PlannedRun) -> Engine | TacitError:
    try:
        return run.request.start(run.model)
    except TacitError as error:
        return error


def _found(run: PlannedRun, engine: Engine | TacitError | None) -> Mapping[str, Any]:
    """Return the values of a run's estimate by the names of their fields."""
    if run.finished:
        return {"to_ask": 0, "note": FINISHED}
    if run.request.chats(run.model):
        return run.request.size(run.model)
    if not _has_prompts(run):
        return {"note": UNKNOWN}
    if engine is not None and not isinstance(engine, TacitError):
        try:
            return run.request.size(run.model, engine)
        except TacitError as error:
            return {"error": str(error)}
    requests = asking.ungrouped(asking.requests_of(run.request.probes[run.model]))
    reason = {"note": ELSEWHERE} if engine is None else {"error": str(engine)}
    return {"prompts": len(requests), "distinct": _distinct(requests), **reason}


def _measurable(run: PlannedRun) -> bool:
    """Return whether a run's prompts are known and a short trial of its model is possible."""
    return not run.request.chats(run.model) and _has_prompts(run) and _is_here(run, run.model)


def _has_prompts(run: PlannedRun) -> bool:
    """Return whether all prompts of a run can be determined without downloading a model."""
    request = run.request
    return not request.made.ranks_vocabulary or all(_is_here(run, name) for name in request.models)


def _is_here(run: PlannedRun, model: str) -> bool:
    from tacit.models.loading import is_here

    return is_here(model, run.request.loading_of(model))


def _distinct(requests: Sequence[Request]) -> int:
    kinds = {type(one) for one in requests}
    return sum(len(KINDS[of].merge([one for one in requests if type(one) is of])) for of in kinds)


def _estimate(run: PlannedRun, found: Mapping[str, Any]) -> Estimate:
    """Create the estimate of a run from a mapping of estimated values."""
    names = {field.name for field in fields(Estimate)}
    values = {"tokens": found.get("prompt_tokens"), **run.described, **found}
    known = {name: value for name, value in values.items() if name in names}
    return Estimate(run.name, run.model, **known)
