"""How models' beliefs were obtained, as a table tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.report.obtained import skipped_told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def obtained_told(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """A sentence; none for a run that does not say. Of sampled replies also how many were read.

    Args:
        summary: A run's summary.
        listed: Whether a run's folder lists the prompts that were skipped.
    """
    if "obtained" not in summary:
        return
    yield f"Obtained: {summary['obtained']}"
    yield from skipped_told(summary, listed=listed)
    votes = summary.get("votes")
    if votes is not None:
        cut = f", {votes['truncated']:,} of them cut while thinking" if votes["truncated"] else ""
        yield (
            f"{votes['unparsed']:,} of {several(votes['replies'], 'reply is', 'replies are')} no "
            f"answer for certain and count as none{cut}"
        )
