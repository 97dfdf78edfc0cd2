"""The gate: its decisions, the names of measures, and what differs between two runs."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import tacit
from tacit.errors import RequestError
from tacit.findings.measure import mean
from tacit.probes.parts.probe import PartsProbe
from tacit.runs.gate.decision import GateDecision, decide
from tacit.runs.gate.flips import PairedAnswers, violations_of
from tacit.runs.gate.pair import Pair
from tacit.runs.gate.policy import Limit, Policy, find
from tacit.runs.reading import read_run
from tacit.runs.run import Run
from tacit.sources.drawings import Drawing
from tacit.statistics import Bootstrap, Change
from tacit.statistics.tests import mcnemar
from tests.probes.parts.measured import believing, probe_of
from tests.report.conftest import assumptions_run, consistency_run, parts_run

ABOUT: dict[str, Any] = {"measure": "parts/m", "model": "new", "n": 400, "flipped": 0.02}


def decision(value: float, low: float, high: float, **limit: float) -> GateDecision:
    """A decision whose interval is in percentage points."""
    change = Change(value / 100, low / 100, high / 100)
    return GateDecision(
        limit=Limit(**limit),
        values=(0.5, 0.5 + value / 100),
        change=change,
        confidence=0.95,
        **ABOUT,
    )


@pytest.mark.parametrize(
    ("ends", "limit", "verdict"),
    [
        ((0.5, -0.5, 1.0), {"rises_by": 1.0}, "passed"),
        ((0.5, -0.5, 1.5), {"rises_by": 1.0}, "inconclusive"),
        ((2.0, 0.5, 3.5), {"rises_by": 1.0}, "inconclusive"),
        ((2.0, 1.1, 3.5), {"rises_by": 1.0}, "failed"),
        ((-3.0, -5.0, -1.1), {"rises_by": 1.0}, "passed"),
        ((-3.0, -5.0, -1.1), {"falls_by": 1.0}, "failed"),
        ((-3.0, -5.0, -1.1), {"falls_by": 5.0}, "passed"),
        ((0.0, -2.0, 0.5), {"rises_by": 1.0, "falls_by": 1.0}, "inconclusive"),
        ((0.0, -0.9, 0.9), {"rises_by": 1.0, "falls_by": 1.0}, "passed"),
        ((0.9, 0.6, 1.2), {"above": 0.5}, "failed"),
        ((0.0, 0.0, 0.0), {"rises_by": 0.0}, "passed"),
    ],
)
def test_an_interval_within_beyond_or_across_the_limit(
    ends: tuple[float, float, float], limit: dict[str, float], verdict: str
) -> None:
    assert decision(*ends, **limit).verdict == verdict


@pytest.mark.parametrize("ends", [(0.5, -0.5, 1.5), (2.0, 0.5, 3.5), (-2.0, -2.6, 1.5)])
def test_the_questions_that_would_decide(ends: tuple[float, float, float]) -> None:
    """With as many, the end of the interval is at the limit; with fewer, across it."""
    found = decision(*ends, rises_by=1.0)
    assert found.needed is not None
    value, low, high = ends
    narrower = (found.needed / 400) ** -0.5
    end = value + ((high if value < 1 else low) - value) * narrower
    assert end == pytest.approx(1.0, abs=0.01)
    assert decision(1.0, 0.5, 1.5, rises_by=1.0).needed is None


def test_the_power_that_is_stated() -> None:
    """Of a normal estimate, whose variance grows with the answers that must differ."""
    found = decision(0.5, -0.5, 1.0, rises_by=1.0)
    error = 0.01 / NormalDist().inv_cdf(0.95)
    assert found.detectable is not None
    for change in (0.005, 0.02, found.detectable):
        variance = error**2 + (change - 0.005) * max(1 / 400, error**2 / 0.02)
        beyond = NormalDist(change, variance**0.5)
        power = 1 - beyond.cdf(0.01 + variance**0.5 * NormalDist().inv_cdf(0.95))
        assert found.power(change) == pytest.approx(power, abs=1e-9)
    assert found.power(found.detectable) == pytest.approx(0.8, abs=1e-6)
    either = decision(0.5, -0.5, 1.0, rises_by=1.0, falls_by=2.0).detectable
    assert either is not None
    assert either > found.detectable
    assert decision(0.0, 0.0, 0.0, above=1.0).detectable is None


@pytest.mark.parametrize(
    ("noise", "planted", "limit"),
    [(0.0, 0.01, {"above": 0.5}), (0.0, 0.0075, {"above": 0.25}), (0.04, 0.02, {"rises_by": 0.5})],
)
def test_changes_are_found_as_often_as_is_stated(
    noise: float, planted: float, limit: dict[str, float]
) -> None:
    """In 300 comparisons of 50 things; without planted changes, at most 5 % fail."""
    generator, clusters = np.random.default_rng(2), np.arange(2000) % 50

    def compared(planted: float) -> GateDecision:
        drawn = generator.random((2, 2000))
        moved = (drawn[0] < noise) * generator.choice([-1, 1], 2000) + (drawn[1] < planted)
        about = ABOUT | {"n": 2000, "flipped": np.count_nonzero(moved) / 2000}
        measure = mean("m", clusters, np.stack([np.zeros(2000), moved]))
        return decide(measure, Limit(**limit), about=about, candidates=1)

    found, same = ([compared(size) for _ in range(300)] for size in (planted, 0.0))
    failed = np.array([[each.verdict == "failed" for each in of] for of in (found, same)])
    stated = np.mean([each.power(planted) or 0.0 for each in same])
    assert 0.3 < stated < 0.95
    assert failed[0].mean() == pytest.approx(stated, abs=3 * (0.25 / 300) ** 0.5)
    assert failed[1].mean() <= 0.05


@pytest.mark.parametrize(("candidates", "tail"), [(1, 0.05), (4, 0.0125)])
def test_bounds_are_corrected_for_the_number_of_candidates(candidates: int, tail: float) -> None:
    """Each is a quantile of the resampled differences."""
    generator = np.random.default_rng(3)
    values = generator.random((2, 300)).round()
    measure, limit = mean("m", np.arange(300) % 30, values), Limit(rises_by=1.0)
    found = decide(measure, limit, about=ABOUT, candidates=candidates)
    drawn = np.concatenate([*Bootstrap(max(2000, round(100 / tail))).draws(30)])
    each = [drawn @ np.bincount(np.arange(300) % 30, of) / 300 for of in values]
    low, high = np.quantile(each[1] - each[0], [tail, 1 - tail])
    assert found.confidence == pytest.approx(1 - tail)
    assert found.change.low == pytest.approx(low, abs=1e-12)
    assert found.change.high == pytest.approx(high, abs=1e-12)


def test_unchanged_answers_leave_open_what_their_number_does() -> None:
    """The exact bound of a share of which none was seen; with too few clusters there is none."""
    values = np.ones((2, 400))
    found = decide(mean("m", np.arange(400), values), Limit(above=0.5), about=ABOUT, candidates=1)
    exact = binomtest(0, 400).proportion_ci(0.9).high
    assert found.change.high == pytest.approx(exact, abs=1e-12)
    assert (found.verdict, found.needed is not None) == ("inconclusive", True)
    few = decide(mean("m", [1] * 400, values), Limit(above=0.5), about=ABOUT, candidates=1)
    assert (few.verdict, few.change.why) == ("inconclusive", "fewer than 5 clusters")
    apart = replace(mean("m", np.arange(400), values), apart="other candidates")
    assert decide(apart, Limit(rises_by=9.0), about=ABOUT, candidates=1).verdict == "inconclusive"


def test_a_paired_decision_where_an_unpaired_one_finds_nothing() -> None:
    """The p-values .080 and .008 of EleutherAI/lm-evaluation-harness#3868, for 220 questions.

    Of the 18 tables that have both, this one has 160 and 143 correct answers.
    """
    right = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], [133, 27, 10, 50], axis=1).astype(float)
    shares = right.mean(axis=1)
    errors = right.std(axis=1, ddof=1) / 220**0.5
    z = (shares[0] - shares[1]) / np.hypot(*errors)
    assert round(2 * NormalDist().cdf(-z), 3) == 0.080
    assert round(mcnemar(10, 27), 3) == 0.008
    measure, limit = mean("m", np.arange(220), right), Limit(falls_by=0.0, confidence=0.975)
    about = ABOUT | {"n": 220, "flipped": 37 / 220}
    assert decide(measure, limit, about=about, candidates=1).verdict == "failed"


def of_votes(yes: Sequence[int], votes: Sequence[int]) -> pl.DataFrame:
    side = [2 * a > b for a, b in zip(yes, votes, strict=True)]
    keys = pl.DataFrame({"thing": range(len(side))})
    return keys.with_columns(
        side=pl.Series(side), right=None, yes=pl.Series(yes), votes=pl.Series(votes)
    )


@pytest.mark.parametrize(("yes", "votes"), [((3, 1), (4, 4)), ((2, 3), (5, 3)), ((0, 0), (2, 4))])
def test_votes_flip_by_chance_as_often_as_they_can_be_divided_so(
    yes: tuple[int, int], votes: tuple[int, int]
) -> None:
    """Over all divisions of both runs' votes between them."""
    cast = [True] * sum(yes) + [False] * (sum(votes) - sum(yes))
    divisions = [{*chosen} for chosen in itertools.combinations(range(len(cast)), votes[0])]
    flips = 0
    for chosen in divisions:
        first = sum(cast[at] for at in chosen)
        flips += (2 * first > votes[0]) != (2 * (sum(yes) - first) > votes[1])
    base, new = (of_votes([a], [b]) for a, b in zip(yes, votes, strict=True))
    _, flipped = PairedAnswers.of("statement", base, new).measure().values
    seen = (2 * yes[0] > votes[0]) != (2 * yes[1] > votes[1])
    assert flipped == pytest.approx(seen - flips / len(divisions), abs=1e-12)


def test_flips_that_move_less_than_the_margin_and_missing_answers() -> None:
    """A question that one model alone answered has flipped, whatever the margin."""
    keys = {"thing": ["a", "b", "c", "d"], "side": [True, True, True, True], "right": [True] * 4}
    base = pl.DataFrame({**keys, "log_odds": [0.1, 2.0, 1.0, 1.0]})
    new = base.head(3).with_columns(
        side=pl.Series([False, False, True]), log_odds=pl.Series([-0.1, -2.0, 1.0])
    )
    answers = PairedAnswers.of("statement", base, new)
    assert answers.measure().values == (0, 0.75)
    assert answers.measure(0.5).values == (0, 0.5)
    ways = {"became_true": 0, "became_false": 2, "became_wrong": 0, "became_right": 0}
    assert answers.counts == {"n": 4, "flipped": 3, **ways, "answered_once": 1}
    assert answers.listed["new"].to_list() == ["false", "false", "no answer"]
    with pytest.raises(RequestError, match="a margin of flipped answers requires log-odds"):
        PairedAnswers.of("answer", base.drop("log_odds"), new.drop("log_odds")).measure(1.0)


def test_violations_are_new_or_healed() -> None:
    """Planted ones: a handle that is part of the bowl, and a bowl that is part of the handle."""
    made = probe_of(Drawing("cup", "ann", ("handle", "bowl"), (("handle", "part of", "bowl"),)))
    one = {("handle", "part of"), ("bowl", "has part")}
    both = one | {("bowl", "part of"), ("handle", "has part")}
    first, second = (
        believing(made, [float(row[1:3] in held) for row in made.questions.rows()])
        for held in (one, both)
    )
    for base, new, state in ((first, second, "new"), (second, first, "healed")):
        found = violations_of(PartsProbe, base, new)
        assert found is not None
        assert set(found["state"]) == {state}
        assert "cup: bowl part of handle, and handle part of bowl" in found["text"].to_list()


def sampled(run: Run) -> Run:
    summary = {**run.manifest["summary"], "votes": {"replies": 9}}
    return replace(run, manifest={**run.manifest, "summary": summary})


def test_votes_that_are_not_known_are_inconclusive(runs: dict[str, Run]) -> None:
    """They flip by chance, and so would those that were not sampled."""
    consistency = runs["consistency"]
    answers = consistency.tables["fact_answers"].with_columns(~pl.col("right"))
    other = replace(consistency, tables={**consistency.tables, "fact_answers": answers})
    for base, new, why in (
        (runs["parts"], sampled(runs["bea"]), "one run has no votes"),
        (sampled(consistency), sampled(other), "consistency counts no votes"),
    ):
        noun = {"parts": "statement", "consistency": "background question"}[base.probe]
        gate = tacit.gate(base, new, policy={f"flipped {noun}s": {"above": 0.5}})
        assert (gate.verdict, gate.exit_code) == ("inconclusive", 4)
        assert f"replies flip by chance, and {why}" in gate.lines[1]
    mixed = PairedAnswers.of(
        "statement", of_votes([3], [4]).drop("yes", "votes"), of_votes([1], [4])
    )
    assert mixed.measure().values == (0, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("gate")
    made = [
        parts_run(folder / "parts"),
        parts_run(folder / "bea", "bea"),
        consistency_run(folder / "consistency"),
        assumptions_run(folder / "assumptions"),
    ]
    return {path.name: read_run(path) for path in made}


@pytest.mark.parametrize("name", ["parts", "consistency", "assumptions"])
def test_measures_have_the_names_of_equal_metrics(runs: dict[str, Run], name: str) -> None:
    """A run against itself passes, in all measures of its probe."""
    run = runs[name]
    pair = Pair(run, run)
    shared = [(full, label) for full, names in pair.names.items() for label in names]
    known = [(full, label) for full, label in shared if label in run.metrics]
    assert known
    for full, label in known:
        assert pair.measures[full].values[0] == pytest.approx(run.metrics[label], abs=1e-12)
    policy = {
        full: {"above": 0.0} if full in pair.answers else {"rises_by": 0.0, "falls_by": 0.0}
        for full in pair.names
    }
    gate = tacit.gate(run, run, policy=policy)
    assert (gate.verdict, gate.exit_code) == ("passed", 0)
    assert {each.change.interval == [0, 0] for each in gate.decisions} == {True}


def test_rounding_is_no_change(runs: dict[str, Run]) -> None:
    """The same model in other packs passes; beyond rounding, an unchanged rate is undecided."""
    run = runs["parts"]
    beliefs = run.tables["beliefs"]
    for shift, verdict in ((5e-6, "passed"), (1e-3, "inconclusive")):
        nearly = beliefs.with_columns(pl.col("p_true") * (1 - shift))
        other = replace(run, tables={**run.tables, "beliefs": nearly})
        gate = tacit.gate(run, other, policy={"flipped": {"above": 0.0}})
        assert gate.verdict == verdict


def test_flips_and_violations_are_those_of_the_tables(runs: dict[str, Run]) -> None:
    base, new = (runs[name] for name in ("parts", "bea"))
    gate = tacit.gate(base, new, policy={"flipped": {"above": 0.5}})
    keys = ("thing", "subject", "relation", "object")
    believed = [
        {tuple(row[key] for key in keys): row["p_true"] > 0.5 for row in run.questions.to_dicts()}
        for run in (base, new)
    ]
    flipped = [key for key, side in believed[0].items() if believed[1][key] != side]
    content = gate.to_json()
    assert content["answers"][0]["flipped"] == len(flipped) > 0
    assert {row["question"] for row in content["flipped"]} == {
        f"{thing}: {' '.join(words)}" for thing, *words in flipped
    }
    assert content["decisions"][0]["change"] == pytest.approx(100 * len(flipped) / len(believed[0]))
    states = pl.DataFrame(content["violations"])["state"].value_counts().rows()
    change = dict(states)["new"] - dict(states)["healed"]
    violated = [sum(run.tables["violation_by_drawing"]["violated"]) for run in (base, new)]
    assert change == violated[1] - violated[0]
    assert len(gate.lines) <= 10


def test_ten_lines_at_most(runs: dict[str, Run]) -> None:
    """With the confidence of each decision corrected for two candidates."""
    names = list(Pair(runs["parts"], runs["bea"]).measures)
    policy = {name: {"rises_by": 1.0, "confidence": 0.9} for name in names}
    gate = tacit.gate(runs["parts"], runs["bea"], runs["parts"], policy=policy)
    assert len(gate.lines) == 10
    assert "more line" in gate.lines[-1]
    assert {round(each.confidence, 9) for each in gate.decisions} == {0.95}


def test_a_policy_names_one_measure() -> None:
    """By its whole name, another label of it, or the beginning that it alone has."""
    rate = "parts/constraint_violations"
    named = {
        rate: (rate, "parts/violation_rate_micro"),
        **{name: (name,) for name in ("parts/accuracy_all", "parts/accuracy_agreed")},
    }
    for key in ("parts/constraint_violations", "constraint_violations", "violation_rate"):
        assert find(key, named, ["parts/auroc"]) == rate
    assert find("accuracy_agreed", named, ["parts/auroc"]) == "parts/accuracy_agreed"
    for key, problem in (
        ("accuracy", "accuracy may be parts/accuracy_all or parts/accuracy_agreed"),
        ("parts/auroc", "parts/auroc is not compared between runs; the measures are"),
        ("violation_rat", "no measure violation_rat"),
    ):
        with pytest.raises(RequestError, match=problem):
            find(key, named, ["parts/auroc"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; expected a mapping"),
        ("{}", "is empty"),
        ("[says_true]", "must be a mapping"),
        ("says_true: {rises: 1}", "unknown key rises; expected rises_by, falls_by, above, margin"),
        ("says_true: 1", "says_true must be a mapping"),
        ("says_true: {rises_by: -1}", "says_true.rises_by must be at least 0"),
        ("says_true: {rises_by: a lot}", "says_true.rises_by must be a number"),
        ("says_true: {rises_by: 1, confidence: 95}", "confidence must be less than 1"),
        ("says_true: {confidence: 0.9}", "must have either a limit for a measure"),
        ("says_true: {rises_by: 1, above: 1}", "must have either a limit for a measure"),
        ("says_true: {rises_by: 1, margin: 1}", "has a margin, which only flipped answers"),
        ("a: {above: 1}\na: {above: 2}", "the key 'a' occurs twice"),
    ],
)
def test_a_wrong_policy_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError) as raised:
        Policy.of(path)
    assert message in str(raised.value)
    assert "policy.yaml" in str(raised.value)


@pytest.mark.parametrize(
    ("new", "policy", "message"),
    [
        (["bea"], {"says_true": {"above": 1.0}}, "takes rises_by or falls_by, but is given above"),
        (["bea"], {"flipped": {"rises_by": 1.0}}, "takes above, but is given rises by 1"),
        (["bea"], {"mrr": {"rises_by": 1.0}}, "no measure mrr"),
        (["bea"], {"says_true": {"rise": 1.0}}, "the policy: says_true has the unknown key rise"),
        (
            ["bea"],
            {"says_true": {"rises_by": 1}, "parts/says_true": {"rises_by": 1}},
            "second name of parts/says_true",
        ),
        (["consistency"], {"flipped": {"above": 1.0}}, "runs of different probes"),
        ([], {"flipped": {"above": 1.0}}, "at least one run to compare"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    runs: dict[str, Run], new: list[str], policy: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        tacit.gate(runs["parts"], *(runs[name] for name in new), policy=policy)


def test_runs_with_other_questions_are_refused(runs: dict[str, Run]) -> None:
    """Or with another wording; with force, what both were asked counts."""
    base = runs["parts"]
    some = replace(base, _questions=base.questions.head(9))
    answers = Pair(base, some).answers["parts/flipped_statements"]
    assert (answers.counts["n"], answers.counts["flipped"]) == (9, 0)
    for request in ({"limit": 3}, {"preset": "macaw"}):
        other = replace(runs["bea"], request={**runs["bea"].request, **request})
        with pytest.raises(RequestError, match=f"{next(iter(request))} differs between"):
            tacit.gate(base, other, policy={"flipped": {"above": 1.0}})
