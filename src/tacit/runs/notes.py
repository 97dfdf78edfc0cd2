"""How the answers of a run were obtained, and which of them are missing, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def elicitation_of(manifest: Mapping[str, Any]) -> str:
    """Return the elicitation method that a run's manifest names."""
    named = manifest.get("model", {}).get("elicitation")
    return str(named or "log-probabilities of whole answers")


def notes(manifest: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield the elicitation method, the likeliest next tokens and the missing answers of a run."""
    yield f"Elicitation: {elicitation_of(manifest)}"
    found = manifest["summary"].get("next_tokens")
    if found:
        tokens = ", ".join(
            f"{json.dumps(one['token'], ensure_ascii=False)} {percent(one['probability'])}"
            for one in found["tokens"]
        )
        mean = f"mean of {several(found['prompts'], 'prompt')}"
        yield f"Next token after the prompt ({mean}): {tokens}"
    yield from missing(manifest["summary"], listed=listed)


def missing(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield what is missing: skipped prompts, answers without a score, unparsed replies."""
    if skipped := summary.get("skipped"):
        where = " (listed in findings/skipped.parquet)" if listed else ""
        yield (
            f"{several(skipped, 'prompt is', 'prompts are')} longer than the model's context "
            f"window and therefore skipped{where}; the answers to skipped prompts are missing"
        )
    for reason, count in (summary.get("unscored") or {}).items():
        yield f"{several(count, 'answer has', 'answers have')} no score: {reason}"
    if (votes := summary.get("votes")) and votes["unparsed"]:
        cut = several(votes["truncated"], "reply was", "replies were")
        yield (
            f"{votes['unparsed']:,} of {several(votes['replies'], 'reply', 'replies')} could not "
            "be parsed as an answer and are not counted"
            + (f" ({cut} cut off during reasoning)" if votes["truncated"] else "")
        )
