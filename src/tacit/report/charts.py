"""From a probe's chart to a chart of the page: one that says on hover what it shows."""

from __future__ import annotations

import contextlib
import os
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.charts.shown import whole_lines
from tacit.charts.theme import FONT
from tacit.errors import WorkError
from tacit.files import publish_text
from tacit.report.content import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.charts.theme import Chart, Palette
    from tacit.findings.spec import FigureSpec


_NARROW = 500  # pixels of a chart without its axes


@contextmanager
def unchecked() -> Iterator[None]:
    """Charts made within are not held against Vega-Lite's schema, which takes seconds.

    The tests draw each figure held against it.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # noqa: FBT003 - its only parameter
        yield


def figure(probe: str, declared: FigureSpec, chart: Chart, colours: Palette) -> Figure:
    """A figure of the page.

    Args:
        probe: Of which probe.
        declared: What the probe says of it.
        chart: As the probe draws it.
        colours: The palette.
    """
    from tacit.charts.theme import themed

    spec = themed(chart, colours).to_dict(validate=False)
    heading = _heading(spec)
    spec.pop("$schema", None)  # an address, and never looked up
    spec["background"] = None
    spec["config"].pop("background", None)
    spec["config"]["font"] = FONT
    for encoding in _encodings(spec):
        if "description" in encoding:
            encoding.setdefault("tooltip", encoding["description"])
    caption = whole_lines(heading.get("subtitle", ())) if heading else ()
    stem = f"{probe}-{declared.name.replace('_', '-')}"
    texts = (declared.title, declared.reading)
    return Figure(stem, *texts, spec, heading, caption, wide=not _is_narrow(spec))


def _heading(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Takes out the chart's title, which the page says in words; None where it has none."""
    heading = spec.pop("title", None)
    return {"text": heading} if isinstance(heading, str) else heading


def _is_narrow(spec: Mapping[str, Any]) -> bool:
    """Whether two such charts stand side by side on a usual screen."""
    inner = spec.get("vconcat", ())
    alone = len(inner) == 1 and "layer" in inner[0]
    return alone and inner[0].get("width", _NARROW) <= _NARROW


def _encodings(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What each part of a chart that draws marks encodes."""
    if "encoding" in node:
        yield node["encoding"]
    for key in ("layer", "vconcat", "hconcat", "concat"):
        for inner in node.get(key, ()):
            yield from _encodings(inner)


LICENCES = (
    "Vega, Vega-Lite and Vega-Embed: copyright University of Washington Interactive Data Lab and "
    "contributors, BSD 3-Clause licence. They bundle d3 and topojson-client "
    "(Mike Bostock, ISC licence), fast-json-patch (Joachim Wester, MIT licence), "
    "json-stringify-pretty-compact (Lydell, MIT licence), semver (Isaac Z. Schlueter, ISC licence) "
    "and lodash.debounce (JS Foundation, MIT licence)."
)
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def runtime() -> str:
    """A script that defines ``vegaEmbed`` and loads nothing.

    Bundling takes seconds, so that the script is kept in the user's cache folder for the version of
    vl-convert that made it.
    """
    import vl_convert

    version = metadata.version("vl-convert-python")
    kept = _cache() / f"charts-{version}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return checked(kept.read_text(encoding="utf-8"))
    bundle = checked(vl_convert.javascript_bundle(_SNIPPET))
    # A folder that cannot be written only costs the seconds again.
    with contextlib.suppress(WorkError):
        publish_text(kept, bundle)
    return bundle


def charts_script() -> str:
    """The runtime as a script of a page, which keeps its own names to itself."""
    return f"/* {LICENCES} */\n(function () {{ {runtime()}\n}})();"


def checked(script: str) -> str:
    """The script, if it can stand within a page as it is.

    Raises:
        WorkError: It holds what would end it there, or what a browser reads as another character,
            so that the hash in the page's policy would be another's.
    """
    if any(ending in script.lower() for ending in ("</script", "<!--", "\r", "\0")):
        raise WorkError("the charts' runtime of this vl-convert cannot stand within a page")
    return script


def _cache() -> Path:
    place = os.environ.get("XDG_CACHE_HOME")
    return (Path(place) if place else Path.home() / ".cache") / "tacit"
