"""Asks a model what a probe requests: prompts that are scored, ranked or answered by replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.base import Answered, Answers, ReadsReplies, Requests
from tacit.prompts import missing_by_reason
from tacit.rankings import RankingPrompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.plan import PlanOf
    from tacit.engine.requests import Request
    from tacit.engine.store import Store
    from tacit.engine.voting import DrawPlan, VotingEngine
    from tacit.findings.findings import Findings
    from tacit.models.loading import LoadOptions
    from tacit.probes.base import Probe
    from tacit.prompts import LogProbs, Prompt, Votes
    from tacit.rankings import Ranking
    from tacit.runs.folder import RunFolder
    from tacit.runs.reporter import Reporter

_LISTED = 3


@dataclass(frozen=True)
class Wanted:
    """What a probe requests, by kind.

    Args:
        groups: The requests in named groups.

    Raises:
        RequestError: Two requests of a group have the same key.
    """

    groups: Mapping[str, Requests]

    def __post_init__(self) -> None:
        for name, group in self.groups.items():
            if group.keys.height != len(group.requests) or group.keys.is_duplicated().any():
                raise RequestError(
                    f"the probe gives {len(group.requests):,} requests {name!r} "
                    f"{group.keys.n_unique():,} different keys; each request needs its own"
                )

    @property
    def rankings(self) -> list[RankingPrompt]:
        """The prompts that rank a vocabulary."""
        return [r for g in self.groups.values() for r in g.requests if _ranks(r)]  # type: ignore[misc]

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts whose answers are scored."""
        return [r for g in self.groups.values() for r in g.requests if not _ranks(r)]  # type: ignore[misc]

    def answers(self, scored: Sequence[Any], ranked: Sequence[Ranking]) -> Mapping[str, Answered]:
        """The answers, in the order of ``prompts`` and ``rankings``, by group."""
        left, rest = iter(scored), iter(ranked)
        return {
            name: Answered(
                group.keys, [next(rest if _ranks(one) else left) for one in group.requests]
            )
            for name, group in self.groups.items()
        }


def _ranks(request: object) -> bool:
    return isinstance(request, RankingPrompt)


def ask(probe: Probe, engine: Engine, folder: RunFolder, reporter: Reporter) -> Findings:
    """Asks a model that scores, and measures.

    Args:
        probe: What is asked.
        engine: Who asks.
        folder: The run; its manifest has begun with ``begin``, which is called here once it is
            known that all can be asked.
        reporter: Who is told of it.
    """
    wanted = Wanted(probe.requests())
    prompts, rankings = wanted.prompts, wanted.rankings
    scoring = engine.plan(prompts, folder.blocks)
    ranking = engine.plan_rankings(rankings, folder.ranking_blocks) if rankings else None
    folder.begin({"model": dict(engine.model.description), "engine": engine.description})
    with folder.failing():
        ranked: list[Ranking] = []
        skipped: list[Any] = []
        if ranking is not None:
            if folder.ranking_blocks is not None:
                ranking.record(folder.ranking_blocks)
            _warn_of_skipped(engine.model.name, ranking, reporter)
            with reporter.asking(ranking) as advance:
                ranked = engine.rank(rankings, ranking, advance)
            skipped += ranking.skipped.items()
        scores = _score(engine, prompts, scoring, folder, reporter) if prompts else []
        skipped += scoring.skipped.items()
        findings = probe.measure(Answers(wanted.answers(scores, ranked)))
        findings = findings.unscored(missing_by_reason(scores)).skipped(skipped)
        return folder.finish(findings.obtained(engine.model.description.get("obtained")))


def _score(
    engine: Engine,
    prompts: Sequence[Prompt],
    plan: PlanOf[Prompt],
    folder: RunFolder,
    reporter: Reporter,
) -> list[LogProbs]:
    if folder.blocks is not None:
        plan.record(folder.blocks)
    return score(engine, prompts, plan, reporter)


def score(
    engine: Engine, prompts: Sequence[Prompt], plan: PlanOf[Prompt], reporter: Reporter
) -> list[LogProbs]:
    """Asks what is planned; skipped prompts and answers without a score are told."""
    _warn_of_skipped(engine.model.name, plan, reporter)
    with reporter.asking(plan) as advance:
        scores = engine.ask(prompts, plan, advance)
    for reason, count in missing_by_reason(scores).items():
        reporter.warn(
            f"{engine.model.name}: {several(count, 'answer has', 'answers have')} no score: "
            f"{reason}"
        )
    return scores


def sample(probe: Probe, engine: VotingEngine, folder: RunFolder, reporter: Reporter) -> Findings:
    """Asks a model for replies, and measures the votes."""
    wanted = Wanted(probe.requests())
    prompts = wanted.prompts
    plan = engine.plan(prompts)
    folder.begin({"model": dict(engine.model.description)})
    with folder.failing():
        votes = vote(engine, prompts, plan, reporter)
        findings = probe.measure(Answers(wanted.answers(votes, ()), sampled=True))
        return folder.finish(findings.obtained(engine.model.description["obtained"]))


def vote(
    engine: VotingEngine,
    prompts: Sequence[Prompt],
    plan: DrawPlan,
    reporter: Reporter,
) -> list[Votes]:
    """Asks for the replies that are planned; how many could not be read is told."""
    with reporter.asking(plan) as advance:
        votes = engine.ask(prompts, plan, advance)
    unparsed = sum(each.unparsed for each in votes)
    truncated = sum(each.truncated for each in votes)
    if unparsed:
        replies = unparsed + sum(each.parsed for each in votes)
        cut = f", {truncated:,} of them cut while it was thinking" if truncated else ""
        reporter.warn(
            f"{engine.model.name}: {unparsed:,} of {several(replies, 'reply is', 'replies are')} "
            f"no answer for certain{cut}"
        )
    return votes


def check_replies(probe: object, *, sampled: bool) -> None:
    """Refuses, before any cost, a probe that replies in a chat cannot answer.

    Raises:
        RequestError: It needs log-probabilities of whole texts.
    """
    if not isinstance(probe, ReadsReplies):
        raise RequestError(
            "this probe needs log-probabilities of whole texts, which replies in a chat do not "
            "give: use a model that gives them"
        )
    probe.check_replies(sampled=sampled)


def is_sampled(name: str, loading: LoadOptions) -> bool:
    """Whether a model's replies are to be sampled."""
    from tacit.models.server.address import is_address

    return is_address(name) and loading.server is not None and loading.server.samples is not None


def voting_engine(name: str, loading: LoadOptions, store: Store) -> VotingEngine:
    """An engine that samples one model.

    Raises:
        ModelError: As ``tacit.models.server.chatting.load_sampled``.
    """
    from tacit.engine.voting import VotingEngine
    from tacit.models.server import chatting
    from tacit.models.server.address import ServerOptions

    kept = store.hashes.path.parent if store.hashes.path else None
    options = loading.server or ServerOptions()
    return VotingEngine(chatting.load_sampled(name, options, kept), store)


def _warn_of_skipped(model: str, plan: PlanOf[Request], reporter: Reporter) -> None:
    """Lists the first prompts that a plan skips."""
    if not plan.skipped:
        return
    reporter.warn(
        f"{model}: skipped {several(len(plan.skipped), 'prompt')} longer than the model's window; "
        "the answers are missing (--strict refuses such a run)"
    )
    for reason in list(plan.skipped.values())[:_LISTED]:
        reporter.warn(f"  {reason}")
    if len(plan.skipped) > _LISTED:
        reporter.warn(f"  and {len(plan.skipped) - _LISTED:,} more")
