"""How models' beliefs were obtained, as a table tells it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.report.obtained import skipped_told, warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from tacit.probes.findings import Findings


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


def ways_of(found: Mapping[Path, tuple[str, Findings]]) -> dict[str, str]:
    """How each model's beliefs were obtained, by its name; those that do not say are left out."""
    return {
        name: findings.summary["obtained"]
        for name, findings in found.values()
        if "obtained" in findings.summary
    }


def warn_of_ways(probe: str, ways: Mapping[str, str]) -> None:
    """Says on standard error where models that stand beside one another were asked differently."""
    for warning in warned(probe, ways):
        sys.stderr.write(f"tacit: {warning}\n")


def with_ways(
    together: pl.DataFrame, models: tuple[str, str], ways: Mapping[str, str]
) -> pl.DataFrame:
    """A comparison of models with two more columns: how each one's beliefs were obtained.

    Args:
        together: The comparison.
        models: The columns that name the models.
        ways: By the models' names.
    """
    import polars as pl

    return together.with_columns(
        pl.col(model)
        .replace_strict(ways, default=None, return_dtype=pl.String)
        .alias(f"{model}_obtained")
        for model in models
    )


def ways_told(ways: Mapping[str, str]) -> str:
    """A line for all models that were asked alike, else one for each."""
    alike = set(ways.values())
    if len(alike) == 1:
        return f"Obtained: {alike.pop()}"
    return "\n".join(f"Obtained, {name}: {way}" for name, way in ways.items())
