"""The terms that the report explains, from the glossary of the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    Args:
        meaning: The definition of the term, in one or two sentences.
        forms: Words, in addition to the term's name, for which the report shows the definition of
            the term.
        headings: Words for which the report shows the term's definition in column headings, but
            nowhere else.
    """

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
    """Return a mapping from words in lower case to the definitions that the report shows.

    Args:
        headings: If True, the mapping contains words that the report explains only in column
            headings. If False, the mapping contains words that the report explains wherever the
            words occur.
    """
    return {
        form.lower(): term.meaning
        for name, term in glossary().items()
        for form in (term.headings if headings else (*name.split(", "), *term.forms))
    }
