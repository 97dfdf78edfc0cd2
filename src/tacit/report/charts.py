"""Convert a probe's charts to interactive charts, and provide the Vega runtime."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

from tacit.charts.theme import HOUSE, Chart, Spec, config
from tacit.errors import WorkError
from tacit.files import cache_folder, publish_text
from tacit.findings.display import FigureSpec


@contextmanager
def unchecked() -> Iterator[None]:
    """Return a context manager that disables Altair's slow schema validation."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # noqa: FBT003 - its only parameter
        yield


@dataclass(frozen=True)
class Figure:
    """A declared figure with its chart, of which the page shows the title and caption as text."""

    declared: FigureSpec
    chart: Mapping[str, Any]
    heading: Mapping[str, Any] | None = None
    caption: tuple[str, ...] = ()


def figure(probe: str, declared: FigureSpec, chart: Chart) -> Figure:
    """Return a probe's chart as a figure of the report, named as its element on the page."""
    spec = themed(chart.to_dict(validate=False))
    heading = _heading(spec)
    spec.pop("$schema", None)  # the address of the schema, which nothing reads
    for encoding in _encodings(spec):
        if "description" in encoding:
            encoding.setdefault("tooltip", encoding["description"])
    lines = (heading or {}).get("subtitle", ())
    lines = spec.pop("usermeta", {}).get("caption", [lines] if isinstance(lines, str) else lines)
    named = replace(declared, name=f"{probe}-{declared.name.replace('_', '-')}")
    caption = tuple(line for line in lines if line != declared.reading)
    return Figure(named, spec, heading, caption)


def themed(chart: Mapping[str, Any]) -> Spec:
    """Return a Vega-Lite chart with the theme, on the page's background."""
    return {**chart, "background": None, "config": config(HOUSE)}


def _heading(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Remove and return a chart's title; return None if the chart has no title."""
    heading = spec.pop("title", None)
    return {"text": heading} if isinstance(heading, str) else heading


def _encodings(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the encodings of a chart specification and of its layers and panels."""
    if "encoding" in node:
        yield node["encoding"]
    for key in ("layer", "vconcat", "hconcat", "concat"):
        for inner in node.get(key, ()):
            yield from _encodings(inner)


LICENCES = (
    "Vega, Vega-Lite and Vega-Embed: copyright University of Washington Interactive Data Lab and "
    "contributors, BSD 3-Clause licence. The Vega libraries bundle d3 and topojson-client (Mike "
    "Bostock, ISC licence), fast-json-patch (Joachim Wester, MIT licence), "
    "json-stringify-pretty-compact (Lydell, MIT licence), semver (Isaac Z. Schlueter, ISC licence) "
    "and lodash.debounce (JS Foundation, MIT licence)."
)
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def runtime() -> str:
    """Return a self-contained script with the function ``vegaEmbed``, which draws charts."""
    import vl_convert

    version = metadata.version("vl-convert-python")
    kept = cache_folder() / f"charts-{version}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return checked(kept.read_text(encoding="utf-8"))
    bundle = checked(vl_convert.javascript_bundle(_SNIPPET))
    # If the folder is not writable, the next report bundles the script again.
    with contextlib.suppress(WorkError):
        publish_text(kept, bundle)
    return bundle


def charts_script() -> str:
    """Return the script that draws charts, wrapped so that its variables are local."""
    return f"/* {LICENCES} */\n(function () {{ {runtime()}\n}})();"


def checked(script: str) -> str:
    """Check that a script can be embedded in a page unchanged, and return the script."""
    if any(ending in script.lower() for ending in ("</script", "<!--", "\r", "\0")):
        raise WorkError(
            "the JavaScript bundle of this version of vl-convert cannot be embedded in a page; "
            "install another version"
        )
    return script
