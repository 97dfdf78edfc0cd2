"""Findings from beliefs about a drawing of four parts, worked by hand."""

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tacit import FakeModel, Ontology, Prompt
from tacit.charts.theme import HOUSE
from tacit.findings.findings import Findings
from tacit.probes.parts import TABLES
from tacit.probes.parts.details import graph_set
from tacit.probes.parts.measures import measures
from tacit.probes.parts.options import PartsOptions
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.repair import STAGES
from tacit.sources.drawings import Drawing
from tests.in_order import answers_of
from tests.probes.parts.measured import believing, counted, knowing, only, probe_of

# Above: shade, stand, base, so also shade above base; the bulb is in the shade. With the inverses
# 8 statements are true, and the reverses of these 8 are false.
LAMP = Drawing(
    "lamp",
    "ann",
    ("shade", "stand", "base", "bulb"),
    (("shade", "above", "stand"), ("stand", "above", "base"), ("bulb", "inside", "shade")),
)
PROBE = probe_of(LAMP)
INSIDE = ("lamp", "bulb", "inside", "shade")
CONTAINS = ("lamp", "shade", "contains", "bulb")
EMPTY = ("accuracy", "agreement", "discrimination", "repaired")  # without gold labels
TYPES = ("symmetric", "asymmetric", "inverse", "transitive", "macro", "micro")


def but(**p: float | None) -> Findings:
    """The findings if gold alone is believed, but for what the bulb is said to be."""
    other = {INSIDE: p.get("inside", 1.0), CONTAINS: p.get("contains", 1.0)}
    rows = zip(PROBE.questions.iter_rows(), knowing(PROBE), strict=True)
    return believing(PROBE, [other.get(question, one) for question, one in rows])


def all_alike(p: float | None, *drawings: Drawing) -> Findings:
    probe = probe_of(*drawings) if drawings else PROBE
    return believing(probe, [p] * probe.questions.height)


def accuracies(findings: Findings, gold: str = "all") -> dict[str, float | None]:
    rows = findings.tables["accuracy"].filter(set="all", gold=gold)
    return dict(zip(rows["stage"], rows["accuracy"], strict=True))


def counts(findings: Findings, stage: str = "before") -> list[tuple[int | None, ...]]:
    """Violated, applicable and undecided constraints, in the order of the types."""
    rows = findings.tables["violation"].filter(stage=stage)
    assert rows["constraint"].to_list() == [*TYPES]
    return rows.select("violated", "applicable", "undecided").rows()


def drawings_of(findings: Findings, objective: str) -> tuple[int | None, ...]:
    """How many statements repair turns true and false, and drawings better, alike and worse."""
    row = only(findings.tables["repair"], objective=objective)
    names = ("turned_true", "turned_false", "improved", "same", "worse")
    return tuple(row[name] for name in names)


def test_a_violated_inverse_is_repaired_by_each_objective_its_own_way() -> None:
    """Bulb inside shade has 0.6, shade contains bulb 0.3.

    Before: 15 of 16 right, 1 of 4 inverses violated, 7 asymmetric and 2 transitive ones hold.
    ``paper`` keeps 60 + 30 by adding the weak one; for the others it weighs more to drop both.
    """
    findings = but(inside=0.6, contains=0.3)
    applicable = ((0, 0), (0, 7), (1, 4), (0, 2), (None, None), (1, 13))
    assert [each[:2] for each in counts(findings)] == [*applicable]
    after = {"paper": 16 / 16, "log-odds": 14 / 16, "margin": 14 / 16}
    assert accuracies(findings) == {"before": 15 / 16, **after}
    assert list(accuracies(findings, "true").values()) == [7 / 8, 1.0, 6 / 8, 6 / 8]
    assert accuracies(findings, "false") == dict.fromkeys(STAGES, 1.0)
    for objective in STAGES[1:]:
        changed = (1, 0, 1, 0, 0) if objective == "paper" else (0, 1, 0, 0, 1)
        assert drawings_of(findings, objective) == changed
        assert counts(findings, objective)[-1][0] == 0
        gain = only(findings.tables["accuracy_gain"], set="all", objective=objective, part="whole")
        assert gain["gain"] == after[objective] - 15 / 16
    assert only(findings.tables["repair"], objective="paper")["value"] == 6 * 100 + 60 + 30
    shares = findings.tables["accuracy_at"].filter(stage="before").select("s", "share")
    assert dict(shares.iter_rows()) == {**dict.fromkeys((50, 60, 70, 80, 90), 1.0), 100: 0.0}
    summary = findings.summary
    assert (summary["macro"], summary["micro"]) == (pytest.approx(1 / 12), 1 / 13)
    assert (summary["drawings_with_violation"], summary["contradiction_density"]) == (1, 1 / 13)


def test_no_belief_is_no_accuracy_and_without_gold_there_is_none() -> None:
    """All are missing and nothing is repaired; tables without labels are as declared."""
    findings = all_alike(None)
    assert accuracies(findings) == dict.fromkeys(STAGES, None)
    assert findings.tables["violation"]["rate"].null_count() == 24
    assert findings.tables["accuracy_at"]["share"].null_count() == 24
    thing = findings.tables["accuracy_by_thing"]
    assert (thing["rank"].null_count(), thing["band"].null_count()) == (4, 4)
    assert drawings_of(findings, "paper") == (0, 0, 0, 0, 0)
    assert (findings.summary["missing"], findings.summary["missing_statements"]) == (168, 168)
    assert findings.summary["true_share"] is None
    assert findings.tables["repaired_shuffled"].is_empty()
    findings = all_alike(0.9, replace(LAMP, relations=()))
    with_gold = all_alike(0.9).check(TABLES.values())
    findings.check(TABLES.values())
    for name, table in findings.tables.items():
        assert table.is_empty() == name.startswith(EMPTY), name
        assert table.schema == with_gold.tables[name].schema, name
    assert drawings_of(findings, "paper") == (0, 72, None, None, None)
    assert findings.tables["beliefs"]["label"].null_count() == 168


def test_a_missing_belief_is_left_out_and_a_constraint_that_needs_it_is_undecided() -> None:
    """Repair infers the belief from its inverse, but it is not counted as right.

    Its reverse is not believed, so 7 asymmetric constraints are decided, and the inverse is not.
    """
    findings = but(inside=None)
    row = only(findings.tables["accuracy"], set="all", gold="true", stage="before")
    assert (row["n"], row["missing"], row["accuracy"]) == (7, 1, 1.0)
    drawing = only(findings.tables["accuracy_by_drawing"])
    assert (drawing["n"], drawing["missing"], drawing["before"]) == (15, 1, 1.0)
    missing = findings.tables["beliefs"].filter(pl.col("p_true").is_null()).row(0, named=True)
    assert [missing[stage] for stage in STAGES] == [None, True, True, True]
    assert [undecided for *_, undecided in counts(findings)] == [0, 0, 1, 0, None, 1]
    assert counts(findings)[2] == (0, 4, 1)
    row = only(findings.tables["violation"], constraint="inverse", stage="before")
    assert row["rate"] == 0.0
    assert findings.summary["drawings_with_violation"] == 0
    assert counts(findings, "paper")[-1][::2] == (0, 0)
    found = {"one": findings, "other": but()}
    says_true, balanced, *_, violation = measures(found)
    rows = [each.tables["discrimination"].rows_by_key("set", named=True) for each in found.values()]
    assert says_true.values == tuple(row["all"][0]["share_true"] for row in rows)
    without = tuple(row["without symmetric relations"][0]["balanced"] for row in rows)
    assert balanced.values == pytest.approx(without, abs=1e-15)
    assert violation.values == (0.0, 0.0)
    assert violation.note == "undecided constraints are left out: 1 for one, 0 for other"


def test_each_drawing_may_have_answers_of_its_own() -> None:
    """Answers with a column annotator are joined by drawing, and each counts as a question."""
    probe = probe_of(LAMP, replace(LAMP, annotator="ben"))
    p = pl.Series([0.9 if row[1] == "ann" else 0.1 for row in probe.statements.iter_rows()])
    findings = probe.measure_beliefs(probe.statements.with_columns(p_true=p))
    summary = findings.summary
    assert (summary["by_drawing"], summary["questions"], summary["true_share"]) == (True, 336, 0.5)
    believed = findings.tables["beliefs"].group_by("annotator").agg(pl.col("before").mean())
    assert dict(believed.iter_rows()) == {"ann": 1.0, "ben": 0.0}
    assert not all_alike(0.9).summary["by_drawing"]


def test_a_belief_of_one_half_is_a_tie() -> None:
    """It is not believed; it counts as answered, as the preset that fills it in wants."""
    filled = pl.Series("filled", [True, True, *[False] * 166])
    answers = PROBE.questions.with_columns(filled, p_true=pl.Series([0.5, 0.5, *[0.9] * 166]))
    findings = PROBE.measure_beliefs(answers)
    summary = findings.summary
    assert (summary["filled"], summary["ties"], summary["missing"]) == (2, 2, 0)
    assert summary["true_share"] == 166 / 168
    assert findings.questions.equals(answers)


def test_things_are_ranked_by_what_is_believed_before_repair() -> None:
    """Ties by name; of fewer than 40 the better half is best, and one in the middle neither."""
    # The second relation adds statements labelled true alone, which all-true gets right.
    relations = (("a", "above", "b"), ("a", "connects", "b"))
    things = [Drawing(name, "ann", ("a", "b"), relations) for name in ("cot", "bin", "axe")]
    probe = probe_of(*things)
    findings = believing(
        probe, [0.9 if row[0] == "cot" else 0.0 for row in probe.questions.iter_rows()]
    )
    ranked = findings.tables["accuracy_by_thing"].filter(stage="before")
    assert ranked.select("thing", "rank", "band", "accuracy").rows() == [
        ("cot", 1, "best 1", 4 / 6),
        ("axe", 2, "middle", 2 / 6),
        ("bin", 3, "worst 1", 2 / 6),
    ]


def test_the_same_beliefs_give_the_same_findings_in_any_order() -> None:
    """Intervals included: the questions may be answered in any order."""
    probe = probe_of(LAMP, Drawing("lantern", "ben", LAMP.parts, LAMP.relations[:2]))
    random = np.random.default_rng(3)
    answers = probe.questions.with_columns(p_true=pl.Series(random.random(336)))
    first = probe.measure_beliefs(answers)
    second = probe.measure_beliefs(answers.sample(fraction=1, shuffle=True, seed=5))
    for name, table in first.tables.items():
        assert second.tables[name].equals(table), name


FAMILY = """
name: family
relations:
  parent of:
    singular: "{subject} is a parent of {object}"
    plural: "{subject} are parents of {object}"
    asymmetric: true
    inverse: child of
    excludes: [sibling of]
  child of:
    singular: "{subject} is a child of {object}"
    plural: "{subject} are children of {object}"
    asymmetric: true
    inverse: parent of
  sibling of:
    singular: "{subject} is a sibling of {object}"
    plural: "{subject} are siblings of {object}"
    symmetric: true
    transitive: true
"""
KEY = ("thing", "subject", "relation", "object")
KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "excludes")
THINGS = "Everyday thing\tParts\nfamily\tanna,ben,cleo,twins\nclan\teve,fay,gus\n"
DRAWN = "1\tfamily\t---\tanna\tparent of\tben\n\t\t---\tben\tsibling of\tcleo\n"


def score(prompt: Prompt, answer: str) -> float:
    return -1.0 if (zlib.crc32(prompt.text.encode()) % 2 == 1) == (answer == "True") else -5.0


def test_own_relations_are_asked_checked_repaired_and_drawn(tmp_path: Path) -> None:
    """Wordings are the ontology's, and violations those that counting one by one finds."""
    things, drawn, ontology = (tmp_path / name for name in ("a.tsv", "b.tsv", "family.yaml"))
    for path, content in ((things, THINGS), (drawn, DRAWN), (ontology, FAMILY)):
        path.write_text(content, encoding="utf-8")
    probes = (PartsProbe.of(PartsOptions(path, ontology=str(ontology))) for path in (things, drawn))
    found, labelled = (each.measure(answers_of(each, FakeModel(score))) for each in probes)
    asked = {row[:4]: row[4] for row in found.questions.select(*KEY, "text").iter_rows()}
    start = "Judge whether this statement is true or false: In a family, "
    assert asked["family", "twins", "parent of", "ben"] == f"{start}twins are parents of ben."
    assert asked["family", "ben", "sibling of", "anna"] == f"{start}ben is a sibling of anna."
    assert len(asked) == 3 * (4 * 3 + 3 * 2)
    # No item is in both things, so their statements are counted together.
    held = found.tables["beliefs"].filter("before").select(KEY[1:])
    by_hand = counted(Ontology.load(ontology), set(held.iter_rows()))
    rows = found.tables["violation"].filter(~pl.col("constraint").is_in(["macro", "micro"]))
    before = rows.filter(stage="before").select("constraint", "violated", "applicable").rows()
    assert before == [(kind, *by_hand[kind]) for kind in KINDS]
    assert rows.filter(stage="paper")["violated"].sum() == 0
    assert labelled.tables["beliefs"]["label"].sum() == 4
    ontology.unlink()
    graphs = graph_set({"fake": labelled}, HOUSE)
    assert graphs is not None
    assert "sibling of" in str(graphs.graphs[0])
