"""The figures of the assumptions probe, from its findings (Weir et al. 2020, Figures 1 to 3).

They show one model or several, under the names that the caller gives them. A table that is absent
or has nothing to show gives no figure, and what is missing or undefined no mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import FigureSpec
from tacit.probes.assumptions.panels_elicitation import ablation, elicitation
from tacit.probes.assumptions.panels_examples import retrieval_examples
from tacit.probes.assumptions.panels_favoured import favoured
from tacit.probes.assumptions.panels_retrieval import (
    retrieval,
    retrieval_categories,
    retrieval_orders,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


FIGURES: Mapping[str, FigureSpec] = {
    spec.name: spec
    for spec in (
        FigureSpec(
            "retrieval_examples",
            "Examples of concept retrieval",
            "Figure 1 of the paper.",
            retrieval_examples,
        ),
        FigureSpec(
            "retrieval",
            "Concept retrieval by number of properties",
            "Figure 2 of the paper.",
            retrieval,
        ),
        FigureSpec(
            "retrieval_categories",
            "Concept retrieval by category",
            "Figure 3 of the paper.",
            retrieval_categories,
        ),
        FigureSpec(
            "retrieval_orders",
            "Concept retrieval by the order of properties",
            "Properties that many people named first, that few named first, and drawn at random.",
            retrieval_orders,
        ),
        FigureSpec(
            "elicitation", "Properties elicited", "Table 2 of the paper, drawn.", elicitation
        ),
        FigureSpec(
            "ablation", "With and without “Everyone knows that”", "Paired differences.", ablation
        ),
        FigureSpec(
            "favoured",
            "Favoured words",
            "What the model says first, whatever it is asked about.",
            favoured,
        ),
    )
}
