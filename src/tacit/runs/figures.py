"""Draw the figures of runs, as files or as Altair charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.options import declarations
from tacit.probes.base import declared_figures
from tacit.probes.registry import probe
from tacit.strings import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Theme
    from tacit.runs.run import Run
    from tacit.runs.workflow import RunRequest


@dataclass(frozen=True)
class Figures:
    """The options of figures: the file formats and the theme."""

    formats: tuple[str, ...]
    look: Theme

    @classmethod
    def of(cls, formats: str | None, palette: str) -> Figures:
        """Parse the figure options, and raise an error if an option is invalid."""
        from tacit.charts.save import check_formats
        from tacit.charts.theme import Theme

        look, chosen = Theme(palette), listed(formats)
        check_formats(chosen)
        _ = look.colours  # raises if the palette is unknown
        return cls(chosen, look)

    def check(self, request: RunRequest) -> None:
        """Raise an error if an option for figures has no effect, or requests a missing graph."""
        for name, one in declarations(type(request.options)).items():
            if one.about.figures and getattr(request.options, name) and not self.formats:
                flag = f"--{name.replace('_', '-')}"
                raise RequestError(f"{flag} requires --figures, which selects the file formats")
        if self.formats:
            request.made.check_graphs(request.options)

    def draw(self, request: RunRequest, runs: Mapping[str, Run], folder: Path) -> list[Path]:
        """Draw the figures for runs of one probe, and return the paths of the written files."""
        if not self.formats:
            return []
        from tacit.charts.save import drawn, write_charts, write_svg

        kind, shown = probe(request.probe), shown_of(list(runs.values()), self.look)
        written = write_charts(declared_figures(kind), shown, folder, self.formats)
        for name, graph in kind.graphs(shown, request.made, request.options).items():
            svg = drawn(graph, self.look.colours)
            written += write_svg(svg, folder / name, self.formats)
        return written


def shown_of(runs: Sequence[Run], look: Theme) -> Shown:
    """Collect the data that figures need: the models' findings, sizes and families."""
    from tacit.charts.shown import Shown

    sizes = {run.name: run.model.get("parameters") for run in runs}
    families = {run.name: run.model.get("family") for run in runs}
    return Shown({run.name: run.findings for run in runs}, sizes, look, families)


def chart(runs: Sequence[Run], name: str, palette: str = "house") -> Chart:
    """Return an Altair chart that shows the models of several runs of one probe."""
    from tacit.charts.theme import Theme, themed

    figures, look = declared_figures(probe(runs[0].probe)), Theme(palette)
    if name not in figures:
        raise RequestError(
            f"the probe {runs[0].probe} has no figure {name!r}; "
            f"its figures are {', '.join(figures) or 'none'}"
        )
    found = figures[name](shown_of(runs, look))
    if found is None:
        raise RequestError(f"the findings contain no data for the figure {name!r}")
    return themed(found, look.colours)
