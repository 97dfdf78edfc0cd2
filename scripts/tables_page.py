# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/reference/tables.md from the tables that probes declare (``make docs``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.findings.findings import SHARED
from tacit.probes.base import declared_tables, title_of
from tacit.probes.registry import BUILT_IN, probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.findings.spec import Column, TableSpec

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "tables.md"
_BEGINNING = """\
<!-- Generated from the declarations of the probes by scripts/tables_page.py: make docs. -->

# Tables and columns

This page lists all tables of a run's findings. The table `questions` is the file
`questions.parquet` in the run's folder, and `run.questions` in Python. Every table
other than `questions` is the file `findings/NAME.parquet`, and `run.tables["NAME"]` in Python. The
first columns, marked as keys, identify the row. A value that was not measured is null.

Kinds: `percent` and `points` are shares from 0 to 1 in the file and are shown in per cent and
percentage points; a `score` is a decimal; `nats` are natural logarithms of probabilities; `p` is a
p-value. The tables of a run omit a column marked *some runs* if the run has no values for the
column.
"""


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_BEGINNING, *_probes(), *_shared()]) + "\n"


def _probes() -> Iterator[str]:
    for name in BUILT_IN:
        kind = probe(name)
        yield f"## {title_of(kind)}"
        yield ""
        for spec in declared_tables(kind).values():
            yield from _table(spec)


def _shared() -> Iterator[str]:
    yield "## Of every probe"
    yield ""
    yield from _table(SHARED["skipped"])
    yield "`comparison.parquet` is written for runs of several models, and `slopes.parquet` if a"
    yield "family has models of two sizes:"
    yield ""
    yield from _table(SHARED["comparison"])
    yield from _table(SHARED["slopes"])


def _table(spec: TableSpec) -> Iterator[str]:
    yield f"### {spec.name}"
    yield ""
    some = " Only some runs have this table." if spec.optional else ""
    yield f"{spec.title}. {spec.reading}{some}".replace("|", "\\|")
    yield ""
    yield "| column | kind | meaning |"
    yield "|---|---|---|"
    for number, column in enumerate(spec.columns):
        yield from _column(column, is_key=number < spec.keys)
    if spec.open:
        yield "| … | | further columns of the file that was read |"
    yield ""


def _column(column: Column, *, is_key: bool) -> Iterator[str]:
    marks = [mark for mark, holds in (("key", is_key), ("some runs", column.optional)) if holds]
    kind = ", ".join([column.kind, *marks])
    meaning = (column.meaning or f"{column.heading.capitalize()}.").replace("|", "\\|")
    yield f"| `{column.name}` | {kind} | {meaning} |"
    if column.ends:
        low, high = column.ends
        yield f"| `{low}`, `{high}` | {column.kind} | The 95 % interval of `{column.name}`. |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
