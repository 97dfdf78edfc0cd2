"""From a probe's chart to a chart of the page: one that says on hover what it shows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tacit.charts.shown import whole_lines
from tacit.charts.theme import FONT
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
