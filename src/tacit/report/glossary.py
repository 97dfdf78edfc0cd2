"""The terms that the report explains: ``data/glossary.yaml``, as the documentation shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    Args:
        meaning: The definition, in one or two sentences.
        forms: Other words under which the report finds the term.
        headings: Words that stand for the term in the heading of a column only.
    """

    meaning: str
    forms: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()


@cache
def glossary() -> dict[str, Term]:
    """Return all terms by name, in alphabetical order."""
    file = resources.files("tacit.data") / "glossary.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: Term(**entry) for name, entry in content.items()}


def meanings(*, headings: bool = False) -> dict[str, str]:
    """Return the meaning of every form of every term, in lower case.

    Args:
        headings: Whether to return the words for headings of columns instead.
    """
    return {
        form.lower(): term.meaning
        for name, term in glossary().items()
        for form in (term.headings if headings else (*name.split(", "), *term.forms))
    }
