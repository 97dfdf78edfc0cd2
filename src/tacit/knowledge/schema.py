"""What a knowledge base's file holds.

    about        key, value: the format, the source, its version, SHA-256 and licence, counts
    relations    id, name, edges
    concepts     id, label, words, content words, frequency, dictionary word
    terms        lemma → concept, place in its label, whether a stop word stands there; again the
                 concept's words and content words, so that a text's concepts need no other table
    edges        what the source says, one row per assertion
    neighbours   each fact once in either direction, without a concept's edges to itself

Identifiers follow the labels' order, and each table is sorted by its first columns, so that a
search reads the few blocks of the table where its keys stand and the same source in another order
of lines gives the same tables.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import yaml

from tacit.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Another number whenever what a file holds means something else than before.
FORMAT = 1

TABLES = frozenset({"about", "relations", "concepts", "terms", "edges", "neighbours"})


def check_name(path: Path) -> None:
    """Refuses a path that DuckDB cannot take.

    Raises:
        DataError: It is not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            "has a name that is not UTF-8, which DuckDB needs: rename it", path
        ) from error


@cache
def relation_sets() -> Mapping[str, tuple[str, ...]]:
    """Relations by the set they belong to: ``sahu2022``, ``symmetric``, and ``known`` for all."""
    text = resources.files("tacit.data").joinpath("relations.yaml").read_text(encoding="utf-8")
    return {name: tuple(members) for name, members in yaml.safe_load(text).items()}


def canonical(relation: str) -> str:
    """ConceptNet's spelling of a relation's name: of /r/IsA, isa, "is a"; else as it is."""
    plain = relation.removeprefix("/r/")
    spelled = {name.lower(): name for name in relation_sets()["known"]}
    return spelled.get(plain.lower().replace(" ", "").replace("_", ""), plain)
