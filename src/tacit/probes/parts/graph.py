"""Parts graphs: the relations in one drawing before repair, after repair and in the gold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.charts.theme import FONT, PAPER, Palette, Spec
from tacit.coherence.ontology import Ontology
from tacit.english import several
from tacit.findings.numbers import percent
from tacit.probes.parts.edges import Edge, edges, without_implied
from tacit.probes.parts.ring import (
    FACTORS,
    LABEL,
    LINE,
    NAME,
    label_positions,
    lines_of,
    name_box,
    name_lines,
    short,
    spots_of,
)

if TYPE_CHECKING:
    from tacit.probes.parts.ring import Line, Point


MOST_LINES = 24
"""Maximum number of lines in a graph; the relations of other drawings are shown as grids."""

_GROUPS = ("model", "thing", "annotator")
_DOT = "M-.3,0A.3,.3,0,1,1,.3,0A.3,.3,0,1,1,-.3,0"
# By severity, and last without a violation: name in the legend, dashes of lines, shape in grids.
_KINDS = (
    (
        "violated: two statements that exclude each other are believed",
        *((7, 3), "M-1,-1L1,1M-1,1L1,-1"),
    ),
    (
        "violated: a statement is believed, but another statement that follows from it is not",
        *((2, 3), "circle"),
    ),
    (
        "violated: two statements are believed, but a third that follows from them is not",
        *((9, 3, 2, 3), "triangle-up"),
    ),
    ("believed; violates no constraint", (1, 0), _DOT),
)
_SOUND = len(_KINDS) - 1

_GAP, _NARROWEST, _CELL = 6.0, 290.0, 17  # pixels


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
    found = {stage: edges(beliefs, ontology, stage, groups) for stage in stages}
    graphs = {}
    for group, mine in beliefs.partition_by(groups, as_dict=True).items():
        every = [_stage(stage, mine, *of[group], colours) for stage, of in found.items()]
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
            "concat": _ring(parts, kept, ontology, colours)
            or list(_grids(parts, kept, ontology, colours)),
            "columns": len(kept),
            "spacing": 30,
        }
    return graphs


def _stage(
    stage: str,
    beliefs: pl.DataFrame,
    found: Sequence[Edge],
    count: Mapping[str, Any],
    colours: Palette,
) -> _Stage:
    believed, violated = count["believed"], count["violated"]
    if stage == "label":
        false = beliefs["label"].count() - believed
        about = [f"{several(believed, 'statement')} true, {false:,} false,"]
        about.append("including implied statements")
        return _Stage("Gold: the annotator's mental model", about, colours.gold, found)
    decided, missing = count["applicable"] - count["undecided"], beliefs["p_true"].null_count()
    share = f" ({percent(violated / decided)})" if decided else ""
    about = [
        f"{believed:,} of {several(count['statements'], 'statement')} believed",
        f"{violated:,} of {several(decided, 'constraint')} violated{share}",
    ]
    about += [f"{count['undecided']:,} undecided"] * (count["undecided"] > 0)
    if stage != "before":
        return _Stage(f"After repair ({stage})", about, colours.of(stage), found)
    about += [f"{several(missing, 'belief is', 'beliefs are')} missing"] * (missing > 0)
    return _Stage("Before repair", about, colours.before, found)


def _ring(
    parts: Sequence[str], stages: Sequence[_Stage], ontology: Ontology, colours: Palette
) -> list[Spec]:
    """Return a graph per stage, on the smallest ring that has room for all labels; or []."""
    transitive = [name for name, relation in ontology.relations.items() if relation.transitive]
    shown = []
    for stage in stages:
        drawn = without_implied(stage.edges, transitive)
        every, left_out = len(stage.edges), len(stage.edges) - len(drawn)
        note = f"{left_out} of {several(every, 'edge')} not drawn: implied by the drawn edges"
        about = [*stage.about, *([note] if left_out else [])]
        shown.append(replace(stage, about=about, edges=drawn))
    shown = _level(shown)
    lines = [lines_of(stage.edges, ontology) for stage in shown]
    for factor in FACTORS if max(map(len, lines)) <= MOST_LINES else ():
        spots = spots_of(parts, [line for each in lines for line in each], factor)
        places = [label_positions(each, spots) for each in lines]
        if all(each is not None for each in places):
            key = _legend(shown, colours, "stroke")
            return [
                _panel(stage, _rows(stage, each or {}, spots, colours), spots, key, colours)
                for stage, each in zip(shown, places, strict=True)
            ]
    return []


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
                "y": y + (rank - (len(line.names) - 1) / 2) * LABEL * LINE,
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
    reach = max(_NARROWEST / 2, *(max(-left, right) for left, _, right, _ in boxes)) + 10
    depth = max(max(-top, bottom) for _, top, _, bottom in boxes) + 24
    text = {"type": "text", "font": FONT, "fontSize": LABEL, "lineBreak": "\n", "lineHeight": 16}
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
        ("label", text | {"stroke": PAPER, "strokeWidth": 4}, words),
        ("label", text, words | own),
        ("part", dot, own),
        ("part", text | beside | {"fontSize": NAME, "color": colours.ink}, words),
    ]
    return {
        **_titled(stage.title, stage.about),
        "width": 2 * reach,
        "height": 2 * depth,
        "data": {"values": list(rows)},
        "encoding": {"x": _axis("x", -reach, reach), "y": _axis("y", depth, -depth)},
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


def _titled(text: str, about: Sequence[str]) -> Spec:
    return {
        "title": {
            "text": text,
            "subtitle": about,
            "frame": "group",
            "anchor": "start",
            "fontSize": NAME,
            "subtitlePadding": 6,
            "offset": 6,
        }
    }


def _grids(
    parts: Sequence[str], stages: Sequence[_Stage], ontology: Ontology, colours: Palette
) -> Iterator[Spec]:
    """Yield a row of headings, then a grid per relation and stage: subjects and objects."""
    numbers = {part: str(rank) for rank, part in enumerate(parts, start=1)}
    names = {part: f"{short(part, 26)}  {number}" for part, number in numbers.items()}
    side = max(100, _CELL * len(parts))
    axis = {"domain": False, "ticks": False, "grid": True, "tickBand": "extent", "title": None}
    top = {"orient": "top", "labelAngle": 0}
    key = _legend(stages, colours)
    grid = {
        "height": _CELL * len(parts),
        "mark": {"type": "point", "strokeWidth": 1.8, "size": 44, "opacity": 1, "aria": True},
        "encoding": {
            "x": {"field": "head", "scale": {"domain": list(numbers.values())}, "axis": axis | top},
            "y": {"field": "tail", "scale": {"domain": list(names.values())}, "axis": axis},
            "description": {"field": "tip"},
            **_only(key, "color", "shape"),
        },
    }
    blank = {"height": 1, "data": {"values": []}, "mark": "point"}
    for stage in _level(stages):
        yield {"width": side, **blank, **_titled(stage.title, stage.about)}
    for relation in ontology.relations:
        held = [[edge for edge in stage.edges if edge.relation == relation] for stage in stages]
        for mine in held if any(held) else ():
            violated = sum(edge.fault is not None for edge in mine)
            about = f"{several(len(mine), 'edge')}, {violated} violated" if mine else "no edges"
            rows = [
                {
                    "tail": names[edge.tail],
                    "head": numbers[edge.head],
                    "kind": _KINDS[_kind(edge.fault)][0],
                    "tip": edge.tip,
                }
                for edge in mine
            ]
            shown = {**grid, "data": {"values": rows}} if mine else blank
            yield {"width": side, **shown, **_titled(relation, [about])}


def _legend(stages: Sequence[_Stage], colours: Palette, symbol: str | None = None) -> Spec:
    """Return the encodings of the kinds of edges, with a legend of the kinds that occur."""
    faults = sorted({_kind(edge.fault) for stage in stages for edge in stage.edges} - {_SOUND})
    hues = (*colours.faults, colours.muted)
    looks = ((_KINDS[kind][0], hues[kind], *_KINDS[kind][1:]) for kind in (_SOUND, *faults))
    names, *ranges = zip(*looks, strict=True)
    legend = {"title": None, "orient": "bottom", "direction": "vertical", "offset": 20}
    legend |= {"labelLimit": 0, "rowPadding": 6}
    legend |= {"symbolType": symbol, "symbolSize": 900} if symbol else {}
    return {
        channel: {"field": "kind", "scale": {"domain": names, "range": values}, "legend": legend}
        for channel, values in zip(("color", "strokeDash", "shape"), ranges, strict=True)
    }
