"""Create a probe's section of the report from the probe's declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.save import charts
from tacit.charts.theme import Theme
from tacit.english import several
from tacit.findings.numbers import formatted, interval
from tacit.findings.spec import QUESTIONS, selected
from tacit.probes.base import declared_figures, declared_tables, title_of
from tacit.probes.registry import probe
from tacit.report.charts import figure, themed
from tacit.report.content import Column, Details, Graph, Graphs, Mark, Section, Table, Tile
from tacit.report.elicitation import elicitation_text
from tacit.runs.figures import shown_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Column as Declared
    from tacit.findings.spec import Headline, TableSpec
    from tacit.report.content import Figure, Kind
    from tacit.runs.reading import Run

MOST_ROWS = 30_000
"""Maximum number of rows of a table in the report, summed over all models."""

MOST_SCORES = 250_000
"""Maximum number of rows of a view (see ``View``), summed over all models."""


def section(runs: Sequence[Run], look: Theme | None = None) -> Section:
    """Return a probe's section of the report, with tiles, figures, graphs and tables."""
    kind = probe(runs[0].probe)
    return Section(
        id=kind.name,
        title=title_of(kind),
        question=kind.question or kind.summary,
        headlines={run.name: run.block.lines for run in runs if run.block},
        said={run.name: (elicitation_text(run),) for run in runs},
        tiles=tuple(tile(headline, runs) for headline in kind.headlines),
        blocks=(
            *graphs(runs, look or Theme()),
            *figures(runs, look or Theme()),
            *tables(runs),
            *views(runs),
        ),
        keys={name: values_of(name, runs) for name in kind.filters},
    )


def values_of(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a filter's choices: the values of the columns that belong to the filter."""
    shown = [
        (spec.name, column)
        for spec in declared_tables(probe(runs[0].probe)).values()
        for column in spec.columns
        if column.shown
    ]
    declaring = [(table, column.name) for table, column in shown if column.filter == name]
    columns = declaring or [(table, name) for table, column in shown if column.name == name]
    values = {
        value
        for run in runs
        for table, column in columns
        if table in run.tables and column in run.tables[table].columns
        for value in run.tables[table][column].unique()
    }
    return tuple(sorted(value for value in values if isinstance(value, str)))


def views(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield each model's views (see ``View``) as tables of the report."""
    for number, run in enumerate(runs):
        stem = f"{run.probe}-{number}"
        for view in probe(run.probe).views(run.findings, run.request, MOST_SCORES // len(runs)):
            if not view.spec.shown:
                continue
            opens = tuple(f"{stem}-{name}" for name in view.opens)
            columns = tuple(
                one
                for each in view.spec.in_table(view.table)
                for one in shown_columns(each, view.table)
            )
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


def graphs(runs: Sequence[Run], look: Theme) -> Iterator[Graphs]:
    """If the probe draws graphs, yield a single ``Graphs`` object that contains all graphs."""
    found = probe(runs[0].probe).report_graphs({run.name: run.findings for run in runs}, look)
    if found is not None:
        graphs = tuple(Graph(labels, themed(each, look.colours)) for labels, each in found.graphs)
        stem = f"{runs[0].probe}-{found.name}"
        yield Graphs(stem, found.title, found.reading, graphs, found.first)


def figures(runs: Sequence[Run], look: Theme) -> Iterator[Figure]:
    """Yield each figure for which there are data; every figure shows all models."""
    drawn = declared_figures(probe(runs[0].probe))
    for spec, chart in charts(drawn, shown_of(runs, look)):
        yield figure(runs[0].probe, spec, chart, look.colours)


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield each table that the probe declares, with the rows of all models."""
    for spec in declared_tables(probe(runs[0].probe)).values():
        found = table_of(spec, runs) if spec.shown else None
        if found is not None:
            yield found


def table_of(spec: TableSpec, runs: Sequence[Run]) -> Table | None:
    """Return a table that the probe declares, with all models' rows; None if it is empty."""
    import polars as pl

    frames = [
        frame.with_columns(model=pl.lit(run.name))
        for run in runs
        if (frame := _rows(spec, run)) is not None and not frame.is_empty()
    ]
    if not frames:
        return None
    frame = pl.concat(frames, how="diagonal_relaxed")
    reading = spec.reading
    if frame.height > MOST_ROWS:
        reading += f" Only the first {MOST_ROWS:,} of {several(frame.height, 'row')} are shown."
        frame = frame.head(MOST_ROWS)
    columns = [Column("model", "model")]
    columns += [one for each in spec.in_table(frame) for one in shown_columns(each, frame)]
    stem = f"{runs[0].probe}-{spec.name}".replace("_", "-")
    renamed = {each.name: each.filter for each in spec.in_table(frame) if each.filter}
    return Table(stem, spec.title, reading, frame.rename(renamed), tuple(columns))


def _rows(spec: TableSpec, run: Run) -> pl.DataFrame | None:
    """Return a run's rows of a declared table; None if the run lacks the table."""
    return run.questions if spec.name == QUESTIONS else run.findings.table(spec)


def shown_columns(column: Declared, table: pl.DataFrame) -> Iterator[Column]:
    """Yield a report column for ``column``, then a second one for its 95 % CI, if any."""
    if not column.shown or column.kind == "list":
        return
    kind: Kind = "score" if column.kind == "number" else column.kind
    yield Column(column.filter or column.name, column.heading, kind, column.within)
    if column.ends and column.ends[0] in table.columns:
        yield Column(column.ends[0], "95 % CI", kind, to=column.ends[1])


def tile(headline: Headline, runs: Sequence[Run]) -> Tile:
    """Return the tile of a headline (main result), with a mark for each model's value."""
    spec = declared_tables(probe(runs[0].probe))[headline.table]
    marks = tuple(mark for run in runs for mark in _marks(headline, spec, run))
    if all(_rows(spec, run) is None for run in runs):
        return Tile(headline.label, headline.about, marks)
    kind = spec.column(headline.column).kind
    ends = " to ".join(formatted(end, kind) for end in headline.scale)
    return Tile(headline.label, f"{headline.about}; scale: {ends}", marks)


def _marks(headline: Headline, spec: TableSpec, run: Run) -> Iterator[Mark]:
    """Yield a ``Mark`` (value on a scale) for each value of a run's main result, if any."""
    table = _rows(spec, run)
    if table is None:
        return
    rows = selected(table, headline.where)
    for row in (rows if headline.by else rows.head(1)).iter_rows(named=True):
        yield _mark(headline, spec, run, row)


def _label(column: Declared, value: Any) -> str:  # noqa: ANN401 - any cell
    return value if column.kind == "text" else f"{column.heading}: {value}"


def _mark(headline: Headline, spec: TableSpec, run: Run, row: Mapping[str, Any]) -> Mark:
    column = spec.column(headline.column)
    ends = tuple(row[end] for end in column.ends or ())
    low, high = ends or (None, None)
    least, most = headline.scale
    chance = row[column.chance] if isinstance(column.chance, str) else column.chance

    def at(value: float | None) -> float | None:
        return None if value is None else (value - least) / (most - least)

    about = [interval(low, high, lambda value: formatted(value, column.kind))] if ends else []
    if isinstance(column.chance, str) and not headline.among:
        about.append(f"chance level {formatted(chance, column.kind)}")
    if headline.n is not None:
        n = headline.n
        counted = several(row[n[0]], n[1]) if isinstance(n, tuple) else n(row)
        about.append(f"n = {counted}")
    if headline.among and chance is not None:
        among = several(row[headline.among[0]], headline.among[1])
        about.append(f"chance level {formatted(chance, column.kind)} among {among}")
    value = row[column.name]
    labels = [_label(spec.column(name), row[name]) for name in headline.by]
    return Mark(
        ", ".join([run.name, *labels]),
        formatted(value, column.kind),
        ", ".join(about),
        *(at(number) for number in (value, low, high, chance)),
    )
