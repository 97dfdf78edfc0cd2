from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import tacit
from tacit.findings.findings import Findings
from tacit.probes.parts.block import block, verdict
from tacit.probes.parts.options import PartsOptions
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.repair import SHUFFLES, baselines, repaired_shuffled, shuffled
from tacit.sources.drawings import Drawing, demo_drawings
from tests.coherence.enumerated_by_hand import all_assignments, linked
from tests.probes.parts.measured import PARTS, believing, counted, knowing, only, probe_of
from tests.statistics.samples import resampled

THINGS = tacit.demo_data("drawings")
STATEMENT = ["thing", "annotator", "subject", "relation", "object"]
MAIN = "without symmetric relations"
# The smallest, and as many as give an interval.
SMALL = ("egg", "table", "knife", "candle", "bucket")
PROBE = PartsProbe.read(THINGS, SMALL)


def random_beliefs(probe: PartsProbe, seed: int = 0) -> list[float | None]:
    """Beliefs without knowledge, with ties; one in fifty is missing."""
    generator = np.random.default_rng(seed)
    drawn = generator.random(probe.questions.height).round(2)
    return [None if generator.random() < 0.02 else float(p) for p in drawn]


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Of beliefs without knowledge."""
    return believing(PROBE, random_beliefs(PROBE))


@pytest.fixture(scope="module")
def right() -> Findings:
    """Of beliefs that are right about everything."""
    return believing(PROBE, knowing(PROBE))


@pytest.mark.parametrize("of", ["all", MAIN])
def test_shares_auroc_and_balanced_accuracy_are_scikit_learns(of: str, findings: Findings) -> None:
    """With the percentiles of 2,000 weighted resamples of the things."""
    found = only(findings.tables["discrimination"], set=of, stage="before")
    left_out = list(PARTS.symmetric) if of == MAIN else []
    kept = ~pl.col("relation").is_in(left_out)
    asked = findings.questions.filter(kept).drop_nulls("p_true")
    rows = findings.tables["beliefs"].filter(kept).drop_nulls(["label", "p_true"])
    label, p = rows["label"].to_numpy(), rows["p_true"].to_numpy()
    assert (found["statements"], found["n"]) == (asked.height, rows.height)
    assert found["share_true"] == (asked["p_true"] > 0.5).mean()
    assert found["true_if_true"] == pytest.approx((p[label] > 0.5).mean())
    assert found["true_if_false"] == pytest.approx((p[~label] > 0.5).mean())
    assert found["auroc"] == pytest.approx(roc_auc_score(label, p))
    assert found["balanced"] == pytest.approx(balanced_accuracy_score(label, p > 0.5))
    if of != MAIN:
        return
    for name, figure in (
        ("auroc", lambda times: roc_auc_score(label, p, sample_weight=times)),
        ("balanced", lambda times: balanced_accuracy_score(label, p > 0.5, sample_weight=times)),
    ):
        ends = resampled(rows["thing"], figure)
        assert [found[f"{name}_low"], found[f"{name}_high"]] == pytest.approx(ends, abs=1e-9)


def test_calibrated_beliefs_are_relative_to_the_models_own_mean() -> None:
    """Ranks stay; a statement is true where its log-odds exceed their mean."""
    p = [None if one is None else 0.51 + one / 2.1 for one in random_beliefs(PROBE)]
    findings = believing(replace(PROBE, calibrate=True), p)
    odds = [np.log(one / (1 - one)) for one in p if one is not None]
    true = pl.col("p_true") > 1 / (1 + np.exp(-np.mean(odds)))
    rows = findings.tables["beliefs"].drop_nulls(["label", "p_true"])
    for of in ("all", MAIN):
        before, after = (
            only(findings.tables["discrimination"], set=of, stage=stage)
            for stage in ("before", "calibrated")
        )
        assert before["auroc"] == after["auroc"]
        assert (before["share_true"], before["balanced"]) == (1.0, 0.5)
        some = rows.filter(~pl.col("relation").is_in(PARTS.symmetric)) if of == MAIN else rows
        judged = some.select(true).to_series()
        assert after["accuracy"] == pytest.approx((judged == some["label"]).mean())
        assert after["balanced"] == pytest.approx(balanced_accuracy_score(some["label"], judged))
    raw = only(findings.tables["violation"], constraint="micro", stage="before")
    asked = findings.tables["beliefs"].select(*STATEMENT, "p_true")
    assert raw["rate"] == pytest.approx(tacit.check(asked).micro)
    thresholded = findings.tables["beliefs"].select(*STATEMENT, p_true=true.cast(float))
    counted = only(findings.tables["discrimination"], set="all", stage="calibrated")
    assert counted["violation"] == tacit.check(thresholded).micro


@pytest.mark.parametrize("p", [0.7, 1.0, 0.1 + 0.2])
def test_equal_beliefs_are_not_above_their_mean(p: float) -> None:
    few = replace(PartsProbe.read(THINGS, SMALL[:1]), calibrate=True)
    found = believing(few, [p] * few.questions.height).tables["discrimination"]
    assert only(found, set=MAIN, stage="calibrated")["share_true"] == 0.0


def right_by_hand(rows: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """The fewest and the most right answers of all optimal repairs of one drawing, by set."""
    p = {row[2:5]: round(100 * (row[5] or 0.0)) for row in rows.iter_rows()}
    label = {row[2:5]: row[6] for row in rows.iter_rows() if None not in row[5:]}
    items = tuple(sorted({x for x, _, _ in p}))
    found = {"all": (0, 0), MAIN: (0, 0)}
    for relations in linked(PARTS):
        statements, worlds = all_assignments("parts", tuple(relations), items)
        values = worlds @ np.array([p[one] for one in statements])
        known = [at for at, one in enumerate(statements) if one in label]
        best = worlds[values == values.max()][:, known]
        right = (best == [label[statements[at]] for at in known]).sum(axis=1)
        for of in found if not {*PARTS.symmetric} & {*relations} else ("all",):
            found[of] = (found[of][0] + int(right.min()), found[of][1] + int(right.max()))
    return found


def test_repaired_shuffled_beliefs_are_what_brute_force_gives() -> None:
    """Over 50 shuffles of two small drawings; where optimal repairs tie, within their range."""
    lamp = (("a", "above", "b"), ("b", "above", "c"), ("a", "next to", "b"))
    cup = (("d", "part of", "e"), ("f", "inside", "e"), ("d", "requires", "f"))
    drawings = (Drawing("lamp", "1", tuple("abc"), lamp), Drawing("cup", "1", tuple("def"), cup))
    probe = probe_of(*drawings)
    drawn = np.random.default_rng(5).integers(1, 101, probe.questions.height) / 100
    beliefs = [None if k % 40 == 7 else float(p) for k, p in enumerate(drawn)]
    judged = believing(probe, beliefs).tables["beliefs"]
    found = repaired_shuffled(judged, PARTS, shuffles=50, seed=3)
    generator = np.random.default_rng(3)
    frame = judged.select(*STATEMENT, "p_true", "label").sort(STATEMENT)
    ends: dict[str, list[tuple[int, int]]] = {"all": [], MAIN: []}
    before: dict[str, list[float]] = {"all": [], MAIN: []}
    for _ in range(50):
        each = shuffled(frame, generator)
        tallies = [right_by_hand(rows) for _, rows in each.group_by("thing")]
        for of, listed in ends.items():
            listed.append((sum(one[of][0] for one in tallies), sum(one[of][1] for one in tallies)))
            left_out = list(PARTS.symmetric) if of == MAIN else []
            some = each.drop_nulls(["label", "p_true"]).filter(~pl.col("relation").is_in(left_out))
            right = (some["p_true"] > 0.5) == some["label"]
            before[of].append(int(right.sum()) / some.height)
    for of, listed in ends.items():
        row = only(found, set=of)
        assert row["before"] == pytest.approx(np.mean(before[of]))
        assert row["gain"] == pytest.approx(row["after"] - row["before"])
        least, most = np.transpose(listed) / row["n"]
        assert np.mean(most - least) < 0.02  # ties are rare
        for name, how in (("after", np.mean), ("after_least", np.min), ("after_most", np.max)):
            assert how(least) - 1e-12 <= row[name] <= how(most) + 1e-12
        assert row["after_least"] < row["after"] < row["after_most"]


def test_shuffled_beliefs_stay_in_their_drawing() -> None:
    """Each drawing keeps its beliefs and its gaps; every order is equally likely."""
    p = [0.1, 0.2, None, 0.3, 0.4, 0.5, None]
    thing = ["a", "b", "a", "a", "b", "a", "b"]
    frame = pl.DataFrame({"thing": thing, "annotator": "1", "part": range(7), "p_true": p})
    generator = np.random.default_rng(0)
    drawn = [shuffled(frame, generator) for _ in range(1200)]
    for each in drawn[:100]:
        assert each.drop("p_true").equals(frame.drop("p_true"))
        assert each["p_true"].is_null().equals(frame["p_true"].is_null())
        assert each.filter(thing="b")["p_true"].drop_nulls().sort().to_list() == [0.2, 0.4]
    orders = Counter(tuple(each.filter(thing="a")["p_true"].drop_nulls()) for each in drawn)
    assert set(orders) == set(permutations([0.1, 0.3, 0.5]))
    assert all(135 < count < 265 for count in orders.values())  # 200 expected; 5 errors


def verdict_of(probe: PartsProbe, p: Iterable[float | None]) -> str:
    return verdict(believing(probe, p)).name


def test_verdicts(findings: Findings, right: Findings) -> None:
    """One answer to everything; no knowledge; all of it, though most statements are false."""
    n = PROBE.questions.height
    assert verdict_of(PROBE, [0.9] * n) == "constant"
    assert verdict(findings).name == findings.summary["verdict"]["verdict"] == "no signal"
    assert verdict(right).name == "clear"
    by_relation = [0.1 + 0.8 * (row[2] in PARTS.symmetric) for row in PROBE.questions.iter_rows()]
    assert verdict_of(PROBE, by_relation) == "weak"  # these have no violation, and nothing else
    few = PartsProbe.read(THINGS, SMALL[:4])
    found = believing(few, random_beliefs(few))
    assert verdict(found).name == "too few data"
    assert set(found.tables["discrimination"]["auroc_low"]) == {None}


def test_the_example_is_the_surest_pair_that_excludes_each_other(right: Findings) -> None:
    """Of relations that hold in one direction only; beliefs that are right have none."""
    assert block(right).example is None
    rows = PROBE.questions.select(STATEMENT[0], *STATEMENT[2:]).rows()
    n = next(at for at, row in enumerate(rows) if row[2] == "above")
    thing, one, _, other = rows[n]
    p = dict(zip(rows, knowing(PROBE), strict=True)) | {rows[n]: 0.875}
    p[thing, other, "above", one] = 0.75
    example = block(believing(PROBE, p.values())).example
    assert example is not None
    assert all(text in example for text in (thing, "0.875", "0.750", f"“{other} above {one}”"))


@pytest.mark.parametrize(("reached", "expected"), [(0.9, "clear"), (1.0, "weak")])
def test_repaired_shuffled_beliefs_must_be_exceeded(
    reached: float, expected: str, right: Findings
) -> None:
    """Beliefs that are right about everything reach 1."""
    shuffled = right.tables["repaired_shuffled"].with_columns(after=pl.lit(reached))
    again = replace(right, tables={**right.tables, "repaired_shuffled": shuffled})
    assert verdict(again).name == expected


def test_without_labels_the_violations_decide() -> None:
    """Nobody drew the things; beliefs that follow an order violate less than shuffled ones."""
    bare = replace(PROBE, drawings=tuple(replace(one, relations=()) for one in PROBE.drawings))
    assert verdict_of(bare, random_beliefs(bare)) == "no signal"
    ordered = []
    for _, subject, name, obj in bare.questions.iter_rows():
        inverse = PARTS.relations[name].inverse
        ordered.append(1.0 if inverse is None else float((subject < obj) == (name < inverse)))
    assert verdict_of(bare, ordered) == "clear"


def test_a_limit_counts_things_and_fast_takes_one_drawing_of_each() -> None:
    """Fast asks only about the labelled statements; they decide most constraints."""
    drawings = demo_drawings()
    several = PartsProbe.of(PartsOptions(drawings, limit=2))
    things = [drawing.thing for drawing in several.drawings]
    assert len(set(things)) == 2 < len(things)
    fast = PartsProbe.of(PartsOptions(drawings, limit=2, fast=True))
    assert [one.thing for one in fast.drawings] == list(dict.fromkeys(things))
    assert fast.drawings[0] == several.drawings[0]
    assert fast.statements.sort(STATEMENT).equals(fast.gold.drop("label").sort(STATEMENT))
    found = believing(fast, knowing(fast, 0.1, 0.9))
    assert found.summary["fast"]
    assert "fast" not in believing(several, knowing(several, 0.1, 0.9)).summary
    micro = only(found.tables["violation"], constraint="micro", stage="before")
    assert (micro["violated"], micro["undecided"]) == (0, 0)
    assert micro["applicable"] > fast.gold["label"].sum()


TYPES = ("symmetric", "asymmetric", "inverse", "transitive")


def beliefs(p: list[float | None], sizes: tuple[int, ...] = (3, 4)) -> pl.DataFrame:
    """All statements about drawings of these sizes, with the values of p in turn."""
    rows = [
        (f"thing {n}", "ann", x, r, y)
        for n, size in enumerate(sizes)
        for x, y in permutations("abcde"[:size], 2)
        for r in PARTS.relations
    ]
    values = [p[k % len(p)] for k in range(len(rows))]
    table = pl.DataFrame(
        rows, ["thing", "annotator", "subject", "relation", "object"], orient="row"
    )
    return table.with_columns(p_true=pl.Series(values, dtype=pl.Float64))


def rates_by_hand(table: pl.DataFrame) -> dict[str, float]:
    """Rates of each type, counted drawing by drawing and one constraint at a time."""
    counts = dict.fromkeys(TYPES, (0, 0))
    for _, rows in table.filter(pl.col("p_true") > 0.5).group_by("thing"):
        of = counted(PARTS, set(rows.select("subject", "relation", "object").iter_rows()))
        counts = {name: (n + of[name][0], m + of[name][1]) for name, (n, m) in counts.items()}
    rates = {name: violated / applicable for name, (violated, applicable) in counts.items()}
    violated, applicable = (sum(column) for column in zip(*counts.values(), strict=True))
    return {**rates, "macro": fmean(rates.values()), "micro": violated / applicable}


def test_shuffled_rates_are_the_mean_of_what_plain_counting_gives() -> None:
    """Over the same permutations."""
    table = beliefs([0.9, 0.2, 0.7, 0.4, 0.1])
    found = {name: of["shuffled"] for name, of in baselines(table, PARTS).items()}
    generator = np.random.default_rng(0)
    drawn = [rates_by_hand(shuffled(table.sort(STATEMENT), generator)) for _ in range(SHUFFLES)]
    for name, rate in found.items():
        counted = [each[name] for each in drawn]
        assert rate == pytest.approx(fmean(counted))
        assert len(set(counted)) > 1  # the permutations differ


def test_always_true_violates_what_plain_counting_gives() -> None:
    """Every asymmetric constraint and nothing else, of what is decided."""

    def rates(baseline: str, *p: float | None) -> dict[str, float | None]:
        return {name: of[baseline] for name, of in baselines(beliefs([*p]), PARTS).items()}

    some = rates("always_true", 0.9, None, 0.1, 0.8, 0.6)
    assert [some[name] for name in (*TYPES, "macro")] == [0.0, 1.0, 0.0, 0.0, 1 / 4]
    assert rates("always_true", 0.3) == pytest.approx(rates_by_hand(beliefs([1.0])))
    assert {*rates("shuffled", 0.1).values()} == {*rates("always_true", None).values()} == {None}
