"""The papers' texts of the assumptions probe, from ``data/templates/assumptions.yaml``."""

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
    """One of Prince's own examples (Weir et al. 2020, Table 3).

    Args:
        concept: The concept that the blank stands for.
        text: The prompt.
        completions: By relation, what the example says of the concept.
    """

    concept: str
    text: str
    completions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Templates:
    """The texts, and the lists that the wording goes by; ``assumptions.yaml`` describes each.

    Args:
        retrieval: By wording, with ``{A}`` or ``{a}`` and ``{properties}``.
        preface: Stands before an elicitation prompt.
        relations: By relation, with ``{concept}``.
        ends: By wording, what follows the blank of an elicitation prompt.
        published: The paper's number of elicitation prompts by relation (Table 2).
        prince: The examples of Table 3.
        wording: Lists of words by their name.
    """

    retrieval: Mapping[str, str]
    preface: str
    relations: Mapping[str, str]
    ends: Mapping[str, str]
    published: Mapping[str, int]
    prince: tuple[Example, ...]
    wording: Mapping[str, frozenset[str]]


@cache
def load_templates() -> Templates:
    """The texts that come with Tacit."""
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
    """The text of a wording, ``sentence`` or ``blank-last``.

    Raises:
        RequestError: There is no such wording.
    """
    if wording not in texts:
        raise RequestError(f"there is no wording {wording!r}; expected one of {', '.join(texts)}")
    return texts[wording]
