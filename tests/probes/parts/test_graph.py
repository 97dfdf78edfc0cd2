from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import NamedTuple
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from tacit.charts.save import drawn
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE, PALETTES, Palette, Spec
from tacit.coherence.ontology import Ontology
from tacit.findings.findings import Findings
from tacit.probes.parts.details import graph_files
from tacit.probes.parts.edges import Edge, edges, without_implied, worst_violations
from tacit.probes.parts.graph import parts_graphs
from tacit.probes.parts.ring import HEIGHTS, label_positions, lines_of, ordered, spots_of

PARTS = Ontology.load("parts")

LETTER = 0.6  # the mean width of letters in DejaVu Sans, as a share of its size, is less

Statement = tuple[str, str, str]
Key = tuple[str, str, str]  # relation, tail, head


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether two boxes share more than a tenth of a pixel of rounding."""
        across = self.left < other.right - 0.2 and other.left < self.right - 0.2
        return across and self.top < other.bottom - 0.2 and other.top < self.bottom - 0.2


EGG = ("shell", "white", "yolk")
NAMES = (
    "filament support and contact wire, type guide + ribbon vibrator, insect proof mesh door, lid, "
    "carriage release lever, speed selector switch, tip, horizontal stabilizer, "
    "antidisestablishmentarianism, armrest adjust button, on, bread carriage handle, "
    "caster wheel, brake light"
)
LONG = NAMES.split(", ")


def table(
    parts: Sequence[str],
    before: set[Statement],
    after: set[Statement],
    gold: dict[Statement, bool] | None = None,
) -> pl.DataFrame:
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


def spec_of(beliefs: pl.DataFrame, colours: Palette = HOUSE) -> Spec:
    (spec,) = parts_graphs(beliefs, PARTS, colours).values()
    return spec


def tips(spec: Spec) -> str:
    rows = (row for panel in spec["concat"] for row in panel["data"]["values"])
    return "\n".join(row["tip"] for row in rows if "tip" in row)


def edges_of(beliefs: pl.DataFrame, stage: str) -> list[Edge]:
    ((found, _),) = edges(beliefs, PARTS, stage, ["thing", "annotator"]).values()
    return found


def keys(found: Iterable[Edge]) -> set[Key]:
    return {(edge.relation, edge.tail, edge.head) for edge in found}


def edge_of(statement: Statement) -> Key:
    """One edge for a statement and its wording the other way round."""
    subject, name, obj = statement
    relation, names = PARTS.relations[name], list(PARTS.relations)
    if relation.inverse and names.index(relation.inverse) < names.index(name):
        return relation.inverse, obj, subject
    if relation.symmetric and obj < subject:
        return name, obj, subject
    return name, subject, obj


def closure(found: set[Key]) -> set[Key]:
    """The edges and all that transitive relations make of them."""
    while True:
        more = {
            (r, x, z)
            for r, x, y in found
            for q, w, z in found
            if r == q and y == w and x != z and PARTS.relations[r].transitive
        }
        if more <= found:
            return found
        found = found | more


def violated_by_hand(true: set[Statement], parts: Sequence[str]) -> set[Key]:
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
    return {edge_of(statement) for statement in found}


def boxes(panel: Spec) -> tuple[list[tuple[str, Box]], list[Box]]:
    """Where the labels and the names of parts stand in a panel, and each part's dot."""
    texts: list[tuple[str, Box]] = []
    dots: list[Box] = []
    for row in panel["data"]["values"]:
        if row["mark"] not in {"label", "part"}:
            continue
        x, y, part = row["x"], row["y"], row["mark"] == "part"
        lines, size = row["text"].split("\n"), 13
        width, height = LETTER * size * max(map(len, lines)), size + 16 * (len(lines) - 1)
        left = x - width / 2 if not part else x + 10 if x > 0 else x - 10 - width
        texts.append((row["text"], Box(left, y - height / 2, left + width, y + height / 2)))
        if part:
            dots.append(Box(x - 4, y - 4, x + 4, y + 4))
    return texts, dots


@pytest.mark.parametrize("n", [2, 3, 5, 8, 11, 14])
@pytest.mark.parametrize("share", [0.01, 0.1])
def test_no_text_stands_on_another(n: int, share: float) -> None:
    """No label on another, on a name or on a dot, and none outside its panel."""
    for panel in spec_of(at_random(n, share))["concat"]:
        texts, dots = boxes(panel)
        for (words, one), (more, other) in combinations(texts, 2):
            assert not one.overlaps(other), (words, more)
        (left, right), (bottom, top) = (
            panel["encoding"][axis]["scale"]["domain"] for axis in ("x", "y")
        )
        for words, box in texts:
            assert not any(map(box.overlaps, dots)), words
            assert left <= box.left < box.right <= right, words
            assert top <= box.top < box.bottom <= bottom, words


@pytest.mark.parametrize("wider", [1.0, 1.6])
@pytest.mark.parametrize("seed", range(5))
def test_no_label_lies_on_another_edge(seed: int, wider: float) -> None:
    """Neither in the graph nor in a wider one, point by point."""
    drawn = lines_of(edges_of(at_random(7, 0.04, seed), "before"), PARTS)
    spots = spots_of(ordered(LONG[:7], drawn), HEIGHTS[-1])
    found = label_positions(drawn, spots)
    assert len(found) > 2
    for line, (x, y) in found.items():
        letters = max(len(name) + 2 * (edge.fault is not None) for name, edge in line.names)
        width, height = LETTER * 13 * letters, 16 * len(line.names)
        for other in found.keys() - {line}:
            (x1, y1), (x2, y2) = spots[other.tail], spots[other.head]
            for at in (step / 200 for step in range(201)):
                aside = abs(x1 + at * (x2 - x1) - x) * wider
                assert aside > width / 2 or abs(y1 + at * (y2 - y1) - y) > height / 2


@pytest.mark.parametrize(("n", "share"), [(3, 0.3), (7, 0.03), (7, 0.5), (13, 0.01), (13, 0.6)])
def test_every_belief_is_drawn_or_follows_from_what_is_drawn(n: int, share: float) -> None:
    """In every stage, and nothing else; what is violated is marked, as counted by hand."""
    beliefs = at_random(n, share)
    transitive = [name for name, relation in PARTS.relations.items() if relation.transitive]
    for stage in ("before", "paper", "label"):
        held = beliefs.filter(pl.col(stage)).select("subject", "relation", "object").rows()
        believed = {edge_of(statement) for statement in held}
        found = edges_of(beliefs, stage)
        assert keys(found) == believed
        drawn = without_implied(found, transitive)
        assert believed <= closure(keys(drawn))
        faulty = [edge for edge in found if edge.fault is not None]
        assert set(faulty) <= set(drawn)
        assert keys(faulty) == (
            violated_by_hand(set(held), LONG[:n]) if stage == "before" else set()
        )


@pytest.mark.parametrize(
    ("believed", "why"),
    [
        (
            {("yolk", "surrounds", "shell"), ("shell", "surrounds", "yolk")},
            "shell surrounds yolk, and yolk surrounds shell",
        ),
        ({("yolk", "inside", "shell")}, "yolk inside shell, but not shell contains yolk"),
        ({("yolk", "next to", "shell")}, "yolk next to shell, but not shell next to yolk"),
        (
            {("shell", "above", "white"), ("white", "above", "yolk")},
            "shell above white, and white above yolk, but not shell above yolk",
        ),
    ],
)
def test_each_kind_of_violation_says_why(believed: set[Statement], why: str) -> None:
    assert f"violated: {why}" in tips(spec_of(table(EGG, believed, set())))


def test_at_most_eight_edges_are_drawn_the_violated_ones_first() -> None:
    """Beside the consistent assignment, and gold where there is any."""
    for share in (0.1, 0.9):
        before, *others = spec_of(at_random(12, share))["concat"]
        drawn = [row for row in before["data"]["values"] if row["mark"] == "label"]
        assert 0 < len(drawn) <= 8
        assert all(row["text"].startswith("\N{MULTIPLICATION SIGN}") for row in drawn)
        assert len(others) == 2
    assert len(spec_of(table(EGG, set(), set()))["concat"]) == 2


def test_the_worst_violations_are_the_surest_exclusions() -> None:
    """One of each thing first; with the probabilities of the believed statements."""
    believed = {("yolk", "surrounds", "shell"), ("shell", "surrounds", "yolk")}
    one = table(EGG, believed | {("white", "inside", "yolk")}, set())
    surer = pl.when(pl.col("p_true") > 1 / 2).then(0.95).otherwise("p_true")
    other = one.with_columns(thing=pl.lit("ball"), p_true=surer)
    beliefs = pl.concat([one, other])
    found = worst_violations(Findings(beliefs, {"beliefs": beliefs}, {}), PARTS, 3)
    assert found["thing"].to_list()[:2] == ["ball", "egg"]
    assert found["violation"][0] == (
        "shell surrounds yolk (0.950), and yolk surrounds shell (0.950)"
    )
    assert found.height == 3


def test_names_are_escaped() -> None:
    """A part may be called anything; its name is text, and the document stays well-formed."""
    parts = ("<script>alert(1)</script>", 'a & "b"', "'/><g onload='x", "bell\x07 {x} \ud7ff")
    beliefs = table(parts, {(parts[0], "above", parts[1])}, set())
    svg = drawn(spec_of(beliefs), PALETTES["house"])
    elements = list(ET.fromstring(svg).iter())  # noqa: S314 - our own
    assert not [each for each in elements if each.tag.endswith("script") or "onload" in each.attrib]
    assert any(parts[0] in (each.text or "") for each in elements if each.tag.endswith("title"))


def test_a_constraint_that_a_missing_belief_decides_is_not_drawn_as_violated() -> None:
    """It is counted as undecided, and the missing beliefs are counted."""
    beliefs = table(EGG, {("yolk", "inside", "shell")}, set())
    missing = (pl.col("subject") == "shell") & (pl.col("relation") == "contains")
    known = (pl.when(~missing).then(name).alias(name) for name in ("p_true", "before"))
    beliefs = beliefs.with_columns(known)
    assert [edge.fault for edge in edges_of(beliefs, "before")] == [None]
    about = " ".join(spec_of(beliefs)["concat"][0]["title"]["subtitle"])
    assert "0 of 1 constraint" in about
    assert "1 constraint undecided" in about
    assert "2 beliefs are missing" in about


def test_the_typical_drawing_has_the_median_of_violations() -> None:
    """Of three drawings the one in the middle; all of a thing that is asked for by name."""
    one = table(EGG, set(), set())
    names = ("a1", "a2", "a3")
    beliefs = pl.concat([one.with_columns(annotator=pl.lit(name)) for name in names])
    drawings = pl.DataFrame({"thing": "egg", "annotator": names, "violated": [9, 5, 1]})
    found = Findings(beliefs, {"beliefs": beliefs, "violation_by_drawing": drawings})
    shown = Shown({"m": found}, {}, HOUSE)
    assert list(graph_files(shown, PARTS, None)) == ["parts_graph-egg-a2"]
    assert list(graph_files(shown, PARTS, ["egg"])) == [f"parts_graph-egg-{name}" for name in names]


def test_two_objects_of_a_functional_relation_are_faults_of_both_edges() -> None:
    """A thing that lies on two others, of which it can lie on one."""
    relations = {"lies on": {"functional": True}}
    rows = [("egg", 1, "yolk", "lies on", obj, 0.9, True, None) for obj in ("white", "shell")]
    columns = ("thing", "annotator", "subject", "relation", "object", "p_true", "before", "label")
    beliefs = pl.DataFrame(rows, columns, orient="row")
    ontology = Ontology.of({"name": "own", "relations": relations})
    ((found, _),) = edges(beliefs, ontology, "before", ["thing", "annotator"]).values()
    assert [edge.fault for edge in found] == [0, 0]
