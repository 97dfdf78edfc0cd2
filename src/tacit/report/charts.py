"""From a probe's chart to a chart of the page: one that says on hover what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.charts import FONT
from tacit.report.content import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.probes.charts import Chart, Palette

_SHARES = ("accuracy", "share", "before", "after", "gain", "low", "high")
_COUNTS = ("n", "rank", "missing", "s")
_NAMES = ("model", "relation", "thing", "world")


def figure(name: str, title: str, about: str, chart: Chart, colours: Palette) -> Figure:
    """A figure of the page.

    Args:
        name: Its name in the page.
        title: What it is.
        about: How to read it.
        chart: As the probe draws it.
        colours: The palette.
    """
    from tacit.probes.charts import themed

    spec = themed(chart, colours).to_dict()
    spec.pop("$schema", None)  # an address, and never looked up
    spec["background"] = None
    spec["config"].pop("background", None)
    spec["config"]["font"] = FONT
    datasets = spec.get("datasets", {})
    for layer, data in _marked(spec, None):
        _tell(layer, datasets.get(data, ()))
    return Figure(name, title, about, spec)


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
