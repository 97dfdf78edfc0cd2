"""Statements about the parts of things, put as true-or-false questions (section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.template import Template
    from tacit.probes.parts.wording import Wording
    from tacit.requests import Prompt

QUESTION = ("thing", "subject", "relation", "object")


def questions(statements: pl.DataFrame) -> pl.DataFrame:
    """The distinct (thing, subject, relation, object) of all statements, in their order."""
    return statements.select(QUESTION).unique(maintain_order=True)


def prompts(
    questions: pl.DataFrame, ontology: Ontology, template: Template, wording: Wording
) -> Sequence[Prompt]:
    """One prompt per question."""
    return [
        template.prompt(
            wording.with_article(thing),
            wording.statement(subject, ontology.relations[relation], obj),
        )
        for thing, subject, relation, obj in questions.select(QUESTION).iter_rows()
    ]
