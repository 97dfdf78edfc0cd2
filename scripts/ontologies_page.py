# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/reference/ontologies.md from the ontologies that Tacit ships (``make docs``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.coherence.ontology import Ontology, shipped_ontologies

if TYPE_CHECKING:
    from tacit.coherence.ontology import Relation

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "ontologies.md"
_BEGINNING = """\
<!-- Generated from src/tacit/data/ontologies by scripts/ontologies_page.py: make docs. -->

# Shipped ontologies

Tacit ships the ontologies on this page. `--ontology` (in Python `ontology=`) selects an ontology by
name for `tacit check` and `tacit repair`. [Check and repair your own
relations](../how-to/own-relations.md#1-describe-the-relations) explains the constraints, and how to
write an ontology of your own.
"""
_HEADER = """\
| relation | as a statement | properties | inverse | implies | excludes |
|---|---|---|---|---|---|"""


def page() -> str:
    """Return the page in Markdown."""
    return "\n".join([_BEGINNING, *map(_section, shipped_ontologies())])


def _section(name: str) -> str:
    rows = map(_row, Ontology.load(name).relations.values())
    return "\n".join([f"## {name}\n", _HEADER, *rows, ""])


def _row(relation: Relation) -> str:
    flags = ("symmetric", "asymmetric", "transitive", "irreflexive")
    # An asymmetric relation is irreflexive, so this need not be said.
    properties = [
        flag
        for flag in flags
        if getattr(relation, flag) and not (flag == "irreflexive" and relation.asymmetric)
    ]
    cells = (
        relation.name,
        relation.singular.format(subject="x", object="y"),
        ", ".join(properties),
        relation.inverse or "",
        ", ".join(relation.implies),
        ", ".join(relation.excludes),
    )
    return f"| {' | '.join(cells)} |".replace("  ", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
