"""Statements about the parts of things, put as true-or-false questions (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import yaml

from tacit.errors import RequestError
from tacit.prompts import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.coherence.ontology import Ontology, Relation

QUESTION = ("thing", "subject", "relation", "object")


@dataclass(frozen=True)
class Template:
    """How a statement is put to a model.

    Args:
        name: The preset's name.
        text: With ``{article}``, ``{thing}`` and ``{statement}``.
        separator: Stands between the text and the answer.
        positive: The answer that means true.
        negative: The answer that means false.
    """

    name: str
    text: str
    separator: str
    positive: str
    negative: str

    @classmethod
    def load(cls, name: str = "plain") -> Template:
        """Reads a preset.

        Raises:
            RequestError: There is no such preset.
        """
        path = resources.files("tacit") / "data" / "templates" / "parts.yaml"
        presets = yaml.safe_load(path.read_text(encoding="utf-8"))
        if name not in presets:
            raise RequestError(f"there is no preset {name!r}; expected one of {', '.join(presets)}")
        return cls(name, **presets[name])

    def prompt(self, thing: str, statement: str) -> Prompt:
        """The prompt for a worded statement about a thing."""
        text = self.text.format(article=article(thing), thing=thing, statement=statement)
        return Prompt(text, (self.positive, self.negative), self.separator)


def article(noun: str) -> str:
    """``an`` before a, e, i, o, u, else ``a``: the preset ``number=paper``."""
    return "an" if noun[:1].lower() in set("aeiou") else "a"


def is_plural(noun: str) -> bool:
    """Whether the subject ends in s, which the preset ``number=paper`` takes for a plural."""
    return noun.endswith("s")


def worded(subject: str, relation: Relation, obj: str) -> str:
    """The statement in words, its verb in the subject's number."""
    wording = relation.plural if is_plural(subject) else relation.singular
    return wording.format(subject=subject, object=obj)


def questions(statements: pl.DataFrame) -> pl.DataFrame:
    """The distinct (thing, subject, relation, object) of all statements, in their order."""
    return statements.select(QUESTION).unique(maintain_order=True)


def prompts(questions: pl.DataFrame, ontology: Ontology, template: Template) -> Sequence[Prompt]:
    """One prompt per question."""
    return [
        template.prompt(thing, worded(subject, ontology.relations[relation], obj))
        for thing, subject, relation, obj in questions.select(QUESTION).iter_rows()
    ]
