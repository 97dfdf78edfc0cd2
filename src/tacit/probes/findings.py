"""What a probe finds: tables, and the few figures that a person reads first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


@dataclass(frozen=True)
class Findings:
    """The outcome of a probe.

    Args:
        questions: What was asked and answered, one row per distinct question.
        tables: The findings' tables by name.
        summary: Counts and figures, ready for JSON; None where a figure is undefined.
    """

    questions: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    summary: Mapping[str, Any]
