"""Draw the figures of runs, as files or as Altair charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.charts.save import check_formats, write_chart, write_charts
from tacit.charts.shown import Shown
from tacit.charts.theme import Chart, Palette, palette_of, themed
from tacit.errors import RequestError
from tacit.options import declarations
from tacit.probes.base import declared_figures
from tacit.probes.registry import probe
from tacit.strings import listed

if TYPE_CHECKING:
    from tacit.runs.run import Run, Runs
    from tacit.runs.workflow import RunRequest


@dataclass(frozen=True)
class FigureOptions:
    """The options of figures: the file formats and the palette."""

    formats: tuple[str, ...]
    colours: Palette

    @classmethod
    def of(cls, formats: str | None, palette: str) -> FigureOptions:
        """Parse the figure options, and raise an error if an option is invalid."""
        chosen = listed(formats)
        check_formats(chosen)
        return cls(chosen, palette_of(palette))

    def check(self, request: RunRequest) -> None:
        """Raise an error if an option for figures has no effect, or requests a missing graph."""
        for name, one in declarations(type(request.options)).items():
            if one.figures and getattr(request.options, name) and not self.formats:
                flag = f"--{name.replace('_', '-')}"
                raise RequestError(f"{flag} requires --figures, which selects the file formats")
        if self.formats:
            request.made.check_graphs(request.options)

    def draw(self, request: RunRequest, runs: Runs, folder: Path) -> None:
        if not self.formats:
            return
        kind, shown = probe(request.probe), shown_of(runs.runs, self.colours)
        write_charts(declared_figures(kind), shown, folder, self.formats)
        for name, graph in kind.graphs(shown, request.made, request.options).items():
            write_chart(graph, self.colours, folder / name, self.formats)


def shown_of(runs: Sequence[Run], colours: Palette) -> Shown:
    """Collect the data that figures need: the models' findings, sizes and families."""
    sizes = {run.name: run.model.get("parameters") for run in runs}
    families = {run.name: run.model.get("family") for run in runs}
    return Shown({run.name: run.findings for run in runs}, sizes, colours, families)


def chart(runs: Sequence[Run], name: str, palette: str = "house") -> Chart:
    """Return an Altair chart that shows the models of several runs of one probe."""
    figures, chosen = declared_figures(probe(runs[0].probe)), palette_of(palette)
    if name not in figures:
        raise RequestError(
            f"the probe {runs[0].probe} has no figure {name!r}; "
            f"its figures are {', '.join(figures) or 'none'}"
        )
    drawn = figures[name](shown_of(runs, chosen))
    if drawn is None:
        raise RequestError(f"the findings contain no data for the figure {name!r}")
    return themed(drawn, chosen)
