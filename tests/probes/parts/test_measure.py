from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError
from tacit.probes.parts import accuracy
from tacit.probes.parts.accuracy import shifted
from tacit.probes.parts.measures import measures
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.probes.parts.repair import STAGES
from tacit.probes.parts.tables import TABLES
from tacit.sources.drawings import Drawing, read_drawings
from tacit.sources.statements import agreement, all_statements, drawing_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.findings.findings import Findings

    Row = dict[str, Any]

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
PARROT = DATA / "parrot"
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")

# Above: shade, stand, base, so also shade above base; the bulb is in the shade. With the inverses
# 8 statements are true, and the reverses of these 8 are false.
LAMP = Drawing(
    "lamp",
    "ann",
    ("shade", "stand", "base", "bulb"),
    (("shade", "above", "stand"), ("stand", "above", "base"), ("bulb", "inside", "shade")),
)
CONNECTED = ("base", "connects", "stand")
EMPTY = ("accuracy", "agreement", "discrimination", "repaired")  # without gold labels
SYMMETRIC = {"connects", "next to"}


def probe_of(*drawings: Drawing) -> PartsProbe:
    """The probe of these drawings."""
    return PartsProbe(drawings, Ontology.load("parts"), Template.load("plain"))


def gold_is(probe: PartsProbe, thing: str, subject: str, relation: str, obj: str) -> bool:
    """Whether somebody's drawing makes the statement true."""
    same = (pl.col("thing") == thing) & (pl.col("subject") == subject)
    same &= (pl.col("relation") == relation) & (pl.col("object") == obj)
    return bool(probe.gold.filter(same)["label"].any())


def believing(probe: PartsProbe, p: Callable[..., float | None]) -> Findings:
    """The findings when the belief about (thing, subject, relation, object) is p of them."""
    beliefs = pl.Series("p_true", [p(*row) for row in probe.questions.iter_rows()], pl.Float64)
    return probe.measure_beliefs(probe.questions.with_columns(beliefs))


def knowing(probe: PartsProbe, **otherwise: float) -> Findings:
    """The findings when gold alone is believed, but for what the bulb is said to be."""

    def p(thing: str, subject: str, relation: str, obj: str) -> float:
        if {subject, obj} == {"bulb", "shade"} and relation in otherwise:
            return otherwise[relation] if gold_is(probe, thing, subject, relation, obj) else 0.0
        return float(gold_is(probe, thing, subject, relation, obj))

    return believing(probe, p)


def only(table: pl.DataFrame, **where: object) -> Row:
    """The one row of a table where columns have these values."""
    return table.filter(**where).row(0, named=True)


def accuracies(findings: Findings, gold: str = "all") -> dict[str, float | None]:
    """The accuracy of each stage on ParRoT."""
    rows = findings.tables["accuracy"].filter(set="all", gold=gold)
    return dict(zip(rows["stage"], rows["accuracy"], strict=True))


def counts(findings: Findings, stage: str = "before") -> dict[str, tuple[int | None, int | None]]:
    """Violated and applicable of each constraint."""
    rows = findings.tables["violation"].filter(stage=stage)
    pairs = zip(rows["violated"], rows["applicable"], strict=True)
    return dict(zip(rows["constraint"], pairs, strict=True))


def rate(findings: Findings, constraint: str, stage: str = "before") -> float | None:
    """How often a constraint is violated."""
    value = only(findings.tables["violation"], constraint=constraint, stage=stage)["rate"]
    return None if value is None else float(value)


def test_gold_itself_is_right_and_consistent_in_every_world() -> None:
    """Worked by hand: 16 of 16; 8 asymmetric, 4 inverse and 2 transitive constraints apply."""
    findings = knowing(probe_of(LAMP))
    assert accuracies(findings) == dict.fromkeys(STAGES, 1.0)
    assert counts(findings) == {
        "symmetric": (0, 0),
        "asymmetric": (0, 8),
        "inverse": (0, 4),
        "transitive": (0, 2),
        "macro": (None, None),
        "micro": (0, 14),
    }
    assert [rate(findings, name) for name in ("symmetric", "macro", "micro")] == [None, 0.0, 0.0]
    for row in findings.tables["repair"].iter_rows(named=True):
        assert (row["turned_true"], row["turned_false"]) == (0, 0)
        # Nothing argues against the 152 statements without a label under paper, whose p is 0.
        assert row["free"] == (152 if row["objective"] == "paper" else 0)
        assert (row["improved"], row["same"], row["worse"]) == (0, 1, 0)
    assert findings.summary["consistent"] == 1.0
    assert findings.summary["contradiction_density"] == 0.0


def test_an_inverse_planted_is_found_and_each_objective_repairs_it_its_own_way() -> None:
    """Bulb inside shade has 0.6, shade contains bulb 0.3.

    Before: 15 of 16 right, 1 of 4 inverses violated, 7 asymmetric and 2 transitive ones hold.
    ``paper`` keeps 60 + 30 by adding the weak one; for the others it weighs more to drop both.
    """
    findings = knowing(probe_of(LAMP), inside=0.6, contains=0.3)
    assert counts(findings) == {
        "symmetric": (0, 0),
        "asymmetric": (0, 7),
        "inverse": (1, 4),
        "transitive": (0, 2),
        "macro": (None, None),
        "micro": (1, 13),
    }
    assert rate(findings, "inverse") == 1 / 4
    assert rate(findings, "macro") == pytest.approx(1 / 12)
    assert rate(findings, "micro") == 1 / 13
    after = {"paper": 16 / 16, "log-odds": 14 / 16, "margin": 14 / 16}
    assert accuracies(findings) == {"before": 15 / 16, **after}
    assert accuracies(findings, "true")["before"] == 7 / 8
    assert accuracies(findings, "true")["margin"] == 6 / 8
    assert accuracies(findings, "false") == dict.fromkeys(STAGES, 1.0)
    for objective, changed in (
        ("paper", (1, 0, 1, 0, 0)),
        ("log-odds", (0, 1, 0, 0, 1)),
        ("margin", (0, 1, 0, 0, 1)),
    ):
        row = only(findings.tables["repair"], objective=objective)
        drawings = (row["improved"], row["same"], row["worse"])
        assert (row["turned_true"], row["turned_false"], *drawings) == changed
        assert counts(findings, objective)["micro"][0] == 0
        gain = only(findings.tables["accuracy_gain"], set="all", objective=objective, part="whole")
        assert gain["gain"] == after[objective] - 15 / 16
    assert only(findings.tables["repair"], objective="paper")["value"] == 6 * 100 + 60 + 30
    shares = findings.tables["accuracy_at"].filter(stage="before")
    assert dict(zip(shares["s"], shares["share"], strict=True)) == {
        **dict.fromkeys((50, 60, 70, 80, 90), 1.0),
        100: 0.0,
    }
    summary = findings.summary
    assert (summary["macro"], summary["micro"]) == (pytest.approx(1 / 12), 1 / 13)
    assert (summary["drawings_with_violation"], summary["contradiction_density"]) == (1, 1 / 13)


def test_true_to_everything_breaks_what_is_asymmetric_alone() -> None:
    """Worked by hand for 4 parts: 12 relations of 6 pairs, all believed both ways."""
    findings = believing(probe_of(LAMP), lambda *_: 0.9)
    assert counts(findings) == {
        "symmetric": (0, 12),
        "asymmetric": (72, 72),
        "inverse": (0, 72),
        "transitive": (0, 192),
        "macro": (None, None),
        "micro": (72, 348),
    }
    assert rate(findings, "macro") == 1 / 4
    assert accuracies(findings)["before"] == 8 / 16
    assert [accuracies(findings, gold)["before"] for gold in ("true", "false")] == [1.0, 0.0]
    assert findings.summary["true_share"] == 1.0
    assert findings.summary["consistent"] == 0.0


def test_no_belief_is_no_accuracy() -> None:
    """All are counted as missing; shares and rates are undefined, and nothing is repaired."""
    findings = believing(probe_of(LAMP), lambda *_: None)
    assert accuracies(findings) == dict.fromkeys(STAGES, None)
    row = only(findings.tables["accuracy"], set="all", gold="all", stage="paper")
    assert (row["n"], row["missing"], row["accuracy_low"]) == (0, 16, None)
    assert findings.tables["violation"]["rate"].null_count() == 24
    assert findings.tables["accuracy_at"]["n"].to_list() == [0] * 24
    assert findings.tables["accuracy_at"]["share"].null_count() == 24
    thing = findings.tables["accuracy_by_thing"]
    assert (thing["rank"].null_count(), thing["band"].null_count()) == (4, 4)
    for row in findings.tables["repair"].iter_rows(named=True):
        assert (row["turned_true"], row["turned_false"]) == (0, 0)
        assert (row["improved"], row["same"], row["worse"]) == (0, 0, 0)
    assert (findings.summary["missing"], findings.summary["missing_statements"]) == (168, 168)
    assert findings.summary["true_share"] is None


def test_one_missing_belief_is_left_out_and_counted() -> None:
    """All of the other 15 are right; repair infers it from its inverse, and it is not counted."""
    probe = probe_of(LAMP)

    def p(*question: str) -> float | None:
        if question == ("lamp", "bulb", "inside", "shade"):
            return None
        return float(gold_is(probe, *question))

    findings = believing(probe, p)
    row = only(findings.tables["accuracy"], set="all", gold="true", stage="before")
    assert (row["n"], row["missing"], row["accuracy"]) == (7, 1, 1.0)
    drawing = findings.tables["accuracy_by_drawing"].row(0, named=True)
    assert (drawing["n"], drawing["missing"], drawing["before"]) == (15, 1, 1.0)
    missing = findings.tables["beliefs"].filter(pl.col("p_true").is_null()).row(0, named=True)
    assert [missing[stage] for stage in STAGES] == [None, True, True, True]


def test_a_constraint_that_a_missing_belief_decides_is_undecided() -> None:
    """Shade contains bulb is believed; whether its inverse is, nobody knows.

    Its reverse is not believed, so 7 asymmetric constraints are decided, and the inverse is not.
    """
    probe = probe_of(LAMP)

    def p(*question: str) -> float | None:
        missing = question == ("lamp", "bulb", "inside", "shade")
        return None if missing else float(gold_is(probe, *question))

    findings = believing(probe, p)
    rows = findings.tables["violation"].filter(stage="before")
    undecided = dict(zip(rows["constraint"], rows["undecided"], strict=True))
    assert undecided == {
        "symmetric": 0,
        "asymmetric": 0,
        "inverse": 1,
        "transitive": 0,
        "macro": None,
        "micro": 1,
    }
    assert counts(findings)["inverse"] == (0, 4)
    assert rate(findings, "inverse") == 0.0
    assert findings.summary["drawings_with_violation"] == 0
    for objective in STAGES[1:]:
        after = only(findings.tables["violation"], constraint="micro", stage=objective)
        assert (after["violated"], after["undecided"]) == (0, 0)
    *_, violation = measures({"one": findings, "other": knowing(probe)})
    assert violation.values == (0.0, 0.0)
    assert violation.note == "undecided constraints are left out: 1 for one, 0 for other"


def test_each_drawing_may_have_answers_of_its_own() -> None:
    """Answers with a column annotator are joined by drawing, and each counts as a question."""
    twin = Drawing("lamp", "ben", LAMP.parts, LAMP.relations)
    probe = probe_of(LAMP, twin)
    p = pl.Series([0.9 if row[1] == "ann" else 0.1 for row in probe.statements.iter_rows()])
    findings = probe.measure_beliefs(probe.statements.with_columns(p_true=p))
    summary = findings.summary
    assert (summary["by_drawing"], summary["questions"]) == (True, 336)
    assert summary["true_share"] == 1 / 2
    believed = findings.tables["beliefs"].group_by("annotator").agg(pl.col("before").mean())
    assert dict(believed.iter_rows()) == {"ann": 1.0, "ben": 0.0}
    assert not believing(probe, lambda *_: 0.9).summary["by_drawing"]


def test_what_was_filled_in_is_counted_and_an_even_belief_is_a_tie() -> None:
    """A half is not believed; it counts as answered, as the preset that fills it in wants."""
    probe = probe_of(LAMP)
    filled = pl.Series("filled", [True, True, *[False] * 166])
    answers = probe.questions.with_columns(filled, p_true=pl.Series([0.5, 0.5, *[0.9] * 166]))
    findings = probe.measure_beliefs(answers)
    summary = findings.summary
    assert (summary["filled"], summary["ties"], summary["missing"]) == (2, 2, 0)
    assert summary["true_share"] == 166 / 168
    assert findings.questions.equals(answers)


def test_without_gold_there_is_no_accuracy() -> None:
    """The tables are there without rows; contradictions and repair are as ever."""
    bare = Drawing("lamp", "", LAMP.parts, ())
    findings = believing(probe_of(bare), lambda *_: 0.9)
    for name, table in findings.tables.items():
        assert table.is_empty() == name.startswith(EMPTY), name
    row = only(findings.tables["repair"], objective="paper")
    assert (row["improved"], row["same"], row["worse"]) == (None, None, None)
    assert row["turned_false"] == 72
    assert findings.tables["beliefs"]["label"].null_count() == 168


def test_repair_makes_what_people_drew_of_symmetric_relations_true_by_construction() -> None:
    """All of the gain is of `connects`, and none is left without the symmetric relations."""
    drawing = Drawing("lamp", "ann", ("a", "b"), (("a", "connects", "b"), ("a", "above", "b")))
    true = {("a", "above", "b"), ("b", "below", "a")}
    findings = believing(probe_of(drawing), lambda _, *of: 0.9 if of in true else 0.4)
    gains = findings.tables["accuracy_gain"].filter(objective="paper", part="whole")
    assert dict(zip(gains["set"], gains["gain"], strict=True)) == {
        "all": 2 / 6,
        "without symmetric relations": 0.0,
    }


def test_a_shift_gives_the_ties_at_its_threshold_their_share() -> None:
    """Two true of .9, .5, .5, .5: the first, and a third of each of the others."""
    beliefs = pl.DataFrame(
        {
            "p_true": [0.5, 0.9, None, 0.5, 0.5, 0.1],
            "repaired": [True, True, True, False, False, False],
        }
    )
    assert beliefs.select(shifted("repaired")).to_series().to_list() == [
        1 / 3,
        1.0,
        None,
        1 / 3,
        1 / 3,
        0.0,
    ]
    none = beliefs.with_columns(repaired=pl.lit(value=False))
    assert none.select(shifted("repaired")).to_series().to_list() == [0.0, 0.0, None, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("relations", [LAMP.relations, ()])
def test_the_tables_are_as_declared(
    relations: tuple[tuple[str, str, str], ...],
) -> None:
    """The same names and types whether there is gold or not."""
    drawing = Drawing("lamp", "ann", LAMP.parts, relations)
    findings = believing(probe_of(drawing), lambda *_: 0.9)
    findings.check(TABLES.values())
    with_gold = believing(probe_of(LAMP), lambda *_: 0.9)
    for name, table in findings.tables.items():
        assert table.schema == with_gold.tables[name].schema, name


def test_few_things_have_no_interval_and_five_have() -> None:
    """Fewer tell too little of how things differ."""

    def p(thing: str, *_: str) -> float:
        return 0.1 if thing == "lantern" else 0.9

    def lamps(n: int) -> list[Drawing]:
        return [replace(LAMP, thing=f"lamp {k}") for k in range(n)]

    lantern = replace(LAMP, thing="lantern", relations=(*LAMP.relations, CONNECTED))
    few = believing(probe_of(*lamps(3), lantern), p)
    for name, column in (
        *(("accuracy", "accuracy"), ("accuracy_by_relation", "accuracy"), ("accuracy_at", "share")),
        *(("accuracy_gain", "gain"), ("violation", "rate")),
    ):
        assert few.tables[name][f"{column}_low"].null_count() == few.tables[name].height, name
    both = believing(probe_of(*lamps(4), lantern), p)
    row = only(both.tables["accuracy"], set="all", gold="all", stage="before")
    assert row["accuracy"] == (4 * 8 + 8) / (4 * 16 + 18)
    assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]
    assert both.summary["true_share"] == 4 / 5
    assert both.summary["intervals"] == {
        "method": "percentile bootstrap",
        "resamples": 2000,
        "seed": 0,
        "level": 0.95,
        "clusters": "thing",
    }


def test_things_are_ranked_by_what_is_believed_before_repair() -> None:
    """Ties by name; of fewer than 40 the better half is best, and one in the middle neither."""

    def p(thing: str, *_: str) -> float:
        return {"cot": 0.9, "axe": 0.0, "bin": 0.0}[thing]

    # The second relation adds statements labelled true alone, which all-true gets right.
    relations = (("a", "above", "b"), ("a", "connects", "b"))
    things = [Drawing(name, "ann", ("a", "b"), relations) for name in ("cot", "bin", "axe")]
    table = believing(probe_of(*things), p).tables["accuracy_by_thing"]
    assert table["stage"].to_list() == [*STAGES] * 3
    ranked = table.filter(stage="before").select("thing", "rank", "band", "accuracy").rows()
    assert ranked == [
        ("cot", 1, "best 1", 4 / 6),
        ("axe", 2, "middle", 2 / 6),
        ("bin", 3, "worst 1", 2 / 6),
    ]


def test_annotators_agree_on_what_both_drew() -> None:
    """ParRoT++ holds their common statements, judged once for each drawing."""
    first = Drawing("lamp", "ann", ("a", "b", "c"), (("a", "above", "b"), ("b", "inside", "c")))
    second = Drawing("lamp", "ben", ("a", "b", "c"), (("a", "above", "b"), ("c", "inside", "b")))
    findings = believing(probe_of(first, second), lambda *_: 0.9)
    rows = {
        (row["set"], row["gold"]): (row["n"], row["accuracy"])
        for row in findings.tables["accuracy"].filter(stage="before").iter_rows(named=True)
    }
    assert rows["all", "all"] == (16, 0.5)
    assert rows["agreed by all annotators", "all"] == (8, 0.5)
    assert rows["agreed by all annotators", "true"] == (4, 1.0)


def test_beliefs_that_are_no_probabilities_are_refused() -> None:
    """Nothing is measured of them."""
    with pytest.raises(DataError, match=r"1\.5"):
        believing(probe_of(LAMP), lambda *_: 1.5)


def test_the_same_beliefs_give_the_same_findings_in_any_order() -> None:
    """Intervals included: the questions may be answered in any order."""
    probe = probe_of(LAMP, Drawing("lantern", "ben", LAMP.parts, LAMP.relations[:2]))
    random = np.random.default_rng(3)
    answers = probe.questions.with_columns(p_true=pl.Series(random.random(336)))
    first = probe.measure_beliefs(answers)
    second = probe.measure_beliefs(answers.sample(fraction=1, shuffle=True, seed=5))
    for name, table in first.tables.items():
        assert second.tables[name].equals(table), name


# From here on: the real drawings, recomputed without Polars.


def drawn() -> pl.DataFrame:
    """The real statements with their labels, and random beliefs and stages."""
    relations = Ontology.load("parts").relations
    drawings = read_drawings(PARROT, relations)
    gold = enrich(drawing_statements(drawings), Ontology.load("parts"))
    statements = all_statements(drawings, relations)
    random = np.random.default_rng(1)
    p = random.random(statements.height)
    missing = random.random(statements.height) < 0.1
    stages = {stage: random.random(statements.height) < 0.6 for stage in STAGES}
    return statements.with_columns(
        pl.Series("p_true", np.where(missing, np.nan, p), nan_to_null=True),
        *(pl.Series(stage, values) for stage, values in stages.items()),
    ).join(gold, on=statements.columns, how="left", maintain_order="left")


def agreed_by_hand(rows: Iterable[Row]) -> set[tuple[str, ...]]:
    """The statements that each of three drawings labels, and alike."""
    labels: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for row in rows:
        statement = (row["thing"], row["subject"], row["relation"], row["object"])
        labels[statement].append(row["label"])
    return {key for key, found in labels.items() if len(found) == 3 and len(set(found)) == 1}


def sets_by_hand(rows: list[Row]) -> dict[str, list[Row]]:
    """The gold rows of each set."""
    common = agreed_by_hand(rows)
    return {
        "all": rows,
        "agreed by all annotators": [
            row
            for row in rows
            if (row["thing"], row["subject"], row["relation"], row["object"]) in common
        ],
        "without symmetric relations": [row for row in rows if row["relation"] not in SYMMETRIC],
    }


def right(row: Row, stage: str) -> bool:
    """Whether a stage judges a gold statement as its label says."""
    return bool(row[stage] is row["label"])


def by_hand(rows: Iterable[Row], stage: str) -> tuple[int, int, float | None]:
    """Those with a belief, those without, and the share of the former that is right."""
    verdicts = [right(row, stage) for row in rows if row["p_true"] is not None]
    missing = sum(row["p_true"] is None for row in rows)
    return len(verdicts), missing, sum(verdicts) / len(verdicts) if verdicts else None


def interval_by_hand(rows: Iterable[Row], figure: Callable[[Row], int]) -> tuple[float, float]:
    """The interval of a share, one resample after the other."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        if row["p_true"] is not None:
            sums[row["thing"]][0] += figure(row)
            sums[row["thing"]][1] += 1
    of = [sums[thing] for thing in sorted(sums)]
    generator = np.random.default_rng(0)
    shares = []
    for _ in range(2000):
        chosen = [of[k] for k in generator.integers(0, len(of), size=len(of))]
        shares.append(sum(a for a, _ in chosen) / sum(b for _, b in chosen))
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(low), float(high)


@pytest.fixture(scope="module")
def real() -> tuple[Mapping[str, pl.DataFrame], list[Row]]:
    """The tables of accuracy of random stages, and the gold rows to recompute them from."""
    beliefs = drawn()
    gold = beliefs.filter(pl.col("label").is_not_null())
    return accuracy.tables(beliefs, SYMMETRIC), gold.to_dicts()


Real = tuple["Mapping[str, pl.DataFrame]", "list[Row]"]


@needs_parrot
def test_accuracy_is_what_plain_counting_gives(real: Real) -> None:
    """Of both sets, of statements labelled true and false, in every stage."""
    tables, rows = real
    sets = sets_by_hand(rows)
    for found in tables["accuracy"].iter_rows(named=True):
        chosen = sets[found["set"]]
        if found["gold"] != "all":
            chosen = [row for row in chosen if row["label"] is (found["gold"] == "true")]
        assert (found["n"], found["missing"], found["accuracy"]) == by_hand(chosen, found["stage"])
    assert tables["accuracy"].height == 36


@needs_parrot
def test_baselines_are_what_plain_counting_gives(real: Real) -> None:
    """Of judges who always say true or false, or what most labels of the relation are."""
    tables, rows = real
    for name, every in sets_by_hand(rows).items():
        labels: dict[str, list[bool]] = defaultdict(list)
        for row in every:
            if row["p_true"] is not None:
                labels[row["relation"]].append(row["label"])
        n = sum(map(len, labels.values()))
        true = sum(map(sum, labels.values()))
        majority = sum(max(sum(of), len(of) - sum(of)) for of in labels.values())
        found = {
            row["baseline"]: (row["n"], row["accuracy"])
            for row in tables["accuracy_baselines"].filter(set=name).iter_rows(named=True)
        }
        assert found == {
            "always true": (n, true / n),
            "always false": (n, (n - true) / n),
            "majority by relation": (n, majority / n),
        }


@needs_parrot
def test_the_gain_is_split_into_a_shift_and_consistency(real: Real) -> None:
    """The shift makes as many beliefs true as the stage has, the highest ones."""
    tables, rows = real
    beliefs = drawn()
    for stage in STAGES[1:]:
        for name, every in sets_by_hand(rows).items():
            known = beliefs.drop_nulls("p_true")
            if name == "without symmetric relations":
                known = known.filter(~pl.col("relation").is_in(SYMMETRIC))
            most = sorted(known["p_true"], reverse=True)[: int(known[stage].sum())]
            mine = [row for row in every if row["p_true"] is not None]
            shift = sum((row["p_true"] >= most[-1]) is row["label"] for row in mine)
            before, after = (sum(right(row, of) for row in mine) for of in ("before", stage))
            gains = tables["accuracy_gain"].filter(set=name, objective=stage)
            assert dict(zip(gains["part"], gains["gain"], strict=True)) == pytest.approx(
                {
                    "whole": (after - before) / len(mine),
                    "shift of the threshold": (shift - before) / len(mine),
                    "consistency": (after - shift) / len(mine),
                }
            )


@needs_parrot
def test_annotators_agree_and_contradict_one_another_as_the_paper_counts() -> None:
    """Appendix C: 80 of 11,720 labels are contradicted, 508 statements are agreed on."""
    table = PartsProbe.read(PARROT).gold.pipe(agreement)
    assert table.height == 100
    assert table.drop("thing").sum().row(0) == (300, 11_720, 8_922, 508, 80)
    contradicted = table.filter(pl.col("contradicted") > 0)["thing"].to_list()
    assert "guitar" in contradicted  # the paper's own example
    assert len(contradicted) == 9


@needs_parrot
def test_intervals_are_what_plain_resampling_gives(real: Real) -> None:
    """Of a share, and of a gain, whose two sides share their resamples."""
    tables, rows = real
    row = only(tables["accuracy"], set="all", gold="all", stage="paper")
    made = interval_by_hand(rows, lambda row: right(row, "paper"))
    assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx(made, abs=1e-12)
    gain = only(tables["accuracy_gain"], set="all", objective="margin", part="whole")
    made = interval_by_hand(rows, lambda row: right(row, "margin") - right(row, "before"))
    assert (gain["gain_low"], gain["gain_high"]) == pytest.approx(made, abs=1e-12)
    assert gain["gain_low"] < gain["gain"] < gain["gain_high"]


@needs_parrot
@pytest.mark.parametrize(("table", "keys"), [("relation", 14), ("thing", 100), ("drawing", 300)])
def test_accuracy_by_kind_is_what_plain_counting_gives(real: Real, table: str, keys: int) -> None:
    """By relation, by thing and by drawing, in every stage."""
    tables, rows = real
    columns = ("thing", "annotator") if table == "drawing" else (table,)
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    found = tables[f"accuracy_by_{table}"]
    assert len(groups) == keys
    assert found.height == (keys if table == "drawing" else 4 * keys)
    for row in found.iter_rows(named=True):
        mine = groups[tuple(row[column] for column in columns)]
        if table == "drawing":
            for stage in STAGES:
                assert (row["n"], row["missing"], row[stage]) == by_hand(mine, stage)
        else:
            told = (row["n"], row["missing"], row["accuracy"])
            assert told == by_hand(mine, row["stage"])


@needs_parrot
def test_things_are_in_the_order_of_their_accuracy_and_banded(real: Real) -> None:
    """20 best, 60 in the middle and 20 worst."""
    table = real[0]["accuracy_by_thing"].filter(stage="before")
    assert table["rank"].to_list() == list(range(1, 101))
    assert table["accuracy"].to_list() == sorted(table["accuracy"], reverse=True)
    assert table["band"].to_list() == ["best 20"] * 20 + ["middle"] * 60 + ["worst 20"] * 20


@needs_parrot
def test_always_true_is_the_share_of_true_labels(real: Real) -> None:
    """Among the statements with a belief, of each relation and of each thing."""
    tables, rows = real
    known = [row for row in rows if row["p_true"] is not None]
    for table, key in (("accuracy_by_relation", "relation"), ("accuracy_by_thing", "thing")):
        for found in tables[table].iter_rows(named=True):
            labels = [row["label"] for row in known if row[key] == found[key]]
            assert found["n"] == len(labels)
            assert found["always_true"] == pytest.approx(sum(labels) / len(labels))


@needs_parrot
def test_accuracy_at_s_is_what_plain_counting_gives(real: Real) -> None:
    """In whole numbers: right times 100 against s times asked."""
    tables, rows = real
    drawings: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["p_true"] is not None:
            drawings[row["thing"], row["annotator"]].append(row)
    for found in tables["accuracy_at"].iter_rows(named=True):
        reached = [
            100 * sum(right(row, found["stage"]) for row in mine) >= found["s"] * len(mine)
            for mine in drawings.values()
        ]
        assert (found["n"], found["share"]) == (len(reached), sum(reached) / len(reached))
        always = [
            100 * sum(row["label"] for row in mine) >= found["s"] * len(mine)
            for mine in drawings.values()
        ]
        assert found["always_true"] == pytest.approx(sum(always) / len(always))
    assert tables["accuracy_at"]["s"].unique().sort().to_list() == [50, 60, 70, 80, 90, 100]


@needs_parrot
def test_agreement_is_1524_judgements_of_213_drawings_of_71_things() -> None:
    """508 statements, against each of three drawings (appendix C)."""
    verdicts = accuracy.judge(drawn())
    common = verdicts.filter("agreed")
    assert (verdicts.height, common.height) == (11_720, 1_524)
    assert common["thing"].n_unique() == 71
    assert common.select("thing", "annotator").n_unique() == 213


@needs_parrot
@pytest.mark.slow
def test_a_model_that_says_true_to_everything_has_the_accuracy_of_the_majority_class() -> None:
    """58.82 and 60.24 per cent (Tables 4 and 6), and every asymmetric pair violated."""
    probe = PartsProbe.read(PARROT)
    findings = believing(probe, lambda *_: 0.9)
    rows = findings.tables["accuracy"].filter(gold="all", stage="before")
    assert [f"{share:.2%}" for share in rows["accuracy"]] == ["58.82%", "60.24%", "50.00%"]
    assert rows["n"].to_list() == [11_720, 1_524, 9_652]
    always = findings.tables["accuracy_baselines"].filter(baseline="always true")
    assert always["accuracy"].to_list() == rows["accuracy"].to_list()
    pairs = sum(len(d.parts) * (len(d.parts) - 1) // 2 for d in probe.drawings)
    assert counts(findings)["asymmetric"] == (12 * pairs, 12 * pairs)
    assert counts(findings)["inverse"] == (0, 12 * pairs)
    assert findings.summary["drawings_with_violation"] == 300
    for objective in STAGES[1:]:
        assert counts(findings, objective)["micro"][0] == 0
