"""Write the report: create the sections, pack the data, and fill in the template."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path, PurePath
from typing import Any, Literal

import yaml

from tacit.english import number_of
from tacit.files import publish_text
from tacit.findings.numbers import formatted, percent
from tacit.models.registry import DEMOS
from tacit.probes.registry import probes
from tacit.report import charts
from tacit.report.charts import unchecked
from tacit.report.differences import differences
from tacit.report.packing import packed, shared, table_data
from tacit.report.sections import Section
from tacit.runs.comparison import by_probe, refusals, warnings_of_elicitation
from tacit.runs.reading import read_runs
from tacit.runs.run import Run
from tacit.version import __version__

# Entries of a manifest that the page omits: the summary, which the sections show, and digests.
_FOUND = frozenset({"summary", "sha256"})


def write_report(folders: Sequence[Path], path: Path) -> None:
    """Write a report on runs; the same runs always result in an identical file."""
    publish_text(path, report(read_runs(folders)))


def report(
    runs: Sequence[Run], kind: Literal["report", "comparison"] = "report", *, force: bool = False
) -> str:
    sections, warnings = _sections(runs, force=force)
    if kind == "report":  # a comparison begins with the differences
        sections.sort(key=lambda one: not one.runs)
    names = list(dict.fromkeys(run.name for run in runs))
    style = _asset("report.css") + _position_rules(sections)
    runtime, script = charts.charts_script(), charts.checked(_asset("report.js"))
    page: str = _template().render(
        policy=_policy(scripts=(runtime, script), style=style),
        version=__version__,
        kind=kind,
        title=_listed(names),
        warnings=warnings,
        sections=sections,
        glossary=glossary(),
        blobs=_blobs(sections),
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


def _position_rules(sections: Sequence[Section]) -> str:
    """Return the CSS rules that position models' values on the scales of the main results."""
    tiles = [tile for section in sections for tile in section.tiles]
    marks = [mark for tile in tiles for mark in tile.marks.values()]
    positions = {each for mark in marks for each in mark.positions.values()}
    return "".join(
        f".scale .{side}-{at} {{ {side}: {int(at) / 100:.2f}%; }}\n"
        for side, _, at in sorted(each.partition("-") for each in positions)
    )


def _sections(runs: Sequence[Run], *, force: bool) -> tuple[list[Section], list[str]]:
    from tacit.report.sections import section

    refused = refusals(runs)
    warnings = [_refused(probe, why, force=force) for probe, why in refused.items()]
    warnings += [each for mine in by_probe(runs).values() for each in warnings_of_elicitation(mine)]
    taught = sorted({name for run in runs if (name := str(run.request.get("model"))) in DEMOS})
    if taught:
        kind = number_of(len(taught), "a demo model", "demo models")
        warnings.append(
            f"{_listed(taught)}: {kind}, trained on invented data with deliberate errors. The "
            "results are no evidence about other models."
        )
    compared = differences(runs, only=None if force else set(probes()) - set(refused))
    with unchecked():
        own = [section(mine.runs) for mine in by_probe(runs).values()]
    return [*([compared] if compared else []), *own], warnings


def _refused(probe: str, why: Sequence[str], *, force: bool) -> str:
    return (
        f"{probe.capitalize()} probe: the runs differ in more than the model ({'; '.join(why)}). "
    ) + (
        "The runs differ in more than the model, and are compared only because the option --force "
        "was used; a difference in the results may have other causes than the model."
        if force
        else "The runs are shown side by side and are not compared."
    )


def _listed(names: Sequence[str]) -> str:
    """Return names as text, joined with commas and "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


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


def _shown(content: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in content.items() if key not in _FOUND}
    return yaml.safe_dump(without_folders(kept), sort_keys=False, allow_unicode=True)


def _blobs(sections: Sequence[Section]) -> dict[str, str]:
    """Return the packed data for the page's script, as a mapping from names to texts."""
    graphs = [each for section in sections for each in section.graphs]
    tables = [table for section in sections for table in section.tables]
    page: Mapping[str, Any] = {
        "tables": [table_data(table) for table in tables if table.behind is None],
        "terms": meanings(),
        "headings": meanings(headings=True),
        "graphs": {each.name: [dict(labels) for labels, _ in each.graphs] for each in graphs},
        **shared([figure for section in sections for figure in section.figures]),
    }
    return {
        "page": packed(page),
        **{f"table-{t.spec.name}": packed(table_data(t)) for t in tables if t.behind is not None},
        **{
            f"graph-{each.name}-{number}": packed(spec)
            for each in graphs
            for number, (_, spec) in enumerate(each.graphs)
        },
    }


def _json(text: str) -> str:
    """Return a token as text, in quotation marks and with white space escaped."""
    return json.dumps(text, ensure_ascii=False)


@cache
def glossary() -> dict[str, dict[str, Any]]:
    """Return the terms of the glossary in alphabetical order, each with its meaning and forms."""
    file = resources.files("tacit.data") / "glossary.yaml"
    content: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def meanings(*, headings: bool = False) -> dict[str, str]:
    """Return a mapping from words in lower case to the definitions that the report shows."""
    return {
        form.lower(): term["meaning"]
        for name, term in glossary().items()
        for form in (
            term.get("headings", ()) if headings else (*name.split(", "), *term.get("forms", ()))
        )
    }


def _asset(name: str) -> str:
    return (resources.files("tacit.report") / "page" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:  # noqa: ANN401 - a Jinja template; Jinja is imported on use
    import jinja2

    # The template marks our own styles and scripts as safe; everything else is escaped.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {"cell": formatted, "shown": _shown, "percent": percent, "json": _json}
    return environment.from_string(_asset("report.html.j2"))
