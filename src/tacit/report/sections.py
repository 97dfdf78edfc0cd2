"""A probe's section of the report, from what the probe declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.findings import Findings
from tacit.findings.numbers import cell, interval
from tacit.findings.spec import QUESTIONS
from tacit.probes.base import declared, probe
from tacit.probes.figures.charts import Look
from tacit.probes.figures.writing import charts
from tacit.report.charts import figure
from tacit.report.content import Column, Details, Mark, Section, Table, Tile
from tacit.report.obtained import obtained
from tacit.runs.figures import shown_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Column as Declared
    from tacit.findings.spec import Headline, TableSpec
    from tacit.report.content import Figure, Kind
    from tacit.runs.reading import Run

MOST_ROWS = 30_000
"""Rows of a table that are shown, of all models together."""

MOST_SCORES = 250_000
"""Rows of the tables that are made for reading, of all models together."""


def section(runs: Sequence[Run], look: Look | None = None) -> Section:
    """What a probe found: headlines, sentences, figures and tables.

    Args:
        runs: Runs of one probe.
        look: The palette.
    """
    kind = probe(runs[0].probe)
    told = declared(kind)
    return Section(
        id=kind.name,
        title=told.title,
        question=told.question,
        said={run.name: (*told.sentences(run.findings), obtained(run)) for run in runs},
        tiles=tuple(tile(headline, runs) for headline in told.headlines),
        blocks=(*figures(runs, look or Look()), *tables(runs), *views(runs)),
        keys={name: values_of(name, runs) for name in told.filters},
        notes=tuple(dict.fromkeys(note for run in runs for note in told.notes(run.findings))),
    )


def values_of(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """What a column holds, in all tables of the runs that have it and whose column is shown."""
    specs = declared(probe(runs[0].probe)).tables
    return tuple(
        sorted(
            {
                value
                for run in runs
                for key, table in run.tables.items()
                if name in table.columns and _is_shown(specs.get(key), name)
                for value in table[name].unique()
                if isinstance(value, str)
            }
        )
    )


def _is_shown(spec: TableSpec | None, name: str) -> bool:
    return spec is None or any(each.name == name and each.shown for each in spec.columns)


def views(runs: Sequence[Run]) -> Iterator[Table]:
    """The tables that a probe makes for reading, of each model its own."""
    told = declared(probe(runs[0].probe))
    for number, run in enumerate(runs):
        stem = f"{run.probe}-{number}"
        found = Findings(run.questions, run.tables, run.summary)
        for view in told.views(found, run.request, MOST_SCORES // len(runs)):
            if not view.spec.shown:
                continue
            opens = tuple(f"{stem}-{name}" for name in view.opens)
            columns = tuple(one for each in view.spec.in_table(view.table) for one in _shown(each))
            title = view.spec.title if view.behind else f"{view.spec.title}: {run.name}"
            yield Table(
                f"{stem}-{view.spec.name}",
                title,
                view.spec.reading,
                view.table,
                columns,
                Details(view.key, opens) if view.key and opens else None,
                None if view.behind else run.name,
                view.behind,
            )


def figures(runs: Sequence[Run], look: Look) -> Iterator[Figure]:
    """The figures that the findings allow, of all models together."""
    told = declared(probe(runs[0].probe))
    for spec, chart in charts(told.figures, shown_of(runs, look)):
        yield figure(runs[0].probe, spec, chart, look.colours)


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """The declared tables with all models' rows."""
    for spec in declared(probe(runs[0].probe)).tables.values():
        found = table_of(spec, runs) if spec.shown else None
        if found is not None:
            yield found


def table_of(spec: TableSpec, runs: Sequence[Run]) -> Table | None:
    """A declared table with all models' rows; None where there is none.

    Of more than ``MOST_ROWS`` rows the first are shown, and the table says so.
    """
    import polars as pl

    frames = [
        frame.with_columns(model=pl.lit(run.name))
        for run in runs
        if (frame := run.questions if spec.name == QUESTIONS else run.tables.get(spec.name))
        is not None
        and not frame.is_empty()
    ]
    if not frames:
        return None
    frame = pl.concat(frames, how="diagonal_relaxed")
    reading = spec.reading
    if frame.height > MOST_ROWS:
        reading += f" The first {MOST_ROWS:,} of {several(frame.height, 'row')}."
        frame = frame.head(MOST_ROWS)
    columns = [Column("model", "model")]
    columns += [one for each in spec.in_table(frame) for one in _shown(each)]
    stem = f"{runs[0].probe}-{spec.name}".replace("_", "-")
    return Table(stem, spec.title, reading, frame, tuple(columns))


def _shown(column: Declared) -> Iterator[Column]:
    """A column, and its interval in a column of its own."""
    if not column.shown or column.kind == "list":
        return
    kind: Kind = "score" if column.kind == "number" else column.kind
    yield Column(column.name, column.heading, kind, column.within)
    if column.ends:
        yield Column(column.ends[0], "95 % interval", kind, to=column.ends[1])


def tile(headline: Headline, runs: Sequence[Run]) -> Tile:
    """A headline of all models."""
    marks = (mark for run in runs for mark in _marks(headline, run))
    return Tile(headline.label, headline.about, tuple(marks))


def _marks(headline: Headline, run: Run) -> Iterator[Mark]:
    """A headline of one model; nothing where its table has no such row."""
    found = _source(headline.table, run)
    if found is None:
        return
    spec, table = found
    rows = table.filter(**headline.where) if headline.where else table
    for row in (rows if headline.by else rows.head(1)).iter_rows(named=True):
        yield _mark(headline, spec, run, row)


def _source(name: str, run: Run) -> tuple[TableSpec, pl.DataFrame] | None:
    """A declared table of a run, or one that is made for reading."""
    told = declared(probe(run.probe))
    if name in told.tables:
        return told.tables[name], run.tables[name]
    found = Findings(run.questions, run.tables, run.summary)
    views = told.views(found, run.request, MOST_SCORES)
    return next(((each.spec, each.table) for each in views if each.spec.name == name), None)


def _mark(headline: Headline, spec: TableSpec, run: Run, row: Mapping[str, Any]) -> Mark:
    column = next(each for each in spec.columns if each.name == headline.column)
    ends = tuple(row[end] for end in column.ends or ())
    low, high = ends or (None, None)
    least, most = headline.scale
    chance = row[column.chance] if isinstance(column.chance, str) else column.chance

    def at(value: float | None) -> float | None:
        return None if value is None else (value - least) / (most - least)

    about = [interval(low, high, lambda value: cell(value, column.kind))] if ends else []
    if headline.n:
        about.append(f"n = {several(row[headline.n[0]], headline.n[1])}")
    if headline.among and chance is not None:
        among = several(row[headline.among[0]], headline.among[1])
        about.append(f"chance {cell(chance, column.kind)} among {among}")
    value = row[column.name]
    return Mark(
        f"{run.name}, {row[headline.by]}" if headline.by else run.name,
        cell(value, column.kind),
        ", ".join(about),
        *(at(number) for number in (value, low, high, chance)),
    )
