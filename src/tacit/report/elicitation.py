"""Describe the elicitation methods of runs, and warn if the methods differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import percent
from tacit.probes.registry import probes
from tacit.runs.comparison import warnings_of_elicitation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.runs.reading import Run


def elicitation_text(run: Run) -> str:
    """Describe a run's elicitation method, missing scores and unparsed replies."""
    votes = run.summary.get("votes")
    if votes is None:
        tokens = (f"{note}." for note in next_token_notes(run.summary))
        return " ".join((f"Elicitation: {run.elicitation}.", *tokens, *_unscored(run)))
    return f"Elicitation: {run.elicitation}; {_unparsed(votes)}."


def next_token_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note with the likeliest next tokens after the prompts, if they were computed."""
    found = summary.get("next_tokens")
    if found:
        tokens = ", ".join(
            f"{json.dumps(one['token'], ensure_ascii=False)} {percent(one['probability'])}"
            for one in found["tokens"]
        )
        mean = f"mean of {several(found['prompts'], 'prompt')}"
        yield f"Next token after the prompt ({mean}): {tokens}"


def skipped_notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield a note with the number of prompts that were skipped because they are too long."""
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
    """Yield notes on the elicitation method, skipped prompts and unparsed sampled replies."""
    if "elicitation" not in summary:
        return
    yield f"Elicitation: {summary['elicitation']}"
    yield from next_token_notes(summary)
    yield from skipped_notes(summary, listed=listed)
    votes = summary.get("votes")
    if votes is not None:
        yield _unparsed(votes)


def _unparsed(votes: Mapping[str, Any]) -> str:
    """Return a phrase with the number of sampled replies that could not be parsed."""
    cut = f" ({several(votes['truncated'], 'reply was', 'replies were')} cut off during reasoning)"
    return (
        f"{votes['unparsed']:,} of {several(votes['replies'], 'reply', 'replies')} could not be "
        f"parsed as an answer and are not counted{cut if votes['truncated'] else ''}"
    )
