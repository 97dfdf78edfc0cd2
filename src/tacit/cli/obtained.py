"""How a model's beliefs were obtained, as a table tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def obtained_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """A sentence; none for a run that does not say. Of sampled replies also how many were read."""
    if "obtained" not in summary:
        return
    yield f"Obtained: {summary['obtained']}"
    votes = summary.get("votes")
    if votes is not None:
        cut = f", {votes['truncated']:,} of them cut while thinking" if votes["truncated"] else ""
        yield (
            f"{votes['unparsed']:,} of {votes['replies']:,} replies are no answer for certain and "
            f"count as none{cut}"
        )
