"""The assumptions probe: stereotypic tacit assumptions about concepts (Weir et al. 2020)."""

from __future__ import annotations

from tacit.findings.declared import Headlines, Tables

TABLES = Tables("assumptions")
DETAILS = Tables("assumptions", "details")
HEADLINES = Headlines("assumptions")

MAIN = "top-decreasing"
"""The order of properties that Weir et al. (2020) use in Figures 1, 2 and 3a."""

NUMBERS = (1, 4, 10)
"""The numbers of properties per prompt for which main results are reported."""
