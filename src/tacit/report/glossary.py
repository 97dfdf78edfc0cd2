"""The terms that the report explains, from the glossary of the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    meaning: str
    forms: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()


@cache
def glossary() -> dict[str, Term]:
    """Return all terms of the glossary by name, in alphabetical order."""
    file = resources.files("tacit.data") / "glossary.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: Term(**entry) for name, entry in content.items()}


def meanings(*, headings: bool = False) -> dict[str, str]:
    """Return a mapping from words in lower case to the definitions that the report shows."""
    return {
        form.lower(): term.meaning
        for name, term in glossary().items()
        for form in (term.headings if headings else (*name.split(", "), *term.forms))
    }
