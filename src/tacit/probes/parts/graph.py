"""Parts graphs: the relations in one drawing before repair, after repair and in the gold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.charts.theme import FONT, PAPER, Palette, Spec
from tacit.coherence.ontology import Ontology
from tacit.english import several
from tacit.findings.numbers import percent
from tacit.probes.parts.edges import Edge, edges, without_implied
from tacit.probes.parts.ring import (
    HEIGHTS,
    LINE,
    SIZE,
    label_positions,
    lines_of,
    name_box,
    name_lines,
    ordered,
    spots_of,
)

if TYPE_CHECKING:
    from tacit.probes.parts.ring import Line, Point


MOST_EDGES = 8
"""Maximum number of edges in a graph; the violated ones come first."""

_GROUPS = ("model", "thing", "annotator")
# By severity, and last without a violation: the name in the legend, and the dashes of lines.
_KINDS = (
    ("violated: two exclude each other", (7, 3)),
    ("violated: implies one not believed", (2, 3)),
    ("violated: two imply one not believed", (9, 3, 2, 3)),
    ("believed; violates nothing", (1, 0)),
)
_SOUND = len(_KINDS) - 1

_GAP = 6.0  # pixels between a part and its lines


@dataclass(frozen=True)
class _Stage:
    title: str
    about: Sequence[str]
    hue: str
    edges: Sequence[Edge]


def parts_graphs(
    beliefs: pl.DataFrame, ontology: Ontology, colours: Palette
) -> dict[tuple[str, ...], Spec]:
    """Return the graph of each drawing, by the values of the columns model, thing, annotator."""
    if beliefs.is_empty():
        return {}
    groups = [name for name in _GROUPS if name in beliefs.columns]
    stages = ("before", "paper", "label")
    by_stage = {stage: edges(beliefs, ontology, stage, groups) for stage in stages}
    graphs = {}
    for group, mine in beliefs.partition_by(groups, as_dict=True).items():
        every = [_stage(stage, mine, *of[group], colours) for stage, of in by_stage.items()]
        kept = every if mine["label"].count() else every[:-1]
        parts = list(dict.fromkeys([*mine["subject"], *mine["object"]]))
        named = {name: mine[name][0] for name in groups}
        about = [f"{name}: {named[name]}" for name in ("annotator", "model") if named.get(name)]
        graphs[group] = {
            "title": {
                "text": f"Parts of: {named['thing']}",
                "subtitle": ", ".join([several(len(parts), "part"), *about]),
                "offset": 14,
            },
            "concat": _ring(parts, kept, ontology, colours),
            "columns": len(kept),
            "spacing": 16,
        }
    return graphs


def _stage(
    stage: str,
    beliefs: pl.DataFrame,
    every: Sequence[Edge],
    count: Mapping[str, Any],
    colours: Palette,
) -> _Stage:
    believed, violated = count["believed"], count["violated"]
    if stage == "label":
        false = beliefs["label"].count() - believed
        about = [f"{believed:,} true, {false:,} false, implied ones included"]
        return _Stage("Gold: the annotator's mental model", about, colours.gold, every)
    decided, missing = count["applicable"] - count["undecided"], beliefs["p_true"].null_count()
    share = f" ({percent(violated / decided)})" if decided else ""
    about = [
        f"{believed:,} of {several(count['statements'], 'statement')} believed",
        f"{violated:,} of {several(decided, 'constraint')} violated{share}",
    ]
    about += [f"{several(count['undecided'], 'constraint')} undecided"] * (count["undecided"] > 0)
    if stage != "before":
        return _Stage(f"After repair ({stage})", about, colours.of(stage), every)
    about += [f"{several(missing, 'belief is', 'beliefs are')} missing"] * (missing > 0)
    return _Stage("Before repair", about, colours.before, every)


def _ring(
    parts: Sequence[str], stages: Sequence[_Stage], ontology: Ontology, colours: Palette
) -> list[Spec]:
    """Return a graph per stage, of the height at which most edges have room, first at first."""
    lines = list(_lines(stages, ontology))
    every = [line for each in lines for line in each]
    ends = {part for line in every for part in (line.tail, line.head)}
    own = [part for part in parts if part in ends] or parts[:MOST_EDGES]
    tried = []
    for height, order in product(HEIGHTS, (ordered(own, every), ordered(own, lines[0]))):
        spots = spots_of(order, height)
        tried.append((spots, [label_positions(each, spots) for each in lines]))
    spots, labels = max(tried, key=lambda one: (len(one[1][0]), sum(map(len, one[1]))))
    drawn = _level([_drawn(*each) for each in zip(stages, labels, strict=True)])
    key = _legend(drawn, colours)
    return [
        _panel(stage, _rows(stage, each, spots, colours), spots, key, colours)
        for stage, each in zip(drawn, labels, strict=True)
    ]


def _lines(stages: Sequence[_Stage], ontology: Ontology) -> Iterator[list[Line]]:
    """Yield the lines of each stage without implied edges: the violated, then those at first."""
    transitive = [name for name, relation in ontology.relations.items() if relation.transitive]
    pairs: set[frozenset[str]] = set()

    def order(edge: Edge) -> tuple[int, bool]:
        return _kind(edge.fault), frozenset((edge.tail, edge.head)) not in pairs

    for stage in stages:
        chosen = sorted(without_implied(stage.edges, transitive), key=order)[:MOST_EDGES]
        pairs |= {frozenset((edge.tail, edge.head)) for edge in chosen}
        yield lines_of(chosen, ontology)


def _drawn(stage: _Stage, lines: Iterable[Line]) -> _Stage:
    drawn = [edge for line in lines for _, edge in line.names]
    note = [f"{len(drawn)} of {several(len(stage.edges), 'edge')} drawn"]
    about = [*stage.about, *note * (len(drawn) < len(stage.edges))]
    return replace(stage, about=about, edges=drawn)


def _level(stages: Sequence[_Stage]) -> list[_Stage]:
    """Give all headings the same number of lines, so that their titles are level."""
    most = max(len(stage.about) for stage in stages)
    return [
        replace(stage, about=[*stage.about, *[""] * (most - len(stage.about))]) for stage in stages
    ]


def _rows(
    stage: _Stage, places: Mapping[Line, Point], spots: Mapping[str, Point], colours: Palette
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a graph's marks: lines, arrow heads, labels, and parts with names."""
    hues = (*colours.faults, colours.ink)
    for line, (x, y) in places.items():
        (x1, y1), (x2, y2) = spots[line.tail], spots[line.head]
        length = math.dist((x1, y1), (x2, y2))
        dx, dy = _GAP * (x2 - x1) / length, _GAP * (y2 - y1) / length
        end, kind = {"x": x2 - dx, "y": y2 - dy}, _KINDS[_kind(line.fault)][0]
        tip = "\n".join(edge.tip for _, edge in line.names)
        yield {"mark": "line", **end, "x2": x1 + dx, "y2": y1 + dy, "kind": kind, "tip": tip}
        if line.directed:
            angle = math.degrees(math.atan2(dx, -dy))
            yield {"mark": "arrow", **end, "angle": angle, "kind": kind}
        for rank, (name, edge) in enumerate(line.names):
            yield {
                "mark": "label",
                "x": x,
                "y": y + (rank - (len(line.names) - 1) / 2) * SIZE * LINE,
                "text": name if edge.fault is None else f"\N{MULTIPLICATION SIGN} {name}",
                "hue": hues[_kind(edge.fault)],
            }
    for part, (x, y) in spots.items():
        name = "\n".join(name_lines(part))
        yield {"mark": "part", "x": x, "y": y, "text": name, "hue": stage.hue}


def _panel(
    stage: _Stage,
    rows: Iterator[dict[str, Any]],
    spots: Mapping[str, Point],
    key: Spec,
    colours: Palette,
) -> Spec:
    """Draw the graph of one stage; the column ``mark`` says to which layer a row belongs."""
    boxes = [name_box(part, spot) for part, spot in spots.items()]
    left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
    top, bottom = min(box[1] for box in boxes) - 12, max(box[3] for box in boxes) + 12
    text = {"type": "text", "font": FONT, "fontSize": SIZE, "lineBreak": "\n", "lineHeight": 16}
    text["baseline"] = "middle"
    side = "datum.x > 0 ? {} : {}".format
    beside = {"align": {"expr": side("'left'", "'right'")}, "dx": {"expr": side(10, -10)}}
    own = {"color": {"field": "hue", "scale": None}}
    ends, words = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}, {"text": {"field": "text"}}
    arrow = {"type": "point", "shape": "M0,0L.38,1L-.38,1Z", "size": 260, "filled": True}
    turned = {"angle": {"field": "angle", "type": "quantitative", "scale": None}}
    dot = {"type": "point", "filled": True, "size": 60, "opacity": 1}
    tip = {"description": {"field": "tip"}}
    # A line is thin; what can be pointed at is not.
    wide = {"type": "rule", "strokeWidth": 12, "strokeOpacity": 0, "aria": True}
    layers: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("line", {"type": "rule", "strokeWidth": 1.6}, ends | _only(key, "color", "strokeDash")),
        ("line", wide, ends | tip),
        ("arrow", arrow | {"opacity": 1}, turned | _only(key, "color")),
        ("label", text | {"stroke": PAPER, "strokeWidth": 8, "strokeJoin": "round"}, words),
        ("label", text, words | own),
        ("part", dot, own),
        ("part", text | beside | {"color": colours.ink}, words),
    ]
    return {
        "title": {
            "text": stage.title,
            "subtitle": stage.about,
            "frame": "group",
            "anchor": "start",
            "fontSize": SIZE,
            "subtitlePadding": 6,
            "offset": 6,
        },
        "width": right - left,
        "height": bottom - top,
        "data": {"values": list(rows)},
        "encoding": {"x": _axis("x", left, right), "y": _axis("y", bottom, top)},
        "layer": [
            {
                "transform": [{"filter": f"datum.mark === '{name}'"}],
                "mark": {"aria": False, **mark},
                "encoding": encoding,
            }
            for name, mark, encoding in layers
        ],
    }


def _kind(fault: int | None) -> int:
    return _SOUND if fault is None else fault


def _axis(name: str, *domain: float) -> Spec:
    scale = {"domain": domain, "nice": False, "zero": False}
    return {"field": name, "type": "quantitative", "axis": None, "scale": scale}


def _only(encodings: Spec, *channels: str) -> Spec:
    return {channel: encodings[channel] for channel in channels}


def _legend(stages: Sequence[_Stage], colours: Palette) -> Spec:
    """Return the encodings of the kinds of edges, with a legend of the kinds that occur."""
    faults = sorted({_kind(edge.fault) for stage in stages for edge in stage.edges} - {_SOUND})
    hues = (*colours.faults, colours.muted)
    looks = ((_KINDS[kind][0], hues[kind], _KINDS[kind][1]) for kind in (_SOUND, *faults))
    names, *ranges = zip(*looks, strict=True)
    legend = {"title": None, "orient": "bottom", "columns": 2, "offset": 2, "labelLimit": 0}
    legend |= {"symbolType": "stroke", "symbolSize": 900}
    return {
        channel: {"field": "kind", "scale": {"domain": names, "range": values}, "legend": legend}
        for channel, values in zip(("color", "strokeDash"), ranges, strict=True)
    }
