"""Text on how each run elicited answers, and warnings if runs differ in the elicitation method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.base import probes
from tacit.runs.comparison import warnings_of_elicitation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.runs.reading import Run


def elicitation_text(run: Run) -> str:
    """Return sentences on a run's elicitation method, and on unscored or unparsed answers."""
    votes = run.summary.get("votes")
    if votes is None:
        return " ".join((f"Elicitation: {run.elicitation}.", *_unscored(run)))
    return f"Elicitation: {run.elicitation}; {_unparsed(votes)}."


def skipped_notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield a sentence on the number of prompts that were skipped as too long, unless it is 0.

    Args:
        summary: A run's summary.
        listed: Whether the run's folder contains a list of the skipped prompts.
    """
    count = summary.get("skipped")
    if count:
        where = " (listed in findings/skipped.parquet)" if listed else ""
        yield (
            f"{several(count, 'prompt is', 'prompts are')} longer than the model's context window "
            f"and therefore skipped{where}; the answers to skipped prompts are missing"
        )


def _unscored(run: Run) -> Iterator[str]:
    for sentence in skipped_notes(run.summary):
        yield f"{sentence}."
    for reason, count in run.summary.get("unscored", {}).items():
        yield f"{several(count, 'answer has', 'answers have')} no score: {reason}."


def differing(runs: Sequence[Run]) -> list[str]:
    """Return a warning for each probe whose runs have different elicitation methods."""
    warnings = []
    for probe in probes():
        mine = [run for run in runs if run.probe == probe]
        warnings += warnings_of_elicitation(probe, {run.name: run.elicitation for run in mine})
    return warnings


def elicitation_notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield notes on a run's elicitation method, skipped prompts, and unparsed sampled replies.

    A summary without an elicitation method results in no notes.

    Args:
        summary: A run's summary.
        listed: Whether the run's folder contains a list of the skipped prompts.
    """
    if "elicitation" not in summary:
        return
    yield f"Elicitation: {summary['elicitation']}"
    yield from skipped_notes(summary, listed=listed)
    votes = summary.get("votes")
    if votes is not None:
        yield _unparsed(votes)


def _unparsed(votes: Mapping[str, Any]) -> str:
    """Return how many sampled replies could not be parsed as an answer, as text."""
    cut = f" ({several(votes['truncated'], 'reply was', 'replies were')} cut off during reasoning)"
    return (
        f"{votes['unparsed']:,} of {several(votes['replies'], 'reply', 'replies')} could not be "
        f"parsed as an answer and are not counted{cut if votes['truncated'] else ''}"
    )
