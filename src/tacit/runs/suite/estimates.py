"""Estimate the size and the duration of each run of a suite, without running the suite."""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.requests import KINDS
from tacit.runs import asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
        yield from _of_model(model, [run for run in plan.runs if run.model == model])
        gc.collect()  # frees the model before the next one is loaded


def _of_model(model: str, runs: Sequence[PlannedRun]) -> Iterator[Estimate]:
    """Yield the estimates of one model's runs; the model is loaded at most once."""
    left = [run for run in runs if not run.finished]
    for run in runs:
        if run.finished:
            yield _estimate(run, {"to_ask": 0, "note": FINISHED})
    measured = [run for run in left if _measurable(run)]
    for run in left:
        if run not in measured:
            yield _estimate(run, _without_model(run))
    if not measured:
        return
    try:
        engine = measured[0].request.start(model)
    except TacitError as error:
        for run in measured:
            yield _estimate(run, {**_without_model(run), "note": None, "error": str(error)})
        return
    for run in measured:
        try:
            yield _estimate(run, run.request.estimated(model, engine))
        except TacitError as error:
            yield _estimate(run, {"error": str(error)})


def _measurable(run: PlannedRun) -> bool:
    """Return whether a run's prompts are known and a short trial of its model is possible."""
    return not run.request.chats(run.model) and _has_prompts(run) and _is_here(run, run.model)


def _has_prompts(run: PlannedRun) -> bool:
    """Return whether all prompts of a run can be determined without downloading a model."""
    request = run.request
    return not hasattr(request.made, "for_models") or all(
        _is_here(run, name) for name in request.models
    )


def _is_here(run: PlannedRun, model: str) -> bool:
    from tacit.models.loading import is_here

    return is_here(model, run.request.loading_of(model))


def _without_model(run: PlannedRun) -> Mapping[str, Any]:
    """Return the values of a run's estimate that can be computed without loading the model."""
    if run.request.chats(run.model):
        return run.request.cost(run.model)
    if not _has_prompts(run):
        return {"note": UNKNOWN}
    requests = asking.ungrouped(asking.requests_of(run.request.probes[run.model]))
    return {"prompts": len(requests), "distinct": _distinct(requests), "note": ELSEWHERE}


def _distinct(requests: Sequence[Request]) -> int:
    kinds = {type(one) for one in requests}
    return sum(len(KINDS[of].merge([one for one in requests if type(one) is of])) for of in kinds)


def _estimate(run: PlannedRun, found: Mapping[str, Any]) -> Estimate:
    """Create the estimate of a run from a mapping of estimated values."""
    described = run.described
    tokens = found.get("tokens", found.get("prompt_tokens"))
    names = ("prompts", "distinct", "to_ask", "seconds", "calls", "note", "error")
    return Estimate(
        run.name,
        run.model,
        described.get("family"),
        described.get("parameters"),
        tokens=tokens,
        **{name: found.get(name) for name in names},
    )
