"""SVG, element by element: everything escaped, numbers short, the same input the same bytes."""

from __future__ import annotations

from typing import TypeAlias
from xml.etree import ElementTree as ET

from tacit.charts.save import legal
from tacit.charts.theme import FONT

Element: TypeAlias = ET.Element
Value: TypeAlias = str | float


def document(width: float, height: float, title: str) -> Element:
    """An empty drawing on white; the title is what a screen reader says."""
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
    """Adds an element; an underscore in an attribute's name stands for a hyphen."""
    element = ET.SubElement(parent, tag)
    mark(element, **attributes)
    return element


def mark(element: Element, **attributes: Value) -> None:
    """Gives an element attributes, as :func:`add` does."""
    for name, value in attributes.items():
        text = legal(value) if isinstance(value, str) else number(value)
        element.set(name.rstrip("_").replace("_", "-"), text)


def write(parent: Element, x: float, y: float, words: str, **attributes: Value) -> Element:
    """Adds one line of text; y is its baseline."""
    element = add(parent, "text", x=x, y=y, **attributes)
    element.text = legal(words)
    return element


def tip(element: Element, words: str) -> None:
    """What a pointer resting on the element reads."""
    title = ET.Element("title")
    title.text = legal(words)
    element.insert(0, title)


def serialised(root: Element) -> str:
    """The document as text, ending in a line break."""
    ET.indent(root, " ")
    # White space within a text would be drawn.
    for element in root.iter("text"):
        for child in element:
            child.tail = None
    return ET.tostring(root, encoding="unicode") + "\n"


def number(value: float) -> str:
    """A number to one tenth of a pixel."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
