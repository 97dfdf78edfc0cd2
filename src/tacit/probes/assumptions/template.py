"""The prompt texts of Weir et al. (2020), from ``data/templates/assumptions.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import yaml

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Example:
    """One of Prince's examples of tacit assumptions (Weir et al. 2020, Table 3)."""

    concept: str
    text: str
    completions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Templates:
    """The prompt texts and word lists in ``assumptions.yaml``."""

    retrieval: Mapping[str, str]
    preface: str
    relations: Mapping[str, str]
    ends: Mapping[str, str]
    published: Mapping[str, int]
    prince: tuple[Example, ...]
    wording: Mapping[str, frozenset[str]]


@cache
def load_templates() -> Templates:
    """Load the prompt texts and word lists that ship with Tacit."""
    path = resources.files("tacit") / "data" / "templates" / "assumptions.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    asked = content["elicitation"]
    return Templates(
        content["retrieval"],
        asked["preface"],
        asked["relations"],
        asked["ends"],
        asked["published"],
        tuple(
            Example(
                concept,
                entry["text"],
                {relation: tuple(words) for relation, words in entry["completions"].items()},
            )
            for concept, entry in content["prince"].items()
        ),
        {name: frozenset(words) for name, words in content["wording"].items()},
    )


def of_wording(texts: Mapping[str, str], wording: str) -> str:
    """Look up a prompt text by the name of its wording (``sentence`` or ``blank-last``)."""
    if wording not in texts:
        raise RequestError(f"unknown wording {wording!r}; expected one of {', '.join(texts)}")
    return texts[wording]
