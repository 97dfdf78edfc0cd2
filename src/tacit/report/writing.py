"""Write the report: create the sections, pack the data, and fill in the template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from tacit.english import number_of, several
from tacit.files import publish_text
from tacit.models.registry import DEMOS
from tacit.outputs import Kind
from tacit.probes.registry import probes
from tacit.report import charts
from tacit.report.charts import unchecked
from tacit.report.content import Figure, Graphs, Table
from tacit.report.differences import differences, refusals
from tacit.report.elicitation import differing
from tacit.report.glossary import meanings
from tacit.report.packing import packed, shared, table_data
from tacit.runs.reading import read_runs
from tacit.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.report.content import Block, Section
    from tacit.runs.reading import Run

PageKind: TypeAlias = Literal["report", "comparison"]

# The number of bytes at the start of a page that include its kind.
_HEAD = 4096

# Entries of a manifest that the page omits: the summary, which the sections show, and digests.
_FOUND = frozenset({"summary", "sha256"})


@dataclass(frozen=True)
class _RunSection:
    """The request and the manifest of a run, as text in the last section of the page."""

    name: str
    probe: str
    request: str
    manifest: str


def write_report(folders: Sequence[Path], path: Path, *, warn: bool = False) -> None:
    """Write a report on runs; the same runs always result in an identical file."""
    publish_text(path, report(read_runs(folders), warn=warn))


def page_kind(kind: PageKind) -> Kind:
    """Return the ``outputs.Kind`` of HTML files that contain a report or a comparison."""
    mark = f'content="Tacit {kind} '

    def is_own(path: Path) -> bool:
        with path.open("rb") as file:
            return mark.encode() in file.read(_HEAD)

    return Kind(f"a {kind} that Tacit wrote", is_own)


def report(runs: Sequence[Run], kind: PageKind = "report", *, warn: bool = False) -> str:
    """Return the report as HTML."""
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
        example=_example(sections),
        runs=[_run_section(run) for run in runs],
        blobs=_blobs([block for section in sections for block in section.blocks]),
        style=style,
        charts=runtime,
        script=script,
        licences=charts.LICENCES,
    )
    return page


def _policy(*, scripts: Sequence[str], style: str) -> str:
    """Return a content security policy that allows only the page's own scripts and styles."""
    return (
        f"default-src 'none'; script-src {' '.join(map(_source, scripts))}; "
        f"style-src {_source(style)}; img-src blob:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    """Return the hash of an embedded script or style for the content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _edge_rules(sections: Sequence[Section]) -> str:
    """Return the CSS rules that position models' values on the scales of the main results."""
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
            f"{probe.capitalize()} probe: the runs differ in more than the model ({told}). "
            + (
                "The runs differ in more than the model, and are compared only because the "
                "option --force was used; a difference in the results may have other causes "
                "than the model."
                if warn
                else "The runs are shown side by side and are not compared."
            )
        )
    warnings += differing(runs)
    taught = sorted({name for run in runs if (name := str(run.request.get("model"))) in DEMOS})
    if taught:
        kind = number_of(len(taught), "a bundled demo model", "bundled demo models")
        warnings.append(
            f"{_listed(taught)}: {kind}, trained for demonstration on data with deliberate gaps "
            "and errors. The results illustrate what Tacit finds, but are no evidence about "
            "models other than the demo models. If the data are Tacit's demo data, they are "
            "invented, too: nobody was asked for the properties that “people” name."
        )
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
        f"{several(len(runs), 'run')} of the {kind} {_listed([f'“{probe}”' for probe in ran])}. "
        "CI: confidence interval. The sections below contain all charts and tables."
    )


def _listed(names: Sequence[str]) -> str:
    """Return names as text, joined with commas and "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _example(sections: Sequence[Section]) -> Block | None:
    """Return the block at the top of the page: the first graphs, or else the first chart."""
    blocks = [block for section in sections for block in section.shown]
    graphs: list[Block] = [block for block in blocks if isinstance(block, Graphs)]
    charts: list[Block] = [block for block in blocks if isinstance(block, Figure)]
    return next(iter(graphs + charts), None)


def without_folders(value: Any) -> Any:  # noqa: ANN401 - YAML
    """Return a copy of a YAML value in which absolute paths are shortened to file names."""
    if isinstance(value, Mapping):
        return {without_folders(key): without_folders(each) for key, each in value.items()}
    if isinstance(value, str):
        path = PurePath(value)
        return f"\N{HORIZONTAL ELLIPSIS}/{path.name}" if path.is_absolute() else value
    if isinstance(value, Sequence):
        return [without_folders(each) for each in value]
    return value


def _run_section(run: Run) -> _RunSection:
    def shown(content: Mapping[str, Any]) -> str:
        return yaml.safe_dump(without_folders(content), sort_keys=False, allow_unicode=True)

    request = shown(run.request)
    manifest = shown({key: value for key, value in run.manifest.items() if key not in _FOUND})
    return _RunSection(run.name, run.probe, request, manifest)


def _blobs(blocks: Sequence[Block]) -> dict[str, str]:
    """Return the packed data for the page's script, as a mapping from names to texts."""
    shown = [b for b in blocks if isinstance(b, Table) and b.behind is None]
    pictures = [b for b in blocks if isinstance(b, Graphs)]
    page: Mapping[str, Any] = {
        "tables": [table_data(table) for table in shown],
        "terms": meanings(),
        "headings": meanings(headings=True),
        "graphs": {each.id: [dict(graph.labels) for graph in each.graphs] for each in pictures},
        **shared([b for b in blocks if isinstance(b, Figure)]),
    }
    blobs = {"page": packed(page)}
    for block in blocks:
        if isinstance(block, Table) and block.behind is not None:
            blobs[f"table-{block.id}"] = packed(table_data(block))
    for each in pictures:
        for number, graph in enumerate(each.graphs):
            blobs[f"graph-{each.id}-{number}"] = packed(graph.spec)
    return blobs


def _asset(name: str) -> str:
    return (resources.files("tacit.report") / "page" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:  # noqa: ANN401 - a Jinja template; Jinja is imported on use
    import jinja2

    # The template marks our own styles and scripts as safe; everything else is escaped.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_asset("report.html.j2"))
