"""What a chart holds, and what its figure shows."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from tacit.charts import save
from tacit.charts.theme import PALETTES, Chart

_SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def svg(chart: Chart | None, palette: str = "house") -> str:
    return save.drawn(drawn(chart).to_dict(), PALETTES[palette])


def rows(chart: Chart | None) -> list[dict[str, Any]]:
    """The rows of all tables that the specification holds."""
    return [row for table in drawn(chart).to_dict()["datasets"].values() for row in table]


def texts(figure: str) -> list[str]:
    return [" ".join(each.itertext()) for each in _elements(figure, "text")]


def joined_text(figure: str) -> str:
    """All texts of a figure as one, however its caption is broken into lines."""
    return " ".join(" ".join(texts(figure)).split())


def tips(figure: str) -> list[str]:
    """What a pointer that rests on a mark reads."""
    return ["".join(each.itertext()) for each in _elements(figure, "title")]


def _elements(figure: str, name: str) -> Iterator[ET.Element]:
    return ET.fromstring(figure).iter(f"{_SVG}{name}")  # noqa: S314 - our own
