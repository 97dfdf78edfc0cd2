"""The figures of runs, written as files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.probes.base import declared, probe
from tacit.strings import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Theme
    from tacit.runs.reading import Run
    from tacit.runs.workflow import RunRequest


@dataclass(frozen=True)
class Figures:
    """The figures that a person asked for.

    Args:
        formats: Some of svg, png and pdf; none draws nothing.
        look: The palette.
    """

    formats: tuple[str, ...]
    look: Theme

    @classmethod
    def of(cls, formats: str | None, palette: str) -> Figures:
        """Reads the options, so that a mistake is found before any work.

        Raises:
            RequestError: A format or the palette is not known.
        """
        from tacit.charts.save import check_formats
        from tacit.charts.theme import Theme

        look, chosen = Theme(palette), listed(formats)
        check_formats(chosen)
        _ = look.colours  # refuses an unknown one
        return cls(chosen, look)

    def check(self, request: RunRequest) -> None:
        """Refuses pictures that cannot be drawn, before any work.

        Raises:
            RequestError: An option of pictures stands alone, or names what is not there.
        """
        if getattr(request.options, "graphs", None) and not self.formats:
            raise RequestError("--graphs is for --figures, which says in what format to draw")
        if self.formats and hasattr(request.made, "check_graphs"):
            request.made.check_graphs(request.options)

    def draw(self, request: RunRequest, runs: Mapping[str, Run], folder: Path) -> list[Path]:
        """Writes the figures of runs of one probe, all models together; returns the files.

        Raises:
            WorkError: A file cannot be written.
        """
        if not self.formats:
            return []
        from tacit.charts.save import write_charts, write_svg

        kind, shown = probe(request.probe), shown_of(list(runs.values()), self.look)
        written = write_charts(declared(kind).figures, shown, folder, self.formats)
        if hasattr(kind, "graphs"):
            for name, svg in kind.graphs(shown, request.made, request.options):
                written += write_svg(svg, folder / name, self.formats)
        return written


def shown_of(runs: Sequence[Run], look: Theme) -> Shown:
    """What figures show of runs."""
    from tacit.charts.shown import Shown

    sizes = {run.name: run.model.get("parameters") for run in runs}
    return Shown({run.name: run.findings for run in runs}, sizes, look)


def chart(runs: Sequence[Run], name: str, palette: str = "house") -> Chart:
    """A figure of runs of one probe, all models together, as an Altair chart.

    Raises:
        RequestError: The probe draws no such figure, the findings do not allow it, or the palette
            is not known.
    """
    from tacit.charts.theme import Theme, themed

    figures, look = declared(probe(runs[0].probe)).figures, Theme(palette)
    if name not in figures:
        raise RequestError(
            f"the probe {runs[0].probe} draws no figure {name!r}; it draws {', '.join(figures)}"
        )
    drawn = figures[name](shown_of(runs, look))
    if drawn is None:
        raise RequestError(f"the findings hold nothing for the figure {name!r}")
    return themed(drawn, look.colours)
