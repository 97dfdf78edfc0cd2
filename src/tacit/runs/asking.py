"""Run a probe on one model: send the probe's requests, and compute findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from tacit.engine.ask import Engine, Plan, without_gc
from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.findings import Findings, votes_summary
from tacit.probes.base import Answered, Answers, Probe, Requests
from tacit.requests import Request, Scores, Votes, missing_by_reason
from tacit.runs.folder import RunFolder
from tacit.runs.notes import dependence, missing, next_tokens
from tacit.runs.reporter import Reporter, resumable
from tacit.strings import shown

_LISTED = 3


def requests_of(probe: Probe) -> Mapping[str, Requests]:
    """Return a probe's requests in named groups: a mapping from group names to requests."""
    groups = probe.requests()
    for name, group in groups.items():
        if group.keys.height != len(group.requests):
            raise RequestError(
                f"the probe has {several(len(group.requests), 'request')} {name!r} but "
                f"{several(group.keys.height, 'key')}; each request needs a key"
            )
        repeated = group.keys.filter(group.keys.is_duplicated())
        if not repeated.is_empty():
            key = repeated.row(0)
            rows = [str(n) for n, row in enumerate(group.keys.iter_rows(), 1) if row == key]
            texts = [f"{of} {value!r}" for of, value in zip(repeated.columns, key, strict=True)]
            raise RequestError(
                f"the rows {', '.join(rows)} of the requests {name!r} have the same key "
                f"({', '.join(texts)}); each request needs a unique key"
            )
    return groups


def ungrouped(groups: Mapping[str, Requests]) -> list[Request]:
    """Return the requests of all groups as one list, in the order of the groups."""
    return [request for group in groups.values() for request in group.requests]


def ask(probe: Probe, engine: Engine, folder: RunFolder, reporter: Reporter) -> Findings:
    """Send a probe's requests to a model, and compute findings from the answers."""
    groups = requests_of(probe)
    requests = ungrouped(groups)
    with resumable("this run has requested no answer yet"):
        plan = engine.plan(requests, folder.blocks)
    folder.begin({"model": dict(engine.model.description), "engine": engine.description})
    _warn_of_repeated(groups, reporter)
    with folder.failing():
        if folder.blocks is not None:
            plan.record(folder.blocks)
        # First, so that an interrupted run has them as well when it is resumed.
        tokens = cache(partial(next_tokens, engine, plan))
        depends = cache(partial(dependence, engine, plan))
        every = answers_to(requests, engine, plan, reporter, lambda: (tokens(), depends()))
        answers = grouped(groups, every)
        with resumable("all answers are stored"), without_gc():
            findings = probe.measure(answers)
        if not answers.sampled:
            scores = [one for one in every if isinstance(one, Scores)]
            unscored = missing_by_reason(scores)
            findings = findings.with_summary(unscored=unscored).skipped(plan.skipped.items())
        elicitation = engine.model.description.get("elicitation")
        known = {
            "elicitation": elicitation,
            "next_tokens": tokens(),
            "dependence": depends(),
        }
        return folder.finish(findings.with_summary(**{k: v for k, v in known.items() if v}))


def grouped(groups: Mapping[str, Requests], answers: Sequence[Any]) -> Answers:
    """Split a list of answers into groups, one for each group of requests."""
    left = iter(answers)
    return Answers(
        {
            name: Answered(group.keys, [next(left) for _ in group.requests])
            for name, group in groups.items()
        }
    )


def answers_to(
    requests: Sequence[Request],
    engine: Engine,
    plan: Plan,
    reporter: Reporter,
    first: Callable[[], object] = lambda: None,
) -> list[Any]:
    """Send the planned requests to the engine's model, and return the model's answers."""
    about, name = engine.model.description, engine.model.name
    if about.get("preflight"):
        reporter.note(about["preflight"])
    if about.get("has_chat_template") and not about.get("chat"):
        reporter.note(
            f"{name}: prompts are plain text, but its tokenizer has a chat template: "
            "add --chat to ask in its chat format"
        )
    if plan.skipped:
        reporter.warn(f"{name}: {_skipped(plan)}")

    def stored() -> str:
        return f"{engine.stored(plan):,} of {several(plan.distinct, 'answer')} stored"

    with resumable(stored), reporter.asking(plan) as advance:
        first()
        answers = engine.ask(requests, plan, advance)
    scores = [one for one in answers if isinstance(one, Scores)]
    votes = [one for one in answers if isinstance(one, Votes)]
    summary = {"unscored": missing_by_reason(scores), "votes": votes_summary(votes)}
    for line in missing(summary):
        reporter.warn(f"{name}: {line}")
    return answers


def _warn_of_repeated(groups: Mapping[str, Requests], reporter: Reporter) -> None:
    """Report how many requests are the same although their keys differ."""
    for name, group in groups.items():
        times = Counter(() if group.repeats else group.requests)
        repeated = [one for one, count in times.items() if count > 1]
        if repeated:
            reporter.warn(
                f"{sum(times[one] for one in repeated):,} of "
                f"{several(len(group.requests), 'prompt')} ({name}) are the same text as another, "
                f"so they get the same answer: {shown(repeated[0].text)}"
            )


def _skipped(plan: Plan) -> str:
    """Say how many prompts were skipped, with the reasons for the first few."""
    # Prompts with the same beginning and length have the same message.
    reasons = list(dict.fromkeys(plan.skipped.values()))[:_LISTED]
    more = len(plan.skipped) - len(reasons)
    first = (
        f"skipped {several(len(plan.skipped), 'prompt')} longer than the model's context window; "
        "the answers are missing (with --strict, this is an error)"
    )
    return "\n  ".join([first, *reasons, *([f"and {more:,} more"] if more else [])])
