"""A probe's section of the report, made from the probe's declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import polars as pl

from tacit.charts.save import charts
from tacit.charts.theme import HOUSE
from tacit.english import several
from tacit.findings.block import Block, Entry, counted, measured
from tacit.findings.display import Details, GraphSet, Headline
from tacit.findings.numbers import bracketed, formatted
from tacit.findings.spec import ANSWERS, OVERVIEW, PAPER, TABLES, Column, TableSpec
from tacit.probes.base import declared_figures, declared_tables, title_of
from tacit.probes.registry import probe
from tacit.report.charts import Figure, figure, themed
from tacit.runs.figures import shown_of
from tacit.runs.run import Run

MOST_ROWS = 30_000
"""Maximum number of rows of a table in the report, summed over all models."""

MOST_SCORES = 250_000
"""Maximum number of rows of details (see ``Details``), summed over all models."""

_MOST_TILES = 5
_MOST_CHOICES = 200  # of a filter

Position: TypeAlias = Literal["dot", "low", "high", "reference"]


@dataclass(frozen=True)
class Mark:
    """A model's value of a headline, on the headline's scale."""

    headline: Headline
    entry: Entry

    @property
    def value(self) -> str:
        return self.entry.of(self.entry.column.name)

    @property
    def interval(self) -> str:
        """The ends of the interval in brackets; empty if there is none."""
        entry = self.entry
        return bracketed(entry.value, *entry.ends, entry.column.kind)[len(self.value) + 1 :]

    @property
    def about(self) -> str:
        """The chance level, the best possible value and the sample size as text."""
        entry, of, among, parts = self.entry, self.headline, self.headline.among, []
        if entry.chance is not None:
            candidates = f" among {entry.row[among[0]]:,}" if among else ""
            chance = formatted(entry.chance, entry.column.kind)
            parts.append(f"{of.baseline} {chance}{candidates}")
        if of.best is not None:
            parts.append(f"best {formatted(of.best, entry.column.kind)}")
        if of.n is not None:
            parts.append(f"n = {counted(self.headline, entry.row)}")
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
    """The box of a headline: its value for each model, by the model's name."""

    label: str
    meaning: str
    marks: Mapping[str, Mark]


@dataclass(frozen=True)
class Tab:
    """A tab of a section; the declarations have the names of their elements on the page."""

    title: str
    figures: tuple[Figure, ...] = ()
    graphs: tuple[GraphSet, ...] = ()
    tables: tuple[Details, ...] = ()

    @property
    def contents(self) -> tuple[Figure | GraphSet | Details, ...]:
        return (*self.graphs, *self.figures, *self.tables)

    @property
    def id(self) -> str:
        """The name of the tab's element, without the name of the section."""
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True)
class Section:
    """A section of the report."""

    id: str
    title: str
    question: str
    tabs: tuple[Tab, ...]
    runs: tuple[Run, ...] = ()
    blocks: Mapping[str, Block] = field(default_factory=dict)
    behind: tuple[Details, ...] = ()
    tiles: tuple[Tile, ...] = ()
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Details]:
        """The tables that the page's script draws, those behind rows of others included."""
        own = [each for tab in self.tabs if tab.title != OVERVIEW for each in tab.tables]
        return [*own, *self.behind]

    @property
    def figures(self) -> list[Figure]:
        return [each for tab in self.tabs for each in tab.figures]

    @property
    def graphs(self) -> list[GraphSet]:
        return [each for tab in self.tabs for each in tab.graphs]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts of all models, each once."""
        return list(dict.fromkeys(run.verdict.name for run in self.runs if run.verdict))


def section(runs: Sequence[Run]) -> Section:
    """Return a probe's section of the report, with tiles, figures, graphs and tables."""
    kind = probe(runs[0].probe)
    given = [*tables(runs), *details(runs)]
    tabs = _tabs(runs, [each for each in given if each.behind is None])
    answers = [each for tab in tabs if tab.title == ANSWERS for each in tab.tables]
    return Section(
        id=kind.name,
        title=title_of(kind),
        question=kind.question or kind.summary,
        tabs=tabs,
        runs=tuple(runs),
        blocks={
            run.name: replace(block, control=_control(run)) for run in runs if (block := run.block)
        },
        behind=tuple(each for each in given if each.behind is not None),
        tiles=tuple(tiles(runs)),
        filters={name: values for name in kind.filters if (values := values_of(name, answers))},
    )


def _control(run: Run) -> str | None:
    """Return the control or caution of a run, without the likeliest tokens, which have a card."""
    own = probe(run.probe).block(run.findings)
    return own.control if own else None


def _tabs(runs: Sequence[Run], listed: Sequence[Details]) -> tuple[Tab, ...]:
    """Return the tabs of a section: the overview first, and the papers' and all others last."""
    kind = probe(runs[0].probe)
    drawn = charts(declared_figures(kind), shown_of(runs, HOUSE))
    figures = [figure(kind.name, spec, chart) for spec, chart in drawn]
    sets = list(graphs(runs))
    names = [OVERVIEW, ANSWERS, *(each.spec.tab for each in listed)]
    names += [*(each.declared.tab for each in figures), *(each.tab for each in sets)]
    last = (PAPER, TABLES)
    names = [*(name for name in dict.fromkeys(names) if name not in last), *last]
    tabs = (
        Tab(
            name,
            tuple(each for each in figures if each.declared.tab == name),
            tuple(each for each in sets if each.tab == name),
            tuple(each for each in listed if each.spec.tab == name),
        )
        for name in names
    )
    return tuple(tab for tab in tabs if tab.title == OVERVIEW or any(tab.contents))


def values_of(name: str, listed: Sequence[Details]) -> tuple[str, ...]:
    """Return a filter's choices: the values of the column; none if they are too many."""
    values = {
        value
        for each in listed
        if name in each.table.columns
        for value in each.table[name].unique()
        if isinstance(value, str)
    }
    return tuple(sorted(values)) if 1 < len(values) <= _MOST_CHOICES else ()


def tables(runs: Sequence[Run]) -> Iterator[Details]:
    """Yield each table that the probe declares, with the rows of all models."""
    for spec in declared_tables(probe(runs[0].probe)).values():
        whole = _of_all_models(spec, runs) if spec.shown else None
        if whole is not None:
            yield whole


def _of_all_models(spec: TableSpec, runs: Sequence[Run]) -> Details | None:
    frames = [
        frame.with_columns(model=pl.lit(run.name))
        for run in runs
        if (frame := run.findings.table(spec.name)) is not None and not frame.is_empty()
    ]
    if not frames:
        return None
    frame = pl.concat(frames, how="diagonal_relaxed")
    if frame.height > MOST_ROWS:
        spec = spec.with_reading(
            f"Only the first {MOST_ROWS:,} of {several(frame.height, 'row')} are shown."
        )
    name = f"{runs[0].probe}-{spec.name}".replace("_", "-")
    spec = replace(spec, name=name, columns=(Column("model", "model"), *spec.columns))
    return Details(spec, frame.head(MOST_ROWS))


def details(runs: Sequence[Run]) -> Iterator[Details]:
    """Yield each model's details under the names of their elements on the page."""
    for number, run in enumerate(runs):
        stem = f"{run.probe}-{number}"
        for each in probe(run.probe).details(run.findings, run.request, MOST_SCORES // len(runs)):
            if each.spec.shown:
                of = "" if each.behind or len(runs) == 1 else f": {run.name}"
                title = f"{each.spec.title}{of}"
                spec = replace(each.spec, name=f"{stem}-{each.spec.name}", title=title)
                opens = tuple(f"{stem}-{name}" for name in each.opens)
                yield replace(each, spec=spec, opens=opens)


def graphs(runs: Sequence[Run]) -> Iterator[GraphSet]:
    """Yield the probe's set of graphs, if it draws one."""
    graph_set = probe(runs[0].probe).report_graphs({run.name: run.findings for run in runs}, HOUSE)
    if graph_set is not None:
        drawn = tuple((labels, themed(each)) for labels, each in graph_set.graphs)
        yield replace(graph_set, name=f"{runs[0].probe}-{graph_set.name}", graphs=drawn)


def tiles(runs: Sequence[Run]) -> Iterator[Tile]:
    """Yield the boxes of the first results that any model has."""
    kind = probe(runs[0].probe)
    declared = declared_tables(kind)
    number = 0
    for headline in kind.headlines:
        by_label: dict[str, dict[str, Mark]] = {}
        for run in runs:
            if headline.gain and run.verdict and not run.verdict.shows_something:
                continue
            entries = list(measured(headline, run.findings, declared))
            for entry in entries:
                if entry.value is not None:
                    label = ", ".join(_labels(headline, declared, entry, entries))
                    by_label.setdefault(label, {})[run.name] = Mark(headline, entry)
        for label, marks in by_label.items():
            number += 1
            if number <= _MOST_TILES:
                name = ", ".join(filter(None, (headline.label, label)))
                yield Tile(name, headline.about, marks)


def _labels(
    headline: Headline,
    declared: Mapping[str, TableSpec],
    entry: Entry,
    entries: Sequence[Entry],
) -> Iterator[str]:
    """Yield what tells an entry from the other entries of a model."""
    for name in headline.by:
        if len({each.row[name] for each in entries}) > 1:
            column = declared[headline.table].column(name)
            value = entry.row[name]
            yield value if column.kind == "text" else f"{column.heading}: {value}"
