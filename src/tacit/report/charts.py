"""From a probe's chart to a chart of the page: one that says on hover what it shows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tacit.probes.figures.charts import FONT
from tacit.probes.figures.panels import whole_lines
from tacit.report.content import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.findings.spec import FigureSpec
    from tacit.probes.figures.charts import Chart, Palette

_NARROW = 500  # pixels of a chart without its axes
_SHARES = ("accuracy", "share", "before", "after", "gain", "low", "high")
_COUNTS = ("n", "rank", "missing", "s")
_NAMES = ("model", "relation", "thing", "world")


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
    from tacit.probes.figures.charts import themed

    spec = themed(chart, colours).to_dict(validate=False)
    heading = _heading(spec)
    spec.pop("$schema", None)  # an address, and never looked up
    spec["background"] = None
    spec["config"].pop("background", None)
    spec["config"]["font"] = FONT
    datasets = spec.get("datasets", {})
    for layer, data in _marked(spec, None):
        _tell(layer, datasets.get(data, ()))
    caption = whole_lines(heading.get("subtitle", ())) if heading else ()
    stem = f"{probe}-{declared.name.replace('_', '-')}"
    texts = (declared.title, declared.reading)
    return Figure(stem, *texts, spec, heading, caption, wide=not _is_narrow(spec))


def _heading(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Takes out the chart's title, which the page says in words; None where it has several."""
    if "title" in spec:
        heading = spec.pop("title")
    elif len(spec.get("vconcat", ())) == 1:
        heading = spec["vconcat"][0].pop("title", None)
    else:
        return None
    return heading if isinstance(heading, dict) else None


def _is_narrow(spec: Mapping[str, Any]) -> bool:
    """Whether two such charts stand side by side on a usual screen."""
    inner = spec.get("vconcat", ())
    alone = len(inner) == 1 and "layer" in inner[0]
    return alone and inner[0].get("width", _NARROW) <= _NARROW


def _marked(node: dict[str, Any], data: str | None) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Every part of a chart that draws marks, with the name of its data, which it may inherit."""
    data = node.get("data", {}).get("name", data)
    if "mark" in node and "encoding" in node:
        yield node, data
    for key in ("layer", "vconcat", "hconcat", "concat"):
        for inner in node.get(key, ()):
            yield from _marked(inner, data)


def _tell(layer: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Gives marks a tooltip: what they are described by, else what their row holds."""
    encoding, mark = layer["encoding"], layer["mark"]
    if "tooltip" in encoding:
        return
    if "description" in encoding:
        encoding["tooltip"] = encoding["description"]
    elif rows and (mark if isinstance(mark, str) else mark["type"]) == "point":
        encoding["tooltip"] = [*_fields(rows[0])]


def _fields(row: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for name in (each for each in _NAMES if each in row):
        yield {"field": name, "type": "nominal"}
    for name in (each for each in _COUNTS if each in row):
        yield {"field": name, "type": "quantitative", "format": ","}
    for name in (each for each in _SHARES if each in row):
        yield {"field": name, "type": "quantitative", "format": ".1%"}
