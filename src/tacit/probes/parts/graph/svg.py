"""Create deterministic SVG elements with escaped text and rounded numbers."""

from __future__ import annotations

from typing import TypeAlias
from xml.etree import ElementTree as ET

from tacit.charts.save import legal
from tacit.charts.theme import FONT

Element: TypeAlias = ET.Element
Value: TypeAlias = str | float


def document(width: float, height: float, title: str) -> Element:
    """Create an empty document with a white background and a title for screen readers."""
    root = ET.Element("svg")
    size = {"width": number(width), "height": number(height)}
    root.attrib |= {
        "xmlns": "http://www.w3.org/2000/svg",
        **size,
        "viewBox": f"0 0 {size['width']} {size['height']}",
        "font-family": FONT,
        "role": "img",
    }
    tip(root, title)
    add(root, "rect", width=width, height=height, fill="#ffffff")
    return root


def add(parent: Element, tag: str, **attributes: Value) -> Element:
    """Add a child element; underscores in attribute names are replaced by hyphens."""
    element = ET.SubElement(parent, tag)
    mark(element, **attributes)
    return element


def mark(element: Element, **attributes: Value) -> None:
    """Set attributes of an element; attribute names are converted as in :func:`add`."""
    for name, value in attributes.items():
        text = legal(value) if isinstance(value, str) else number(value)
        element.set(name.rstrip("_").replace("_", "-"), text)


def write(parent: Element, x: float, y: float, words: str, **attributes: Value) -> Element:
    """Add one line of text with its baseline at the vertical position ``y``."""
    element = add(parent, "text", x=x, y=y, **attributes)
    element.text = legal(words)
    return element


def tip(element: Element, words: str) -> None:
    """Add a tooltip to an element."""
    title = ET.Element("title")
    title.text = legal(words)
    element.insert(0, title)


def serialised(root: Element) -> str:
    """Return the document as SVG text that ends with a line break."""
    ET.indent(root, " ")
    # White space inside a text element would be rendered.
    for element in root.iter("text"):
        for child in element:
            child.tail = None
    return ET.tostring(root, encoding="unicode") + "\n"


def number(value: float) -> str:
    """Format a number of pixels with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
