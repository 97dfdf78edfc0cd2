"""Draw the statements about one annotator's sketch as SVG graphs or as SVG tables."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.parts.graph.edges import FAULTS
from tacit.probes.parts.graph.svg import add, document, mark, number, serialised, tip, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.charts.theme import Palette
    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.graph.edges import Edge, Graph
    from tacit.probes.parts.graph.svg import Element, Value

    Point = tuple[float, float]
    Box = tuple[float, float, float, float]  # left, top, right, bottom

MOST_LINES = 24
"""Maximum number of lines in a graph, where each line connects two parts."""

_LETTER = 0.66  # the width of a letter, relative to the font size; rarely exceeded
_TITLE, _HEADING, _SMALL = 16.0, 13.0, 12.0
_LINE = 1.25  # the height of a line of text, relative to the font size
_MARGIN, _GAP, _COLUMN = 20.0, 30.0, 290.0
_KEY = 26.0
_DOT, _ARROW = 4.0, 8.0
_PITCH = 17.0  # row height and column width of tables
_NAME, _LONGEST = 16, 48  # letters per line of a part's name, and in total
_DASHES = ("7 3", "2 3", "9 3 2 3")
_FACTORS = (1.0, 1.25, 1.5)  # ring sizes to try until all labels fit
_SHARES = (0.5, 0.43, 0.57, 0.36, 0.64, 0.3, 0.7, 0.24, 0.76)  # label positions, shares of a line
_CROSS = "\N{MULTIPLICATION SIGN} "


@dataclass(frozen=True)
class Column:
    """A column of a figure: the graph of one stage (such as before repair), with a heading."""

    graph: Graph
    colour: str
    title: str
    about: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """The title and subtitle of a figure, and the parts of the drawn thing."""

    title: str
    about: str
    parts: Sequence[str]


def drawn(subject: Subject, columns: Sequence[Column], ontology: Ontology, colours: Palette) -> str:
    """Return the figure as an SVG document."""
    lines = [_lines(column.graph, ontology) for column in columns]
    parts = _ordered(subject.parts, [line for each in lines for line in each])
    for factor in _FACTORS:
        radius = factor * max(95.0, 40 + 13.0 * len(parts))
        spots = {part: _spot(rank, len(parts), radius) for rank, part in enumerate(parts)}
        places = [_label_positions(found, spots) for found in lines]
        if all(each is not None for each in places) and max(map(len, lines)) <= MOST_LINES:
            page = _Page(subject, [_with_left_out(column) for column in columns], colours)
            return _graphs(page, [each or {} for each in places], spots)
    return _tables(_Page(subject, columns, colours), ontology)


@dataclass(frozen=True)
class _Line:
    """A line between two parts, which represents all relations between the two parts."""

    tail: str
    head: str
    names: tuple[tuple[str, Edge], ...]
    directed: bool

    @property
    def gravity(self) -> int:
        """The index in ``FAULTS`` of the worst violation; ``len(FAULTS)`` if there is none."""
        faults = [edge.fault for _, edge in self.names if edge.fault is not None]
        return min(faults, default=len(FAULTS))

    @property
    def size(self) -> Point:
        """The approximate width and height of the labels, estimated from the text lengths."""
        longest = max(len(name) + 2 * (edge.fault is not None) for name, edge in self.names)
        return longest * _LETTER * _SMALL, len(self.names) * _SMALL * _LINE


def _lines(graph: Graph, ontology: Ontology) -> list[_Line]:
    """Return one line per pair of related parts; lines with severe violations come first."""
    found: dict[frozenset[str], list[Edge]] = {}
    for edge in graph.drawn:
        found.setdefault(frozenset((edge.tail, edge.head)), []).append(edge)
    return sorted((_line_of(edges, ontology) for edges in found.values()), key=_gravity)


def _line_of(edges: Sequence[Edge], ontology: Ontology) -> _Line:
    of = ontology.relations
    first = next((edge for edge in edges if not of[edge.relation].symmetric), edges[0])
    turned = {edge: of[edge.relation].inverse for edge in edges if edge.tail != first.tail}
    names = tuple((turned.get(edge) or edge.relation, edge) for edge in edges)
    return _Line(first.tail, first.head, names, not of[first.relation].symmetric)


def _gravity(line: _Line) -> int:
    return line.gravity


def _with_left_out(column: Column) -> Column:
    """Return a column of a figure, with a note if the column's graph omits edges."""
    edges = column.graph.edges
    follow = len(edges) - len(column.graph.drawn)
    if not follow:
        return column
    told = f"{follow} of {several(len(edges), 'edge')} not drawn: implied by the drawn edges"
    return Column(column.graph, column.colour, column.title, (*column.about, told))


@dataclass(frozen=True)
class _Page:
    """A figure that shows the graphs of one drawing side by side, below a title."""

    subject: Subject
    columns: Sequence[Column]
    colours: Palette

    @property
    def kinds(self) -> list[int]:
        """The indices in ``FAULTS`` of the kinds of violation that occur in the figure."""
        edges = (edge for each in self.columns for edge in each.graph.edges)
        return sorted({edge.fault for edge in edges if edge.fault is not None})

    @property
    def top(self) -> float:
        """The y coordinate at which the graphs or tables start, below the headings."""
        return _MARGIN + 76 + 16 * max(len(each.about) for each in self.columns)

    def begin(self, column: float, body: float) -> tuple[Element, list[Element]]:
        """Return a titled SVG document, and one SVG group per stage (such as after repair)."""
        width = 2 * _MARGIN + column * len(self.columns)
        height = self.top + body + _KEY * (1 + len(self.kinds)) + _MARGIN
        root = document(width, height, f"{self.subject.title}: {self.subject.about}")
        ink: dict[str, Value] = {"fill": self.colours.ink}
        most = int((width - 2 * _MARGIN) / (_LETTER * _TITLE))
        title = write(
            root,
            _MARGIN,
            _MARGIN + 14,
            _short(self.subject.title, most),
            font_size=_TITLE,
            font_weight="bold",
            **ink,
        )
        tip(title, self.subject.title)
        about = _short(self.subject.about, int((width - 2 * _MARGIN) / (_LETTER * _SMALL)))
        write(root, _MARGIN, _MARGIN + 36, about, font_size=_SMALL, **ink)
        mark(root, data_column=column, data_top=_MARGIN + 44, data_bottom=self.top + body)
        return root, [
            self._column(root, each, _MARGIN + rank * column)
            for rank, each in enumerate(self.columns)
        ]

    def _column(self, root: Element, column: Column, left: float) -> Element:
        """Add an SVG group with the heading of a figure column, at the x coordinate ``left``."""
        ink: dict[str, Value] = {"fill": self.colours.ink}
        group = add(root, "g", class_="column", transform=f"translate({left:.1f} 0)")
        top = _MARGIN + 40
        add(group, "rect", x=0.0, y=top + 16, width=12.0, height=12.0, fill=column.colour)
        write(group, 18, top + 27, column.title, font_size=_HEADING, font_weight="bold", **ink)
        for line, words in enumerate(column.about):
            write(group, 0, top + 46 + line * 16, words, font_size=_SMALL, **ink)
        return group

    def finished(self, root: Element, bottom: float, *, tables: bool) -> str:
        """Add the legend at the bottom of the document, and return the document as text."""
        words = ["believed; violates no constraint"]
        if tables:
            words[0] += " (rows: subjects, columns: objects)"
        words += [f"violated: {FAULTS[kind][0]}" for kind in self.kinds]
        key = add(root, "g", class_="key")
        for rank, (kind, told) in enumerate(zip([None, *self.kinds], words, strict=True)):
            y = bottom + _KEY * (rank + 0.5)
            if tables:
                _sign(key, (_MARGIN + 30, y), kind, self.colours)
            else:
                _line(key, ((_MARGIN, y), (_MARGIN + 60, y)), kind, self.colours)
            write(key, _MARGIN + 74, y + 4, told, font_size=_SMALL, fill=self.colours.ink)
        return serialised(root)


# Graphs


def _graphs(
    page: _Page,
    places: Sequence[Mapping[_Line, Point]],
    spots: Mapping[str, Point],
) -> str:
    labels = [(line.size, at) for found in places for line, at in found.items()]
    across = [abs(x) + 10 + _wide(part) for part, (x, _) in spots.items()]
    across += [abs(x) + size[0] / 2 for size, (x, _) in labels]
    down = [abs(y) + _HEADING * _LINE * len(_name(part)) for part, (_, y) in spots.items()]
    down += [abs(y) + size[1] / 2 for size, (_, y) in labels]
    half, height = max(across), 2 * max(down) + 24
    width = max(2 * half, _COLUMN) + _GAP
    root, stages = page.begin(width, height)
    for stage, column, found in zip(stages, page.columns, places, strict=True):
        place = f"translate({half:.1f} {page.top + height / 2:.1f})"
        group = add(stage, "g", transform=place, data_stage=column.graph.stage)
        for line, at in reversed(list(found.items())):
            _draw(group, line, at, spots, page.colours)
        for part, spot in spots.items():
            _part(group, part, spot, page.colours)
    return page.finished(root, page.top + height, tables=False)


def _label_positions(
    lines: Sequence[_Line], spots: Mapping[str, Point]
) -> dict[_Line, Point] | None:
    """Place the line labels so that none overlap; return None if a label does not fit."""
    taken = [(x - 12, y - 12, x + 12, y + 12) for x, y in spots.values()]
    for part, (x, y) in spots.items():
        tall = len(_name(part)) * _HEADING * _LINE / 2
        left, right = (x, x + 10 + _wide(part)) if x > 0 else (x - 10 - _wide(part), x)
        taken.append((left, y - tall, right, y + tall))
    found = {}
    for line in lines:
        width, height = line.size
        ends = zip(spots[line.tail], spots[line.head], strict=True)
        (x1, x2), (y1, y2) = ends
        middles = ((x1 + (x2 - x1) * share, y1 + (y2 - y1) * share) for share in _SHARES)
        boxes = ((x - width / 2, y - height / 2, x + width / 2, y + height / 2) for x, y in middles)
        box = next((each for each in boxes if not any(_overlap(each, one) for one in taken)), None)
        if box is None:
            return None
        taken.append(box)
        found[line] = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    return found


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ordered(parts: Sequence[str], lines: Sequence[_Line]) -> list[str]:
    """Order the parts so that connected parts are close to each other on the ring."""
    place = {part: rank for rank, part in enumerate(parts)}

    def length() -> int:
        gaps = (abs(place[line.tail] - place[line.head]) for line in lines)
        return sum(min(gap, len(parts) - gap) for gap in gaps)

    shortest, before = length(), math.inf
    while shortest < before:
        before = shortest
        for a, b in combinations(parts, 2):
            place[a], place[b] = place[b], place[a]
            now = length()
            if now < shortest:
                shortest = now
            else:
                place[a], place[b] = place[b], place[a]
    return sorted(parts, key=place.__getitem__)


def _spot(rank: int, n: int, radius: float) -> Point:
    """Return a part's coordinates; the parts of a graph are placed clockwise on a ring."""
    start = 0.5 if n % 2 == 0 else 0.25
    angle = (rank + start) * 2 * math.pi / n - math.pi / 2
    return radius * math.cos(angle), radius * math.sin(angle)


def _part(parent: Element, part: str, spot: Point, colours: Palette) -> None:
    """Draw a part as a dot, with the part's name beside the dot."""
    x, y = spot
    add(parent, "circle", class_="part", cx=x, cy=y, r=_DOT, fill=colours.ink)
    side = 1 if x > 0 else -1
    lines = _name(part)
    group = add(parent, "g", text_anchor="start" if side > 0 else "end", fill=colours.ink)
    tip(group, part)
    for rank, words in enumerate(lines):
        base = y + (rank - (len(lines) - 1) / 2) * _HEADING * _LINE + 0.36 * _HEADING
        write(group, x + side * (_DOT + 6), base, words, font_size=_HEADING)


def _draw(
    parent: Element, line: _Line, at: Point, spots: Mapping[str, Point], colours: Palette
) -> None:
    """Draw the line between two parts, with the labels of its relations."""
    group = add(parent, "g")
    tip(group, "\n".join(edge.description for _, edge in line.names))
    fault = line.gravity if line.gravity < len(FAULTS) else None
    _line(group, (spots[line.tail], spots[line.head]), fault, colours, arrow=line.directed)
    for rank, (name, edge) in enumerate(line.names):
        told = write(
            group,
            at[0],
            at[1] + (rank - (len(line.names) - 1) / 2) * _SMALL * _LINE + 0.36 * _SMALL,
            name if edge.fault is None else f"{_CROSS}{name}",
            font_size=_SMALL,
            text_anchor="middle",
            fill=colours.ink if edge.fault is None else colours.faults[edge.fault],
            stroke="#ffffff",
            stroke_width=4.0,
            paint_order="stroke",
        )
        mark(told, **_edge_attributes(edge))


def _line(
    parent: Element,
    ends: tuple[Point, Point],
    fault: int | None,
    colours: Palette,
    *,
    arrow: bool = False,
) -> None:
    """Draw a line between two dots, in a distinct style if it represents a violation."""
    length = math.dist(*ends) or 1.0
    (x1, y1), (x2, y2) = ends
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    gap = _DOT + 2.0
    start, point = (x1 + dx * gap, y1 + dy * gap), (x2 - dx * gap, y2 - dy * gap)
    colour = colours.muted if fault is None else colours.faults[fault]
    look: dict[str, Value] = {"stroke": colour, "stroke_width": 1.3 if fault is None else 1.9}
    if fault is not None:
        look["stroke_dasharray"] = _DASHES[fault]
    path = "M{} {}L{} {}".format(*map(number, (*start, *point)))
    add(parent, "path", d=path, fill="none", **look)
    if arrow:
        back = (point[0] - dx * _ARROW, point[1] - dy * _ARROW)
        across = (-dy * _ARROW * 0.38, dx * _ARROW * 0.38)
        corners = [
            point,
            (back[0] + across[0], back[1] + across[1]),
            (back[0] - across[0], back[1] - across[1]),
        ]
        points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        add(parent, "polygon", points=points, fill=colour)


# Tables


def _tables(page: _Page, ontology: Ontology) -> str:
    parts = page.subject.parts
    names = [f"{_short(part, 26)}  {rank}" for rank, part in enumerate(parts, start=1)]
    left = max(map(len, names)) * _LETTER * _SMALL + 8
    side = _PITCH * len(parts)
    width, height = max(left + side, _COLUMN) + _GAP, side + _PITCH + 62
    relations = [
        name
        for name in ontology.relations
        if any(name in column.graph.by_relation for column in page.columns)
    ]
    root, stages = page.begin(width, height * len(relations))
    for row, relation in enumerate(relations):
        top = page.top + row * height
        for stage, column in zip(stages, page.columns, strict=True):
            write(stage, 0, top + 14, relation, font_size=_HEADING, fill=page.colours.ink)
            edges = column.graph.by_relation.get(relation, ())
            violated = sum(edge.fault is not None for edge in edges)
            told = f"{several(len(edges), 'edge')}, {violated} violated" if edges else "no edges"
            write(stage, 0, top + 32, told, font_size=_SMALL, fill=page.colours.ink)
            place = f"translate(0 {top + 40:.1f})"
            group = add(stage, "g", transform=place, data_stage=column.graph.stage)
            if edges:
                _table(group, edges, dict(zip(parts, names, strict=True)), left, page.colours)
    return page.finished(root, page.top + height * len(relations), tables=True)


def _table(
    parent: Element,
    edges: Sequence[Edge],
    names: Mapping[str, str],
    left: float,
    colours: Palette,
) -> None:
    """Draw a table of the edges of a relation; rows are subjects, and columns are objects."""
    side = _PITCH * len(names)
    steps = [_PITCH * rank for rank in range(len(names) + 1)]
    rules = [f"M{number(left)} {number(at + _PITCH)}h{number(side)}" for at in steps]
    rules += [f"M{number(left + at)} {number(_PITCH)}v{number(side)}" for at in steps]
    add(parent, "path", d="".join(rules), stroke=colours.faint, stroke_width=1.0)
    small: dict[str, Value] = {"font_size": _SMALL, "fill": colours.ink}
    for rank, (part, name) in enumerate(names.items()):
        base = _PITCH * (rank + 1.5) + 0.36 * _SMALL
        tip(write(parent, left - 5, base, name, text_anchor="end", **small), part)
        middle = left + _PITCH * (rank + 0.5)
        write(parent, middle, _PITCH - 4, str(rank + 1), text_anchor="middle", **small)
    places = {part: rank for rank, part in enumerate(names)}
    for edge in edges:
        x, y = left + _PITCH * (places[edge.head] + 0.5), _PITCH * (places[edge.tail] + 1.5)
        sign = _sign(parent, (x, y), edge.fault, colours)
        mark(sign, **_edge_attributes(edge))
        tip(sign, edge.description)


def _sign(parent: Element, middle: Point, fault: int | None, colours: Palette) -> Element:
    """Draw the symbol of an edge in a table cell: a dot, a cross, a ring or a triangle."""
    x, y = middle
    group = add(parent, "g")
    if fault is None:
        add(group, "circle", cx=x, cy=y, r=2.8, fill=colours.muted)
        return group
    a, b, c, d = map(number, (x - 4, x + 4, y - 4, y + 4))
    paths = (
        f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}",
        f"M{a} {number(y)}A4 4 0 1 0 {b} {number(y)}A4 4 0 1 0 {a} {number(y)}",
        f"M{a} {d}L{b} {d}L{number(x)} {c}Z",
    )
    look: dict[str, Value] = {"stroke": colours.faults[fault], "stroke_width": 1.8, "fill": "none"}
    add(group, "path", d=paths[fault], **look)
    return group


def _edge_attributes(edge: Edge) -> Mapping[str, str]:
    """Return the SVG attributes that identify the edge to which an element belongs."""
    return {
        "class_": "edge" if edge.fault is None else "edge violated",
        "data_relation": edge.relation,
        "data_tail": edge.tail,
        "data_head": edge.head,
    }


def _wide(part: str) -> float:
    """Return the approximate width of a part's name, estimated from the number of letters."""
    return max(map(len, _name(part))) * _LETTER * _HEADING


def _name(part: str) -> list[str]:
    """Split a part's name into lines of limited length."""
    return textwrap.wrap(_short(part, _LONGEST), _NAME) or [""]


def _short(words: str, most: int) -> str:
    """Truncate text to ``most`` characters, and end truncated text with an ellipsis."""
    return words if len(words) <= most else words[: max(1, most - 1)] + "\N{HORIZONTAL ELLIPSIS}"
