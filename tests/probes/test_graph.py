from __future__ import annotations

import os
import random
import re
from itertools import combinations, permutations
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from tacit.charts.theme import PALETTES, Theme
from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError, RequestError
from tacit.probes.parts.graph import graphs, parts_graph
from tacit.sources.drawings import read_drawings
from tacit.sources.statements import all_statements, drawing_statements

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))
PARROT = DATA / "parrot"
PARTS = Ontology.load("parts")
SVG = "{http://www.w3.org/2000/svg}"

LETTER = 0.6  # the mean width of letters in DejaVu Sans, as a share of its size, is less

Statement = tuple[str, str, str]
Box = tuple[float, float, float, float]  # left, top, right, bottom
Edge = tuple[str, str, str]  # relation, tail, head

EGG = ("shell", "white", "yolk")
LONG = (
    "filament support and contact wire",
    "type guide + ribbon vibrator",
    "insect proof mesh door",
    "lid",
    "carriage release lever",
    "speed selector switch",
    "tip",
    "horizontal stabilizer",
    "antidisestablishmentarianism",
    "armrest adjust button",
    "on",
    "bread carriage handle",
    "caster wheel",
    "brake light",
)


def table(
    parts: tuple[str, ...],
    before: set[Statement],
    after: set[Statement],
    gold: dict[Statement, bool] | None = None,
) -> pl.DataFrame:
    """Beliefs about one drawing, every statement asked."""
    asked = [(s, r, o) for s, o in permutations(parts, 2) for r in PARTS.relations]
    labels = [(gold or {}).get(statement) for statement in asked]
    return pl.DataFrame(
        {
            "thing": "egg",
            "annotator": "a1",
            "subject": [s for s, _, _ in asked],
            "relation": [r for _, r, _ in asked],
            "object": [o for _, _, o in asked],
            "p_true": [0.9 if statement in before else 0.1 for statement in asked],
            "before": [statement in before for statement in asked],
            "paper": [statement in after for statement in asked],
            "label": pl.Series(labels, dtype=pl.Boolean),
        }
    )


def at_random(n: int, share: float, seed: int = 0) -> pl.DataFrame:
    """Beliefs at random, and consistent assignment and gold of ``above`` in the order of parts."""
    rng = random.Random(seed)  # noqa: S311 - made-up data
    parts = LONG[:n]
    asked = [(s, r, o) for s, o in permutations(parts, 2) for r in PARTS.relations]
    before = {statement for statement in asked if rng.random() < share}
    up = {(a, "above", b) for a, b in combinations(parts, 2)}
    after = up | {(b, "below", a) for a, _, b in up}
    return table(parts, before, after, dict.fromkeys(after, True))


def elements(svg: str) -> ET.Element:
    """The document, read by a parser."""
    return ET.fromstring(svg)  # noqa: S314 - our own


def titles(svg: str) -> list[str]:
    """All that a pointer can read."""
    return [each.text or "" for each in elements(svg).iter(f"{SVG}title")]


def edges_of(svg: str, stage: str, kind: str = "edge") -> set[Edge]:
    """The edges that the document shows of a stage."""
    found = set()
    for group in elements(svg).iter():
        if group.get("data-stage") == stage:
            for each in group.iter():
                if kind in (each.get("class") or "").split():
                    found.add(
                        tuple(each.get(f"data-{key}") for key in ("relation", "tail", "head"))
                    )
    return found  # type: ignore[return-value]


def edge_of(statement: Statement, parts: tuple[str, ...]) -> Edge:
    """One edge for a statement and its wording the other way round."""
    subject, relation, obj = statement
    turned = {
        "has part": "part of",
        "contains": "inside",
        "behind": "in front of",
        "below": "above",
        "surrounded by": "surrounds",
        "required by": "requires",
    }
    if relation in turned:
        return turned[relation], obj, subject
    if relation in {"connects", "next to"} and parts.index(obj) < parts.index(subject):
        return relation, obj, subject
    return relation, subject, obj


def closure(edges: set[Edge]) -> set[Edge]:
    """The edges and all that transitive relations make of them."""
    found = set(edges)
    while True:
        more = {
            (r, x, z)
            for r, x, y in found
            for q, w, z in found
            if r == q and y == w and x != z and PARTS.relations[r].transitive
        }
        if more <= found:
            return found
        found |= more


def violated_by_hand(true: set[Statement], parts: tuple[str, ...]) -> set[Edge]:
    """The edges that have a part in a violated constraint, from the definitions."""
    found: set[Statement] = set()
    for x, r, y in true:
        relation = PARTS.relations[r]
        if relation.symmetric and (y, r, x) not in true:
            found.add((x, r, y))
        if relation.asymmetric and (y, r, x) in true:
            found.add((x, r, y))
        if relation.inverse and (y, relation.inverse, x) not in true:
            found.add((x, r, y))
        for z in parts:
            chain = relation.transitive and z not in {x, y} and (y, r, z) in true
            if chain and (x, r, z) not in true:
                found |= {(x, r, y), (y, r, z)}
    return {edge_of(statement, parts) for statement in found}


def boxes(svg: str) -> tuple[list[tuple[str, Box]], list[Box]]:
    """Where each line of text stands on the page, and each part's dot."""
    texts: list[tuple[str, Box]] = []
    dots: list[Box] = []

    def walk(element: ET.Element, dx: float, dy: float, anchor: str) -> None:
        anchor = element.get("text-anchor", anchor)
        moved = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if moved:
            dx, dy = dx + float(moved[1]), dy + float(moved[2])
        if element.tag == f"{SVG}text":
            size = float(element.attrib["font-size"])
            words = element.text or ""
            width = LETTER * size * len(words)
            left = dx + float(element.attrib["x"])
            left -= {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            base = dy + float(element.attrib["y"])
            # Ascent and descent of letters, as shares of the size.
            texts.append((words, (left, base - 0.78 * size, left + width, base + 0.24 * size)))
        if element.tag == f"{SVG}circle" and element.get("class") == "part":
            x, y, r = (float(element.attrib[key]) for key in ("cx", "cy", "r"))
            dots.append((dx + x - r, dy + y - r, dx + x + r, dy + y + r))
        for child in element:
            walk(child, dx, dy, anchor)

    walk(elements(svg), 0, 0, "start")
    return texts, dots


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than a tenth of a pixel of rounding."""
    return (
        one[0] < other[2] - 0.2
        and other[0] < one[2] - 0.2
        and one[1] < other[3] - 0.2
        and other[1] < one[3] - 0.2
    )


def assert_legible(svg: str) -> None:
    """No text on another, none on a dot, none outside the page."""
    texts, dots = boxes(svg)
    root = elements(svg)
    page = (float(root.attrib["width"]), float(root.attrib["height"]))
    for (words, one), (more, other) in combinations(texts, 2):
        assert not overlap(one, other), (words, more)
    for words, box in texts:
        assert not any(overlap(box, dot) for dot in dots), words
        assert 0 <= box[0] < box[2] <= page[0], words
        assert 0 <= box[1] < box[3] <= page[1], words


@pytest.mark.parametrize("n", range(2, 15))
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_no_text_stands_on_another(n: int, share: float) -> None:
    """With 2 to 14 long names, few beliefs or many, in either form."""
    assert_legible(parts_graph(at_random(n, share), PARTS))


@pytest.mark.parametrize(("n", "share"), [(3, 0.3), (7, 0.03), (7, 0.5), (13, 0.01), (13, 0.6)])
def test_every_belief_is_drawn_or_follows_from_what_is_drawn(n: int, share: float) -> None:
    """In every stage; and nothing else is drawn."""
    beliefs = at_random(n, share)
    svg = parts_graph(beliefs, PARTS)
    for stage in ("before", "paper", "label"):
        held = beliefs.filter(pl.col(stage)).select("subject", "relation", "object").rows()
        believed = {edge_of(statement, LONG) for statement in held}
        drawn = edges_of(svg, stage)
        assert drawn <= believed
        assert believed <= closure(drawn)


@pytest.mark.parametrize(("n", "share"), [(3, 0.3), (7, 0.03), (7, 0.5), (13, 0.01), (13, 0.6)])
def test_violated_edges_are_marked_and_no_others(n: int, share: float) -> None:
    """As counted by hand from the definitions of the constraints."""
    beliefs = at_random(n, share)
    svg = parts_graph(beliefs, PARTS)
    held = beliefs.filter("before").select("subject", "relation", "object").rows()
    assert edges_of(svg, "before", "violated") == violated_by_hand(set(held), LONG[:n])
    assert edges_of(svg, "paper", "violated") == set()


def test_an_edge_believed_both_ways_says_why() -> None:
    """The paper's egg: yolk surrounds shell, and shell surrounds yolk."""
    both = {("yolk", "surrounds", "shell"), ("shell", "surrounds", "yolk")}
    both |= {(o, "surrounded by", s) for s, _, o in both}
    svg = parts_graph(table(EGG, both, set()), PARTS)
    assert any(
        "violated: shell surrounds yolk, and yolk surrounds shell" in title for title in titles(svg)
    )


@pytest.mark.parametrize(
    ("believed", "why"),
    [
        ({("yolk", "inside", "shell")}, "yolk inside shell, but not shell contains yolk"),
        ({("yolk", "next to", "shell")}, "yolk next to shell, but not shell next to yolk"),
        (
            {("shell", "above", "white"), ("white", "above", "yolk")},
            "shell above white, and white above yolk, but not shell above yolk",
        ),
    ],
)
def test_each_kind_of_violation_says_why(believed: set[Statement], why: str) -> None:
    """Which statements are believed, and which one is not."""
    assert f"violated: {why}" in "\n".join(titles(parts_graph(table(EGG, believed, set()), PARTS)))


def test_a_violated_edge_is_drawn_though_it_follows() -> None:
    """A chain of two makes a third true; believed in one wording only, it is still shown."""
    chain = {("shell", "above", "white"), ("white", "above", "yolk"), ("shell", "above", "yolk")}
    whole = chain | {(o, "below", s) for s, _, o in chain}
    short = whole - {("yolk", "below", "shell")}
    svg = parts_graph(table(EGG, short, whole), PARTS)
    assert ("above", "shell", "yolk") in edges_of(svg, "before", "violated")
    assert ("above", "shell", "yolk") not in edges_of(svg, "paper")


def test_violated_edges_differ_in_more_than_colour() -> None:
    """Their lines are dashed, and other lines are not."""
    svg = parts_graph(table(EGG, {("yolk", "inside", "shell")}, set()), PARTS)
    lines = [each for each in elements(svg).iter(f"{SVG}path") if each.get("fill") == "none"]
    marked = [each for each in lines if each.get("stroke") in PALETTES["house"].faults]
    assert marked
    assert all(each.get("stroke-dasharray") for each in marked)
    assert not any(each.get("stroke-dasharray") for each in lines if each not in marked)


def test_names_are_escaped() -> None:
    """A part may be called anything; its name is text, and the document stays well-formed."""
    parts = ("<script>alert(1)</script>", 'a & "b"', "'/><g onload='x", "bell\x07 {x} \ud7ff")
    svg = parts_graph(table(parts, {(parts[0], "above", parts[1])}, set()), PARTS)
    assert not [each for each in elements(svg).iter() if each.tag.endswith("script")]
    assert not [each for each in elements(svg).iter() if "onload" in each.attrib]
    assert "<script" not in svg
    assert any(parts[0] in title for title in titles(svg))


def test_the_same_beliefs_give_the_same_bytes() -> None:
    """Drawn twice."""
    beliefs = at_random(7, 0.3)
    assert parts_graph(beliefs, PARTS) == parts_graph(beliefs, PARTS)


def test_a_palette_colours_the_whole_figure() -> None:
    """No colour of the house's faults is left in the colour-blind-safe figure."""
    svg = parts_graph(at_random(7, 0.3), PARTS, Theme("okabe-ito"))
    assert all(colour not in svg for colour in PALETTES["house"].faults)
    assert PALETTES["okabe-ito"].faults[0] in svg


def test_without_gold_there_is_no_gold() -> None:
    """Two stages instead of three."""
    stage = {("shell", "above", "yolk"), ("yolk", "below", "shell")}
    assert "Gold" not in parts_graph(table(EGG, stage, stage), PARTS)
    assert "Gold" in parts_graph(table(EGG, stage, stage, dict.fromkeys(stage, True)), PARTS)


def test_a_constraint_that_a_missing_belief_decides_is_not_drawn_as_violated() -> None:
    """It is counted as undecided; the others are decided."""
    beliefs = table(EGG, {("yolk", "inside", "shell")}, set())
    missing = (pl.col("subject") == "shell") & (pl.col("relation") == "contains")
    known = (pl.when(~missing).then(name).alias(name) for name in ("p_true", "before"))
    svg = parts_graph(beliefs.with_columns(known), PARTS)
    assert "violated" not in "\n".join(titles(svg))
    assert edges_of(svg, "before", "violated") == set()
    texts = " ".join(element.text or "" for element in elements(svg).iter(f"{SVG}text"))
    assert "0 of 1 constraint violated (0.0\N{NO-BREAK SPACE}%)" in texts
    assert "1 undecided" in texts


def test_missing_beliefs_are_counted() -> None:
    """They are not believed, and the heading says how many they are."""
    beliefs = table(EGG, set(), set()).with_columns(
        p_true=pl.when(pl.col("relation") == "above").then(None).otherwise("p_true")
    )
    texts = [words for words, _ in boxes(parts_graph(beliefs, PARTS))[0]]
    assert "6 beliefs are missing" in texts
    assert "0 of 84 statements believed" in texts


def test_a_relation_of_many_edges_is_a_table() -> None:
    """All 156 ordered pairs of 13 parts are marks in a table; a chain of 3 is drawn as lines."""
    full = parts_graph(at_random(13, 1.0), PARTS)
    assert "insect proof mesh door  3" in [words for words, _ in boxes(full)[0]]
    assert len([edge for edge in edges_of(full, "before") if edge[0] == "above"]) == 156
    few = parts_graph(at_random(3, 0.01), PARTS)
    assert "insect proof mesh door  3" not in [words for words, _ in boxes(few)[0]]


def test_beliefs_of_two_drawings_are_refused() -> None:
    """A graph shows one."""
    one = table(EGG, set(), set())
    with pytest.raises(DataError, match="about 2"):
        parts_graph(pl.concat([one, one.with_columns(annotator=pl.lit("a2"))]), PARTS)
    with pytest.raises(DataError, match="about 0"):
        parts_graph(one.clear(), PARTS)


def test_a_world_that_is_not_there_is_refused() -> None:
    """With the column's name; and so is a palette."""
    with pytest.raises(DataError, match="no column margin"):
        parts_graph(table(EGG, set(), set()), PARTS, Theme(objective="margin"))
    with pytest.raises(RequestError, match="expected one of house, okabe-ito"):
        parts_graph(table(EGG, set(), set()), PARTS, Theme("pink"))


def test_the_typical_drawing_has_the_median_of_violations() -> None:
    """Of three drawings the one in the middle; another when it is asked for by name."""
    one = table(EGG, set(), set())
    names = ("a1", "a2", "a3")
    beliefs = pl.concat([one.with_columns(annotator=pl.lit(name)) for name in names])
    violations = pl.DataFrame({"thing": "egg", "annotator": names, "violated": [9, 5, 1]})
    tables = {"beliefs": beliefs, "violation_by_drawing": violations}
    assert [name for name, _ in graphs(tables, PARTS, Theme())] == ["parts_graph-egg-a2"]
    chosen = graphs(tables, PARTS, Theme(), [("egg", "a3")])
    assert [name for name, _ in chosen] == ["parts_graph-egg-a3"]
    with pytest.raises(RequestError, match="no drawing of 'egg' by 'a4'"):
        graphs(tables, PARTS, Theme(), [("egg", "a4")])


def test_names_of_files_hold_no_path() -> None:
    """A thing may be called ``../x``; two that come out alike are numbered; each model has one."""
    one = table(EGG, set(), set())
    things = ("../x", "..\\x")
    beliefs = pl.concat([one.with_columns(thing=pl.lit(thing)) for thing in things])
    found = graphs({"beliefs": beliefs}, PARTS, Theme(), [(thing, "a1") for thing in things])
    assert [name for name, _ in found] == ["parts_graph-x-a1", "parts_graph-x-a1-2"]
    models = pl.concat([one.with_columns(model=pl.lit(name)) for name in ("org/m", "n")])
    found = graphs({"beliefs": models}, PARTS, Theme())
    assert [name for name, _ in found] == ["parts_graph-org_m-egg-a1", "parts_graph-n-egg-a1"]


@pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")
@pytest.mark.parametrize("n", [3, 7, 10, 13])
def test_real_drawings_are_legible(n: int) -> None:
    """What people drew of four things, believed as drawn, and with one inverse taken away."""
    drawing = next(each for each in read_drawings(PARROT, PARTS.relations) if len(each.parts) == n)
    gold = enrich(drawing_statements([drawing]), PARTS)
    keys = ["thing", "annotator", "subject", "relation", "object"]
    beliefs = all_statements([drawing], PARTS.relations).join(gold, on=keys, how="left")
    true = pl.col("label").fill_null(value=False)
    beliefs = beliefs.with_columns(p_true=true.cast(pl.Float64), before=true, paper=true)
    svg = parts_graph(beliefs, PARTS)
    assert_legible(svg)
    assert edges_of(svg, "before", "violated") == set()
    assert edges_of(svg, "before") == edges_of(svg, "label") != set()
