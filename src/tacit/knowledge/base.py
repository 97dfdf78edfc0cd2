"""Open the file of a knowledge base read-only and query its tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Self

import polars as pl
import yaml

from tacit.errors import DataError, RequestError
from tacit.strings import comparable, strings
from tacit.tables import check_file

# Incremented whenever the meaning of a file's contents changes.
FORMAT = 2

TABLES = frozenset({"about", "relations", "concepts", "terms", "edges", "neighbours"})


def check_name(path: Path) -> None:
    """Check that a path is valid UTF-8, as DuckDB requires."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            "has a name that is not valid UTF-8, which DuckDB requires: rename it", path
        ) from error


@cache
def relation_sets() -> Mapping[str, tuple[str, ...]]:
    """Return three sets of relation names: ``sahu2022``, ``symmetric`` and ``known`` (all)."""
    text = resources.files("tacit.data").joinpath("relations.yaml").read_text(encoding="utf-8")
    return {name: tuple(members) for name, members in yaml.safe_load(text).items()}


def canonical(relation: str) -> str:
    """Return ConceptNet's name of a relation, such as ``IsA`` for ``isa`` or ``/r/IsA``."""
    plain = relation.removeprefix("/r/")
    spelled = {name.lower(): name for name in relation_sets()["known"]}
    return spelled.get(plain.lower().replace(" ", "").replace("_", ""), plain)


# A knowledge base may come from an untrusted source and contain views. These settings keep a view
# from reading other files or using the network.
_CLOSED = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


@dataclass
class KnowledgeBase:
    """An open knowledge base, usable as a context manager that closes the file."""

    path: Path

    def __post_init__(self) -> None:
        import duckdb

        check_name(self.path)
        check_file(self.path)
        self.connection = duckdb.connect()
        try:
            # Frames are registered in an in-memory database; the attached file is never written.
            quoted = str(self.path).replace("'", "''")
            self.connection.execute(f"ATTACH '{quoted}' AS base (TYPE duckdb, READ_ONLY)")
            for setting in _CLOSED:
                self.connection.execute(setting)
            self.about = self._about()
            self._check_tables()
        except duckdb.Error as error:
            self.close()
            raise DataError(
                "is not a knowledge base, or is damaged; create one with tacit kb import", self.path
            ) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @cached_property
    def relations(self) -> Mapping[str, int]:
        """A mapping from the name of each relation to the number of edges with this relation."""
        return dict(self.table("SELECT name, edges FROM base.relations ORDER BY name").iter_rows())

    def eligible_negatives(self, frequent: int) -> dict[str, int]:
        """Count the words that can be tails of negatives, of which the most frequent are drawn."""
        words: int = self.about["dictionary_words"]
        return {
            "eligible_negatives": words,
            "frequency_cap": frequent,
            "negatives_beyond_cap": max(0, words - frequent),
        }

    def chosen(self, relations: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the names of the selected relations, sorted, in ConceptNet's spelling."""
        if relations is None:
            names = sorted({*relation_sets()["sahu2022"]} & {*self.relations})
        else:
            given = tuple(map(comparable, strings(relations, "relations")))
            names = sorted({n if n in self.relations else canonical(n) for n in given})
        unknown = [name for name in names if name not in self.relations]
        if unknown or not names:
            problem = f"{self.path} has no relation {', '.join(unknown)}"
            if relations is None:
                problem = f"{self.path} has none of the default relations"
            elif not names:
                problem = "--relations is empty"
            raise RequestError(
                f"{problem}; name one or more of these with --relations: "
                f"{', '.join(self.relations)}"
            )
        return tuple(names)

    def table(self, query: str, **frames: pl.DataFrame) -> pl.DataFrame:
        """Return the result of an SQL query on the knowledge base and on ``frames``."""
        import duckdb

        for name, frame in frames.items():
            self.connection.register(name, frame.to_arrow())
        try:
            found: pl.DataFrame = self.connection.sql(query).pl()
        except (duckdb.ProgrammingError, duckdb.ConnectionException):
            raise  # a bug of ours: an invalid query, or one after `close`
        except duckdb.Error as error:
            raise DataError(
                "is damaged; create it again with tacit kb import", self.path
            ) from error
        finally:
            for name in frames:
                self.connection.unregister(name)
        return found

    def _check_tables(self) -> None:
        """Raise an error if the file lacks a required table or defines it as a view."""
        query = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'base'"
        there = {name for (name,) in self.connection.execute(query).fetchall()}
        lacking = sorted(TABLES - there)
        if lacking:
            raise DataError(
                f"has no table {', '.join(lacking)}; create it again with tacit kb import",
                self.path,
            )

    def _about(self) -> dict[str, Any]:
        rows = self.connection.execute("SELECT key, value FROM base.about").fetchall()
        try:
            about = {key: json.loads(value) for key, value in rows}
        except (TypeError, ValueError, RecursionError):
            about = {}
        if "format" not in about:
            raise DataError("is not a knowledge base; create one with tacit kb import", self.path)
        if about["format"] != FORMAT:
            raise RequestError(
                f"{self.path} was created by Tacit {about.get('tacit')} in format "
                f"{about['format']}; this version reads format {FORMAT}: run tacit kb import again"
            )
        return about
