"""A probe's section of the report, made from the probe's declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import polars as pl

from tacit.charts.save import charts
from tacit.charts.theme import HOUSE, Palette
from tacit.english import several
from tacit.findings.block import Entry, counted, measured
from tacit.findings.display import Details, GraphSet, Headline
from tacit.findings.numbers import formatted, interval
from tacit.findings.spec import Column, TableSpec
from tacit.probes.base import declared_figures, declared_tables, title_of
from tacit.probes.registry import probe
from tacit.report.charts import Figure, figure, themed
from tacit.runs.figures import shown_of
from tacit.runs.run import Run

MOST_ROWS = 30_000
"""Maximum number of rows of a table in the report, summed over all models."""

MOST_SCORES = 250_000
"""Maximum number of rows of details (see ``Details``), summed over all models."""

Position: TypeAlias = Literal["dot", "low", "high", "reference"]


@dataclass(frozen=True)
class Mark:
    """A model's value of a headline, on the headline's scale."""

    model: str
    headline: Headline
    entry: Entry

    @property
    def value(self) -> str:
        """The value as text."""
        return self.entry.of(self.entry.column.name)

    @property
    def about(self) -> str:
        """The interval, the chance level and the sample size as text."""
        entry, among, kind = self.entry, self.headline.among, self.entry.column.kind
        parts = []
        if entry.column.ends:
            parts.append(interval(*entry.ends, kind))
        if isinstance(entry.column.chance, str) and not among:
            parts.append(f"chance level {formatted(entry.chance, kind)}")
        if self.headline.n is not None:
            parts.append(f"n = {counted(self.headline, entry.row)}")
        if among and entry.chance is not None:
            candidates = several(entry.row[among[0]], among[1])
            parts.append(f"chance level {formatted(entry.chance, kind)} among {candidates}")
        return ", ".join(parts)

    @property
    def positions(self) -> dict[Position, str]:
        """The CSS class of each part's position on the scale, such as ``left-2500``."""
        low, high = self.entry.ends
        values: dict[Position, float | None] = {
            "dot": self.entry.value,
            "low": low,
            "high": high,
            "reference": self.entry.chance,
        }
        return {name: self._position(name, at) for name, at in values.items() if at is not None}

    def _position(self, name: Position, value: float) -> str:
        least, most = self.headline.scale
        within = round(10_000 * min(1.0, max(0.0, (value - least) / (most - least))))
        return f"right-{10_000 - within}" if name == "high" else f"left-{within}"


@dataclass(frozen=True)
class Tile:
    """The box of a headline: its value for each model."""

    headline: Headline
    scale: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """A section of the report; the declarations have the names of their elements on the page."""

    id: str
    title: str
    question: str
    headlines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tiles: tuple[Tile, ...] = ()
    graphs: tuple[GraphSet, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Details, ...] = ()
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def shown(self) -> list[Details]:
        """The tables, except those that open from a row of another table."""
        return [table for table in self.tables if table.behind is None]


def section(runs: Sequence[Run], colours: Palette = HOUSE) -> Section:
    """Return a probe's section of the report, with tiles, figures, graphs and tables."""
    kind = probe(runs[0].probe)
    drawn = charts(declared_figures(kind), shown_of(runs, colours))
    return Section(
        id=kind.name,
        title=title_of(kind),
        question=kind.question or kind.summary,
        headlines={run.name: run.block.lines for run in runs if run.block},
        notes={run.name: run.notes for run in runs},
        tiles=tuple(tile(headline, runs) for headline in kind.headlines),
        graphs=tuple(graphs(runs, colours)),
        figures=tuple(figure(kind.name, spec, chart, colours) for spec, chart in drawn),
        tables=(*tables(runs), *details(runs)),
        filters={name: values_of(name, runs) for name in kind.filters},
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


def tables(runs: Sequence[Run]) -> Iterator[Details]:
    """Yield each table that the probe declares, with the rows of all models."""
    for spec in declared_tables(probe(runs[0].probe)).values():
        found = _of_all_models(spec, runs) if spec.shown else None
        if found is not None:
            yield found


def _of_all_models(spec: TableSpec, runs: Sequence[Run]) -> Details | None:
    frames = [
        frame.with_columns(model=pl.lit(run.name))
        for run in runs
        if (frame := run.findings.table(spec)) is not None and not frame.is_empty()
    ]
    if not frames:
        return None
    frame = pl.concat(frames, how="diagonal_relaxed")
    if frame.height > MOST_ROWS:
        spec = spec.with_reading(
            f"Only the first {MOST_ROWS:,} of {several(frame.height, 'row')} are shown."
        )
    name = f"{runs[0].probe}-{spec.name}".replace("_", "-")
    renamed = {each.name: each.filter for each in spec.in_table(frame) if each.filter}
    columns = (replace(each, name=each.filter or each.name) for each in spec.columns)
    spec = replace(spec, name=name, columns=(Column("model", "model"), *columns))
    return Details(spec, frame.head(MOST_ROWS).rename(renamed))


def details(runs: Sequence[Run]) -> Iterator[Details]:
    """Yield each model's details under the names of their elements on the page."""
    for number, run in enumerate(runs):
        stem = f"{run.probe}-{number}"
        for each in probe(run.probe).details(run.findings, run.request, MOST_SCORES // len(runs)):
            if each.spec.shown:
                title = each.spec.title if each.behind else f"{each.spec.title}: {run.name}"
                spec = replace(each.spec, name=f"{stem}-{each.spec.name}", title=title)
                opens = tuple(f"{stem}-{name}" for name in each.opens)
                yield replace(each, spec=spec, opens=opens)


def graphs(runs: Sequence[Run], colours: Palette) -> Iterator[GraphSet]:
    """Yield the probe's set of graphs, if it draws one."""
    found = probe(runs[0].probe).report_graphs({run.name: run.findings for run in runs}, colours)
    if found is not None:
        drawn = tuple((labels, themed(each, colours)) for labels, each in found.graphs)
        yield replace(found, name=f"{runs[0].probe}-{found.name}", graphs=drawn)


def tile(headline: Headline, runs: Sequence[Run]) -> Tile:
    """Return the box of a headline, with a mark for each value of each model."""
    declared = declared_tables(probe(runs[0].probe))
    marks = tuple(
        Mark(", ".join([run.name, *_labels(headline, declared, entry.row)]), headline, entry)
        for run in runs
        for entry in measured(headline, run.findings, declared)
    )
    kind = declared[headline.table].column(headline.column).kind
    ends = " to ".join(formatted(end, kind) for end in headline.scale)
    return Tile(headline, ends, marks)


def _labels(
    headline: Headline, declared: Mapping[str, TableSpec], row: Mapping[str, Any]
) -> Iterable[str]:
    for name in headline.by:
        column = declared[headline.table].column(name)
        yield row[name] if column.kind == "text" else f"{column.heading}: {row[name]}"
