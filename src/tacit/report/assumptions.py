"""The section of the assumptions probe (Weir et al. 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.report.content import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.report.reading import ReadRun


def section(runs: Sequence[ReadRun]) -> Section:
    """What the assumptions probe found.

    Args:
        runs: Runs of the probe.
    """
    return Section("assumptions", "Assumptions", "", {run.name: () for run in runs})
