"""Run a probe on one model: send the probe's requests, and compute findings."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tacit.engine.ask import paused
from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.base import Answered, Answers, ReadsReplies
from tacit.requests import Scores, Votes, missing_by_reason
from tacit.runs.next_tokens import next_tokens
from tacit.runs.reporter import resumable
from tacit.strings import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.plan import Plan
    from tacit.findings.findings import Findings
    from tacit.models.loading import LoadOptions
    from tacit.probes.base import Probe, Requests
    from tacit.requests import Request
    from tacit.runs.folder import RunFolder
    from tacit.runs.reporter import Reporter

_LISTED = 3


def requests_of(probe: Probe) -> Mapping[str, Requests]:
    """Return a probe's requests in named groups: a mapping from group names to requests."""
    groups = probe.requests()
    for name, group in groups.items():
        if group.keys.height != len(group.requests) or group.keys.is_duplicated().any():
            raise RequestError(
                f"the probe has {several(len(group.requests), 'request')} {name!r} but "
                f"{several(group.keys.n_unique(), 'distinct key')}; each request needs a unique key"
            )
    return groups


def group_sizes(probe: Probe) -> dict[str, int]:
    """Return the number of requests in each group of a probe's requests."""
    return {name: len(group.requests) for name, group in requests_of(probe).items()}


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
        found = answers_to(requests, engine, plan, reporter, tokens)
        answers = grouped(groups, found)
        with resumable("all answers are stored"), paused():
            findings = probe.measure(answers)
        if not answers.sampled:
            scores = [one for one in found if isinstance(one, Scores)]
            findings = findings.unscored(missing_by_reason(scores)).skipped(plan.skipped.items())
        findings = findings.with_elicitation(engine.model.description.get("elicitation"))
        return folder.finish(findings.with_next_tokens(tokens()))


def grouped(groups: Mapping[str, Requests], found: Sequence[Any]) -> Answers:
    """Split a list of answers into groups, one for each group of requests."""
    left = iter(found)
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
    about = engine.model.description
    if about.get("preflight"):
        reporter.note(about["preflight"])
    if about.get("has_chat_template") and not about.get("chat"):
        reporter.note(
            f"{engine.model.name}: prompts are plain text, but its tokenizer has a chat template: "
            "add --chat to ask in its chat format"
        )
    _warn_of_skipped(engine.model.name, plan, reporter)

    def stored() -> str:
        return f"{engine.stored(plan):,} of {several(plan.distinct, 'answer')} stored"

    with resumable(stored), reporter.asking(plan) as advance:
        first()
        found = engine.ask(requests, plan, advance)
    _warn_of_missing(engine.model.name, found, reporter)
    _warn_of_unparsed(engine.model.name, found, reporter)
    return found


def check_replies(probe: object, *, sampled: bool) -> None:
    """Check that a probe's questions can be answered by chat replies."""
    if not isinstance(probe, ReadsReplies):
        raise RequestError(
            "this probe needs log-probabilities of whole texts, and a chat API returns none: use a "
            "local model, or a server with --api completions"
        )
    probe.check_replies(sampled=sampled)


def is_sampled(name: str, loading: LoadOptions) -> bool:
    """Return whether a model's answers are obtained by sampling replies."""
    from tacit.models.openai.options import is_address

    return is_address(name) and loading.server is not None and loading.server.samples is not None


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


def _warn_of_skipped(model: str, plan: Plan, reporter: Reporter) -> None:
    """Report the number of skipped prompts, and list the first few of them."""
    if not plan.skipped:
        return
    reporter.warn(
        f"{model}: skipped {several(len(plan.skipped), 'prompt')} longer than the model's context "
        "window; the answers are missing (with --strict, this is an error)"
    )
    # Prompts with the same beginning and length have the same message.
    shown = list(dict.fromkeys(plan.skipped.values()))[:_LISTED]
    for reason in shown:
        reporter.warn(f"  {reason}")
    if len(plan.skipped) > len(shown):
        reporter.warn(f"  and {len(plan.skipped) - len(shown):,} more")


def _warn_of_missing(model: str, found: Sequence[Any], reporter: Reporter) -> None:
    """Warn about answers without a score: one warning per reason for missing scores."""
    scores = [one for one in found if isinstance(one, Scores)]
    for reason, count in missing_by_reason(scores).items():
        reporter.warn(f"{model}: {several(count, 'answer has', 'answers have')} no score: {reason}")


def _warn_of_unparsed(model: str, found: Sequence[Any], reporter: Reporter) -> None:
    """Report how many replies could not be parsed as an answer."""
    votes = [one for one in found if isinstance(one, Votes)]
    unparsed = sum(each.unparsed for each in votes)
    truncated = sum(each.truncated for each in votes)
    if unparsed:
        replies = unparsed + sum(each.parsed for each in votes)
        cut = f", {truncated:,} of them cut off during reasoning" if truncated else ""
        reporter.warn(
            f"{model}: {unparsed:,} of {several(replies, 'reply', 'replies')} could not be parsed "
            f"as an answer{cut}"
        )
