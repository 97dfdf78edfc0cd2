"""The prompt texts of Weir et al. (2020), from ``data/templates/assumptions.yaml``."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel


class Example(BaseModel):
    """One of Prince's examples of tacit assumptions (Weir et al. 2020, Table 3)."""

    text: str
    completions: dict[str, tuple[str, ...]]


class Templates(BaseModel):
    """The prompt texts and word lists in ``assumptions.yaml``."""

    retrieval: dict[str, str]
    preface: str
    relations: dict[str, str]
    ends: dict[str, str]
    prince: dict[str, Example]
    wording: dict[str, frozenset[str]]


@cache
def load_templates() -> Templates:
    """Load the prompt texts and word lists that ship with Tacit."""
    path = resources.files("tacit") / "data" / "templates" / "assumptions.yaml"
    return Templates.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
