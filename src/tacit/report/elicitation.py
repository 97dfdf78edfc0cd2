"""How the beliefs of runs were elicited, and a warning where that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.base import probes
from tacit.runs.comparison import warnings_of_elicitation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.runs.reading import Run


def elicitation_text(run: Run) -> str:
    """The sentences that say it, and how many answers have no score or could not be read."""
    votes = run.summary.get("votes")
    if votes is None:
        return " ".join((f"Elicitation: {run.elicitation}.", *_unscored(run)))
    cut = f", {votes['truncated']:,} of them cut while thinking" if votes["truncated"] else ""
    return (
        f"Elicitation: {run.elicitation}; {votes['unparsed']:,} of "
        f"{several(votes['replies'], 'reply is', 'replies are')} "
        f"no answer for certain and count as none{cut}."
    )


def skipped_notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """A sentence on the prompts that were too long; none if no prompt was.

    Args:
        summary: A run's summary.
        listed: Whether a run's folder lists the prompts.
    """
    count = summary.get("skipped")
    if count:
        where = " (findings/skipped.parquet lists the prompts)" if listed else ""
        yield (
            f"{several(count, 'prompt')} skipped, longer than the model's window: the answers are "
            f"missing{where}"
        )


def _unscored(run: Run) -> Iterator[str]:
    for sentence in skipped_notes(run.summary):
        yield f"{sentence}."
    for reason, count in run.summary.get("unscored", {}).items():
        yield f"{several(count, 'answer')} without a score: {reason}."


def differing(runs: Sequence[Run]) -> list[str]:
    """A warning for each probe whose runs were not answered in one way."""
    warnings = []
    for probe in probes():
        mine = [run for run in runs if run.probe == probe]
        warnings += warnings_of_elicitation(probe, {run.name: run.elicitation for run in mine})
    return warnings


def elicitation_notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """A sentence; none for a run that does not say. Of sampled replies also how many were read.

    Args:
        summary: A run's summary.
        listed: Whether a run's folder lists the prompts that were skipped.
    """
    if "elicitation" not in summary:
        return
    yield f"Elicitation: {summary['elicitation']}"
    yield from skipped_notes(summary, listed=listed)
    votes = summary.get("votes")
    if votes is not None:
        cut = f", {votes['truncated']:,} of them cut while thinking" if votes["truncated"] else ""
        yield (
            f"{votes['unparsed']:,} of {several(votes['replies'], 'reply is', 'replies are')} no "
            f"answer for certain and count as none{cut}"
        )
