"""Build a knowledge base from dumps of a source such as ConceptNet."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tacit.errors import DISTRIBUTION, DataError, RequestError, WorkError
from tacit.files import file_hash, is_full, move_into, unwritable
from tacit.knowledge.base import FORMAT, canonical, check_name
from tacit.knowledge.words import add_lexicon
from tacit.sources.dumps import Dump
from tacit.strings import Spellings, comparable
from tacit.tables import resolved

_MEMORY = "800MB"
# DuckDB reads tables in groups of this many rows. Small, because a question's keys are far apart.
_GROUP = 20_480
# ConceptNet has about fifty relations; with more than this, the column must contain concepts.
_RELATIONS = 5_000


@dataclass(frozen=True)
class KnowledgeSource:
    """Dumps to build a knowledge base from, and metadata to store in the knowledge base."""

    dumps: Sequence[Dump]
    version: str | None = None
    licence: str | None = None


def build(source: KnowledgeSource, out: Path, advance: Callable[[int], None] | None = None) -> None:
    """Build a knowledge base and write its file atomically."""
    _check_paths(out, [dump.path for dump in source.dumps])
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
            made = Path(folder) / "made.duckdb"
            with duckdb.connect(config={"memory_limit": _MEMORY, "temp_directory": folder}) as base:
                quoted = str(made).replace("'", "''")
                base.execute(f"ATTACH '{quoted}' AS made (ROW_GROUP_SIZE {_GROUP})")
                base.execute("USE made")
                _fill(base, source, advance or (lambda _: None))
            move_into(made, out)
    except OSError as error:
        message = unwritable(out, error) if is_full(error) else f"{out}: cannot be created: {error}"
        raise WorkError(message) from error
    except duckdb.Error as error:
        problem = " ".join(str(error).split())
        if os.strerror(errno.ENOSPC) in problem:
            raise WorkError(unwritable(out, OSError(errno.ENOSPC, problem))) from error
        raise WorkError(f"{out}: cannot be created: {problem}") from error


def _check_paths(out: Path, dumps: Sequence[Path]) -> None:
    """Check that the output is not an input, and that no input is given twice."""
    check_name(out)
    target = resolved(out)
    if target.is_dir():
        raise RequestError(f"{out} is a folder; --out requires a file name for the knowledge base")
    inputs = [resolved(dump) for dump in dumps]
    if target in inputs:
        raise RequestError(f"{out} is an input file; choose another --out for the knowledge base")
    for dump, path in zip(dumps, inputs, strict=True):
        if inputs.count(path) > 1:
            raise RequestError(f"{dump} is given twice; its facts would be counted twice")


def _fill(
    base: duckdb.DuckDBPyConnection, source: KnowledgeSource, advance: Callable[[int], None]
) -> None:
    base.execute("SET preserve_insertion_order = false")
    base.execute(
        "CREATE TEMP TABLE raw (relation VARCHAR, head VARCHAR, tail VARCHAR, head_pos VARCHAR, "
        "tail_pos VARCHAR, weight FLOAT, surface VARCHAR, licence VARCHAR)"
    )
    read, spelled = 0, Spellings()
    for dump in source.dumps:
        for batch in dump.batches():
            _stage(base, dump, batch, spelled)
            advance(read + dump.bytes_read)
        dump.check()
        read += dump.bytes_read
    spelled.notice(_files(source))
    if not _count(base, "raw"):
        raise DataError(
            f"contains no edge between two concepts of the language {source.dumps[0].language!r}",
            _files(source),
        )
    _name_relations(base, source)
    base.execute("""
        CREATE TEMP TABLE labels AS
        SELECT (row_number() OVER (ORDER BY label) - 1)::INTEGER AS id, label
        FROM (SELECT head AS label FROM raw UNION SELECT tail FROM raw)""")
    add_lexicon(base)
    _join_edges(base)
    _write_description(base, source)


def _stage(
    base: duckdb.DuckDBPyConnection, dump: Dump, batch: pl.DataFrame, spelled: Spellings
) -> None:
    if batch.is_empty():
        return
    parsed = _ASSERTIONS if dump.layout == "assertions" else _triples(dump.columns)
    good = "head <> '' AND tail <> '' AND relation NOT IN ('', '/r/') AND weighed"
    base.register("batch", batch.to_arrow())
    base.execute(f"CREATE OR REPLACE TEMP TABLE found AS {parsed}")
    base.unregister("batch")
    _respell(base, spelled)
    dump.reject(base.sql(f"SELECT line, text FROM found WHERE NOT ({good})").pl())
    base.execute(f"INSERT INTO raw SELECT * EXCLUDE (line, text, weighed) FROM found WHERE {good}")


def _respell(base: duckdb.DuckDBPyConnection, spelled: Spellings) -> None:
    """Write relations and concepts in the form in which names are compared."""
    names = "SELECT unnest([relation, head, tail]) AS name FROM found"
    # Only the names that are not ASCII, of which English dumps have few.
    query = f"SELECT DISTINCT name FROM ({names}) WHERE strlen(name) > length(name)"
    for (name,) in base.execute(query).fetchall():
        spelled(comparable(name))
        spelled(name)
    if not spelled.others:
        return
    others = spelled.others
    forms = pl.DataFrame({"name": [*others], "form": [*others.values()]})
    base.register("forms", forms.to_arrow())
    for column in ("relation", "head", "tail"):
        base.execute(f"UPDATE found SET {column} = form FROM forms WHERE {column} = name")
    base.unregister("forms")


# The URI of a concept is /c/LANGUAGE/LABEL, optionally followed by part of speech and sense.
_LABEL = "trim(replace(split_part({end}, '/', 4), '_', ' '))"
_ASSERTIONS = f"""
    WITH told AS (
        SELECT *, TRY(json_extract_string(info, ['$.weight', '$.surfaceText', '$.license']))
            AS about
        FROM batch)
    SELECT line, text, relation, {_LABEL.format(end="t.head")} AS head,
        {_LABEL.format(end="t.tail")} AS tail,
        nullif(split_part(t.head, '/', 5), '') AS head_pos,
        nullif(split_part(t.tail, '/', 5), '') AS tail_pos,
        TRY_CAST(about[1] AS FLOAT) AS weight, about[2] AS surface, about[3] AS licence,
        coalesce(isfinite(weight), false) AS weighed
    FROM told t"""
# Triples may also name concepts by URI.
_PLAIN = (
    "lower(trim(regexp_replace(replace(regexp_replace(trim({end}), '^/c/[^/]*/([^/]*).*$', '\\1'), "
    "'_', ' '), '\\s+', ' ', 'g')))"
)


def _triples(columns: Sequence[str]) -> str:
    weight = "trim(b.weight)" if "weight" in columns else "''"
    number = f"TRY_CAST({weight} AS FLOAT)"
    return f"""
    SELECT line, text, trim(b.relation) AS relation, {_PLAIN.format(end="b.head")} AS head,
        {_PLAIN.format(end="b.tail")} AS tail, NULL AS head_pos, NULL AS tail_pos,
        {number} AS weight, NULL AS surface, NULL AS licence,
        {weight} = '' OR coalesce(isfinite({number}), false) AS weighed
    FROM batch b"""


def _name_relations(base: duckdb.DuckDBPyConnection, source: KnowledgeSource) -> None:
    """Rename relations to ConceptNet's spelling and create the table ``relations``."""
    names = base.execute("SELECT DISTINCT relation FROM raw ORDER BY ALL").fetchall()
    if len(names) > _RELATIONS:
        raise DataError(
            f"has {len(names):,} relations, such as {names[0][0]!r} and {names[-1][0]!r}: check "
            f"that its columns are in the order {', '.join(source.dumps[0].columns)} (--columns)",
            _files(source),
        )
    for (name,) in names:
        if canonical(name) != name:
            base.execute("UPDATE raw SET relation = ? WHERE relation = ?", [canonical(name), name])
    base.execute("""
        CREATE TABLE relations AS
        SELECT (row_number() OVER (ORDER BY relation) - 1)::SMALLINT AS id, relation AS name,
            count(*) AS edges
        FROM raw GROUP BY relation ORDER BY id""")


def _join_edges(base: duckdb.DuckDBPyConnection) -> None:
    base.execute("""
        CREATE TABLE edges AS
        SELECT h.id AS head, r.id AS relation, t.id AS tail, weight, surface, head_pos, tail_pos
        FROM raw JOIN labels h ON raw.head = h.label JOIN labels t ON raw.tail = t.label
            JOIN relations r ON raw.relation = r.name
        ORDER BY ALL""")
    base.execute("""
        CREATE TABLE neighbours AS
        WITH facts AS (SELECT head, relation, tail, max(weight) AS weight FROM edges
            WHERE head <> tail GROUP BY ALL)
        SELECT head AS concept, tail AS other, relation, true AS forward, weight FROM facts
        UNION ALL
        SELECT tail, head, relation, false, weight FROM facts
        ORDER BY ALL""")


def _write_description(base: duckdb.DuckDBPyConnection, source: KnowledgeSource) -> None:
    """Write the table ``about``, with the format, source and size of the knowledge base."""
    query = "SELECT DISTINCT licence FROM raw WHERE licence IS NOT NULL ORDER BY ALL"
    licences = [licence for (licence,) in base.execute(query).fetchall()]
    about: dict[str, Any] = {
        "format": FORMAT,
        "tacit": version(DISTRIBUTION),
        "language": source.dumps[0].language,
        "version": source.version,
        "licence": source.licence or ", ".join(licences) or None,
        "sources": [
            {
                "file": dump.path.name,
                "layout": dump.layout,
                "columns": list(dump.columns) if dump.layout == "triples" else None,
                "sha256": file_hash(dump.path),
                "lines": dump.lines,
                "bad_lines": dump.bad,
            }
            for dump in source.dumps
        ],
        "edges": _count(base, "edges"),
        "facts": _count(base, "neighbours") // 2,
        "concepts": _count(base, "concepts"),
        "dictionary_words": _count(base, "concepts WHERE dictionary"),
    }
    base.execute("CREATE TABLE about (key VARCHAR, value VARCHAR)")
    for key, value in about.items():
        base.execute("INSERT INTO about VALUES (?, ?)", [key, json.dumps(value)])


def _files(source: KnowledgeSource) -> str:
    return ", ".join(str(dump.path) for dump in source.dumps)


def _count(base: duckdb.DuckDBPyConnection, table: str) -> int:
    found = base.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found[0]) if found else 0
