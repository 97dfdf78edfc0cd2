"""The prompt texts of Weir et al. (2020), from ``data/templates/assumptions.yaml``."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from tacit.findings.declared import shipped


class Example(BaseModel):
    """One of Prince's examples of tacit assumptions (Weir et al. 2020, Table 3)."""

    text: str
    completions: dict[str, tuple[str, ...]]


class Templates(BaseModel):
    retrieval: dict[str, str]
    preface: str
    relations: dict[str, str]
    ends: dict[str, str]
    prince: dict[str, Example]
    wording: dict[str, frozenset[str]]


@cache
def load_templates() -> Templates:
    return Templates.model_validate(shipped("templates", "assumptions"))
