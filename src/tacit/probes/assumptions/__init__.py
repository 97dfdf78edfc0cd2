"""The assumptions probe: stereotypic tacit assumptions about concepts (Weir et al. 2020)."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from tacit.findings.declared import Headlines, Tables, shipped

TABLES = Tables("assumptions")
DETAILS = Tables("assumptions", "details")
HEADLINES = Headlines("assumptions")

MAIN = "top-decreasing"
"""The order of properties that Weir et al. (2020) use in Figures 1, 2 and 3a."""

NUMBERS = (1, 4, 10)
"""The numbers of properties per prompt for which main results are reported."""


class Example(BaseModel):
    """One of Prince's examples of tacit assumptions (Weir et al. 2020, Table 3)."""

    text: str
    completions: dict[str, tuple[str, ...]]


class AssumptionsTemplates(BaseModel):
    retrieval: dict[str, str]
    preface: str
    relations: dict[str, str]
    ends: dict[str, str]
    prince: dict[str, Example]
    wording: dict[str, frozenset[str]]


@cache
def load_templates() -> AssumptionsTemplates:
    return AssumptionsTemplates.model_validate(shipped("templates", "assumptions"))
