"""Figures: those of the built-in probes, with texts in YAML; of a table column; by model size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import altair as alt

from tacit.charts.theme import Chart
from tacit.english import several
from tacit.findings.declared import shipped
from tacit.findings.display import FigureSpec
from tacit.findings.spec import PAPER, Column, TableSpec

if TYPE_CHECKING:
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.findings.measure import Measures
    from tacit.statistics import Bootstrap

    Draw: TypeAlias = Callable[[Shown], "Drawn | None"]

Drawn: TypeAlias = tuple[Iterable[Sequence[alt.LayerChart]], Mapping[str, Any]]
"""Rows of panels, with the values of the placeholders in the caption."""


@dataclass(frozen=True)
class Text:
    """The texts of a figure, as in ``data/texts/{probe}.yaml``."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    title: str
    reading: str
    caption: tuple[str, ...] = ()
    tab: str = PAPER
    wide: bool = False

    def filled(self, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of the caption with their values, except those that lack one."""
        for line in self.caption:
            names = [name for _, name, _, _ in Formatter().parse(line) if name]
            if all(values[name] not in {None, ""} for name in names):
                yield line.format_map(values)


class Figures(Mapping[str, FigureSpec]):
    """A probe's figures: those of its file of texts, each drawn by the function of its name."""

    def __init__(self, probe: str, functions: Mapping[str, Any], measures: Measures) -> None:
        self._probe = probe
        self._draw = {**functions, "size_of_models": of_sizes(measures)}

    def __getitem__(self, name: str) -> FigureSpec:
        text = self._texts[name]
        draw = partial(_page, text, self._draw[name])
        return FigureSpec(name, text.title, text.reading, draw, text.tab, text.wide)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    @cached_property
    def _texts(self) -> Mapping[str, Text]:
        from pydantic import TypeAdapter

        texts = shipped("texts", self._probe)["figures"] | shipped("texts", "shared")["figures"]
        return TypeAdapter(dict[str, Text]).validate_python(texts)


def _page(text: Text, draw: Draw, shown: Shown) -> Chart | None:
    from tacit.charts.panels import page

    drawn = draw(shown)
    return drawn and page(text.title, [*text.filled(drawn[1])], drawn[0])


def marks_by(
    spec: TableSpec, column: str, key: str, domain: tuple[float, float] = (0.0, 1.0)
) -> FigureSpec:
    """Return the ``FigureSpec`` of a figure that shows a table column with its 95 % CIs.

    Args:
        spec: The declaration of the table.
        column: The name of the column to draw.
        key: The name of the column whose values label the rows of the figure.
        domain: The lowest and the highest value on the axis.

    Examples:
        >>> from tacit import Column, TableSpec, marks_by
        >>> columns = (Column("word", "word"), Column("accuracy", "accuracy", "percent"))
        >>> spec = TableSpec("by_word", "Accuracy by word", "One row per word.", columns)
        >>> marks_by(spec, "accuracy", "word").name
        'by_word'
    """

    def draw(shown: Shown) -> Chart | None:
        from tacit.charts.marks import LabelledRows
        from tacit.charts.panels import page

        table, drawn = shown.defined(spec.name, column), spec.column(column)
        if table is None:
            return None
        reference = spec.column(drawn.chance) if isinstance(drawn.chance, str) else None
        dotted = drawn.chance if isinstance(drawn.chance, float) else None
        how: dict[str, Any] = {"label": key, "domain": domain, "dotted": dotted}
        rows = LabelledRows(table, drawn, shown.colours, reference=reference, **how)
        return page(spec.title, [spec.reading], [rows.panels("model")])

    return FigureSpec(spec.name, spec.title, spec.reading, draw)


def of_sizes(measures: Measures) -> Draw:
    """Return the figure ``size_of_models``: main measures by number of parameters and family."""

    def size_of_models(shown: Shown) -> Drawn | None:
        from tacit.charts.marks import Curves
        from tacit.charts.panels import in_rows
        from tacit.statistics import Bootstrap

        how = Bootstrap()
        table = _by_size(shown, measures, how)
        if table is None:
            return None
        panels = [
            Curves(
                part,
                Column("value", name.partition(",")[0], "score", ends=("low", "high")),
                shown.colours,
                across=Column("parameters", "parameters", "count"),
                by="family",
                log=True,
            ).chart(name)
            for (name,), part in table.drop_nulls("value").group_by("measure", maintain_order=True)
        ]
        return in_rows(panels, 2), {"resamples": several(how.resamples, "resample")}

    return size_of_models


def _by_size(shown: Shown, measures: Measures, how: Bootstrap) -> pl.DataFrame | None:
    """Return the main measures of the models of each family; None if no family has two sizes."""
    import polars as pl

    from tacit.findings.comparison import by_family

    families = {model: shown.known_families.get(model) for model in shown.found}
    rows: list[dict[str, Any]] = []
    for family, models in by_family(families, shown.sizes).items():
        own = measures({model: shown.found[model] for model in models})
        for measure in (each for each in own if each.main and not each.apart):
            for (model, at), of in zip(models.items(), measure.estimates(how), strict=True):
                key = {"measure": measure.name, "model": shown.labels[model], "family": family}
                value = {"value": of.value, "low": of.low, "high": of.high}
                rows.append({**key, "parameters": at, **value})
    table = pl.DataFrame(rows, infer_schema_length=None)
    return None if table.is_empty() or table["value"].is_null().all() else table
