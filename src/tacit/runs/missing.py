"""Say which answers are missing from a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.english import several


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
