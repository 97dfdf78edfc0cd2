"""What a knowledge base's file holds, read from the file itself."""

from pathlib import Path
from typing import Any

import polars as pl

from tacit.knowledge.base import KnowledgeBase

TABLES = ("relations", "concepts", "terms", "edges", "neighbours")


def tables(path: Path) -> dict[str, pl.DataFrame]:
    with KnowledgeBase(path) as base:
        return {name: base.table(f"FROM base.{name}") for name in TABLES}


def same(one: Path, other: Path) -> bool:
    first, second = tables(one), tables(other)
    return all(first[name].equals(second[name]) for name in TABLES)


def edges(path: Path) -> list[tuple[Any, ...]]:
    """Relation, head, tail, parts of speech, weight and surface text of each edge, sorted."""
    with KnowledgeBase(path) as base:
        table = base.table("""
            SELECT r.name, h.label, t.label, head_pos, tail_pos, weight, surface FROM base.edges e
                JOIN base.concepts h ON h.id = e.head JOIN base.concepts t ON t.id = e.tail
                JOIN base.relations r ON r.id = e.relation""")
    return sorted(table.rows(), key=repr)
