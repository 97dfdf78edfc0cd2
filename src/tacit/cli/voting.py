"""How a probe, or a file of prompts, is carried out on a model whose replies are sampled."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tacit.english import several
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.engine.store import Store
    from tacit.engine.voting import DrawPlan, VotingEngine
    from tacit.models.loading import LoadOptions
    from tacit.probes.findings import Findings
    from tacit.prompts import Prompt, Votes
    from tacit.runs import Run


@runtime_checkable
class ReadsVotes(Protocol):
    """A probe that can be answered by sampled replies."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        """What is asked."""
        ...

    def check_votes(self) -> None:
        """Refuses what replies cannot tell.

        Raises:
            RequestError: Something of the probe needs log-probabilities.
        """
        ...

    def measure_votes(self, votes: Sequence[Votes]) -> Findings:
        """Findings from the votes on each prompt."""
        ...


def is_sampled(name: str, loading: LoadOptions) -> bool:
    """Whether a model's replies are to be sampled."""
    from tacit.models.server.address import is_address

    return is_address(name) and loading.server is not None and loading.server.samples is not None


def votable(probe: object) -> ReadsVotes:
    """A probe as one that reads votes.

    Raises:
        RequestError: It needs log-probabilities.
    """
    if not isinstance(probe, ReadsVotes):
        raise RequestError(
            "sampled replies rank no vocabulary: use a model that gives log-probabilities"
        )
    probe.check_votes()
    return probe


def engine_of(name: str, loading: LoadOptions, store: Store) -> VotingEngine:
    """An engine that samples one model.

    Raises:
        ModelError: As ``tacit.models.server.chatting.load_sampled``.
    """
    from tacit.engine.pace import Pace
    from tacit.engine.voting import VotingEngine
    from tacit.models.server.address import ServerOptions
    from tacit.models.server.chatting import load_sampled
    from tacit.models.server.sampled import TOGETHER

    options = loading.server or ServerOptions()
    kept = store.hashes.path.parent if store.hashes.path else None
    model = load_sampled(name, options, kept)
    together = TOGETHER if model.description["several_at_once"] else 1
    return VotingEngine(model, store, Pace(options.concurrency), together)


def ask_a_model(
    probe: object, engine: VotingEngine, folder: Run, about: Mapping[str, Any]
) -> Findings:
    """Asks what the probe asks, measures, and keeps the run's folder true to how it went.

    Args:
        probe: What to ask, and how to measure it.
        engine: Whom to ask.
        folder: The run.
        about: What the manifest says beside the model.

    Raises:
        RequestError: The probe needs log-probabilities.
    """
    reader = votable(probe)
    plan = engine.plan(reader.prompts)
    folder.begin({"model": dict(engine.model.description), **about})
    with folder.failing():
        findings = reader.measure_votes(ask(engine, reader.prompts, plan))
        findings = findings.obtained(engine.model.description["obtained"])
        folder.finish(findings)
    return findings


def score_line(votes: Votes) -> dict[str, Any]:
    """What ``tacit score`` writes of a prompt: each answer's votes and share, with its interval."""
    from tacit.statistics.shares import wilson

    rows = []
    for answer, count in votes.counts.items():
        share = wilson(count, votes.parsed)
        rows.append({"answer": answer, "votes": count, "share": share.value})
        rows[-1] |= {"low": share.low, "high": share.high}
    return {"votes": rows, "unparsed": votes.unparsed, "truncated": votes.truncated}


def ask(engine: VotingEngine, prompts: Sequence[Prompt], plan: DrawPlan) -> list[Votes]:
    """Asks what is planned, with a bar; how many replies could not be read is said."""
    from tacit.cli import progress

    with progress.asking(plan) as advance:
        votes = engine.ask(prompts, plan, advance)
    unparsed = sum(each.unparsed for each in votes)
    truncated = sum(each.truncated for each in votes)
    if unparsed:
        replies = unparsed + sum(each.parsed for each in votes)
        cut = f", {truncated:,} of them cut while it was thinking" if truncated else ""
        sys.stderr.write(
            f"tacit: {engine.model.name}: {unparsed:,} of "
            f"{several(replies, 'reply is', 'replies are')} no answer for "
            f"certain{cut}\n"
        )
    return votes
