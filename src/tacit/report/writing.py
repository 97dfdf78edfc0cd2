"""From runs to the file: sections made, data packed, the template filled in."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from tacit.english import number_of, several
from tacit.files import publish_text
from tacit.outputs import Kind
from tacit.probes.base import probes
from tacit.report import charts
from tacit.report.charts import unchecked
from tacit.report.content import Figure, Graphs, Table
from tacit.report.differences import differences, refusals
from tacit.report.elicitation import differing
from tacit.report.packing import packed, shared, table_data
from tacit.runs.reading import read_runs
from tacit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.report.content import Block, Section
    from tacit.runs.reading import Run

PageKind: TypeAlias = Literal["report", "comparison"]

# The bytes in which a page says what it is.
_HEAD = 4096

# Of a manifest, what stands in the sections, and what the tables were when they were written.
_FOUND = frozenset({"summary", "sha256"})


@dataclass(frozen=True)
class _RunSection:
    """A run as the manifest's section shows it."""

    name: str
    probe: str
    request: str
    manifest: str


def write_report(folders: Sequence[Path], path: Path, *, warn: bool = False) -> None:
    """Writes the report of some runs; the same runs give the same bytes.

    Models that ran the same probe on the same data are compared with one another.

    Args:
        folders: Runs' folders, or folders that hold several.
        path: The file.
        warn: Whether runs that should not be compared are compared all the same, under a warning;
            else they stand beside one another.

    Raises:
        RequestError: A folder holds no run, or a run is named twice.
        DataError: A run is not finished, or damaged.
        WorkError: The file cannot be written.
    """
    publish_text(path, report(read_runs(folders), warn=warn))


def page_kind(kind: PageKind) -> Kind:
    """Return the kind of the pages that ``report`` makes, by which an existing file is known."""
    mark = f'content="Tacit {kind} '

    def is_own(path: Path) -> bool:
        with path.open("rb") as file:
            return mark.encode() in file.read(_HEAD)

    return Kind(f"a {kind} that Tacit wrote", is_own)


def report(runs: Sequence[Run], kind: PageKind = "report", *, warn: bool = False) -> str:
    """The report's HTML.

    Args:
        runs: What it tells of.
        kind: What the page says that it is.
        warn: As :func:`write_report`.
    """
    sections, warnings = _sections(runs, warn=warn)
    names = list(dict.fromkeys(run.name for run in runs))
    style = _asset("report.css") + _edge_rules(sections)
    runtime, script = charts.charts_script(), charts.checked(_asset("report.js"))
    page: str = _template().render(
        policy=_policy(scripts=(runtime, script), style=style),
        version=__version__,
        kind=kind,
        title=f"Conceptual knowledge of {_listed(names)}",
        lead=_lead(runs),
        warnings=warnings,
        sections=sections,
        runs=[_run_section(run) for run in runs],
        blobs=_blobs([block for section in sections for block in section.blocks]),
        style=style,
        charts=runtime,
        script=script,
        licences=charts.LICENCES,
    )
    return page


def _policy(*, scripts: Sequence[str], style: str) -> str:
    """The page's content security policy: it loads nothing, and runs and wears these alone."""
    return (
        f"default-src 'none'; script-src {' '.join(map(_source, scripts))}; "
        f"style-src {_source(style)}; img-src blob:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    """A script or style within the page, as a content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _edge_rules(sections: Sequence[Section]) -> str:
    """Where marks stand on the scales of tiles, as rules of style."""
    marks = [mark for section in sections for tile in section.tiles for mark in tile.marks]
    edges = sorted({edge.partition("-")[::2] for mark in marks for edge in mark.edges})
    return "".join(
        f".scale .{side}-{at} {{ {side}: {int(at) / 100:.2f}%; }}\n" for side, at in edges
    )


def _sections(runs: Sequence[Run], *, warn: bool) -> tuple[list[Section], list[str]]:
    from tacit.report.sections import section

    sections, warnings = [], []
    reasons = refusals(runs)
    compared = differences(runs, only=None if warn else set(probes()) - set(reasons))
    for probe, why in reasons.items():
        told = "; ".join(why)
        warnings.append(
            f"{probe.capitalize()}: these runs differ in more than the model ({told}). "
            + (
                "They are compared all the same, as was asked: what differs may come from that."
                if warn
                else "They stand beside one another and are not compared."
            )
        )
    warnings += differing(runs)
    sections += [compared] if compared else []
    for probe in probes():
        mine = [run for run in runs if run.probe == probe]
        if mine:
            with unchecked():
                sections.append(section(mine))
    return sections, warnings


def _lead(runs: Sequence[Run]) -> str:
    ran = [probe for probe in probes() if any(run.probe == probe for run in runs)]
    kind = number_of(len(ran), "probe")
    return (
        f"{several(len(runs), 'run')} of the {_listed(ran)} {kind}. "
        "Each number has its n and, where it is an estimate, a 95\N{NO-BREAK SPACE}% confidence "
        "interval (CI): the bar on the scale. The sections below have all tables and charts, to "
        "sort, filter and download. The page loads nothing from elsewhere."
    )


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _run_section(run: Run) -> _RunSection:
    request = yaml.safe_dump(dict(run.request), sort_keys=False, allow_unicode=True)
    about = {key: value for key, value in run.manifest.items() if key not in _FOUND}
    manifest = yaml.safe_dump(about, sort_keys=False, allow_unicode=True)
    return _RunSection(run.name, run.probe, request, manifest)


def _blobs(blocks: Sequence[Block]) -> dict[str, str]:
    """What the page's script unpacks: the page's data at once, the rest when it is wanted."""
    shown = [b for b in blocks if isinstance(b, Table) and b.behind is None]
    pictures = [b for b in blocks if isinstance(b, Graphs)]
    page: Mapping[str, Any] = {
        "tables": [table_data(table) for table in shown],
        "graphs": {each.id: [dict(graph.labels) for graph in each.graphs] for each in pictures},
        **shared([b for b in blocks if isinstance(b, Figure)]),
    }
    blobs = {"page": packed(page)}
    for block in blocks:
        if isinstance(block, Table) and block.behind is not None:
            blobs[f"table-{block.id}"] = packed(table_data(block))
    for each in pictures:
        for number, graph in enumerate(each.graphs):
            blobs[f"graph-{each.id}-{number}"] = packed(graph.svg)
    return blobs


def _asset(name: str) -> str:
    return (resources.files("tacit.report") / "page" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:  # noqa: ANN401 - Jinja's own, which is imported where it is used
    import jinja2

    # What is ours and no HTML (style and script) is marked as such; all else is escaped.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_asset("report.html.j2"))
