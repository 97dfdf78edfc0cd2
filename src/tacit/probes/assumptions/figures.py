"""The figures of the assumptions probe, from its findings (Weir et al. 2020, Figures 1 to 3).

They show one model or several, under the names that the caller gives them. A table that is absent
or has nothing to show gives no figure, and what is missing or undefined no mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.assumptions.panels_elicitation import ablation, elicitation
from tacit.probes.assumptions.panels_examples import retrieval_examples
from tacit.probes.assumptions.panels_favoured import favoured
from tacit.probes.assumptions.panels_retrieval import (
    retrieval,
    retrieval_categories,
    retrieval_orders,
)
from tacit.probes.figures.charts import Look
from tacit.probes.figures.panels import Shown
from tacit.probes.figures.writing import write_charts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from tacit.probes.figures.charts import Chart
    from tacit.probes.findings import Findings

FIGURES: Mapping[str, Callable[[Shown], Chart | None]] = {
    figure.__name__: figure
    for figure in (
        retrieval_examples,
        retrieval,
        retrieval_categories,
        retrieval_orders,
        elicitation,
        ablation,
        favoured,
    )
}


def write_figures(
    found: Mapping[str, Findings],
    folder: Path,
    formats: Collection[str] = ("svg",),
    look: Look | None = None,
) -> list[Path]:
    """Writes every figure that the findings allow.

    Args:
        found: The findings by model.
        folder: Where the figures go; made when it is not there.
        formats: Some of svg, png and pdf.
        look: The palette.

    Returns:
        The files written.

    Raises:
        RequestError: A format or the palette is not known.
        WorkError: A file cannot be written.
    """
    return write_charts(FIGURES, Shown(found, {}, look or Look()), folder, formats)
