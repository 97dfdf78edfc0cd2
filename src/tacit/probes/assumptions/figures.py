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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.probes.figures.charts import Chart
    from tacit.probes.figures.panels import Shown

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
