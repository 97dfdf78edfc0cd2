"""Leakage ablations and the irrelevant background, against plain Python over facts and concepts."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from tacit.probes.consistency.controls import (
    IRRELEVANT,
    NO_TOPIC,
    UNKNOWN,
    WHOLE,
    WITHOUT,
    Controls,
)
from tacit.probes.consistency.questions import FACT
from tacit.probes.consistency.results import model_answers, scored
from tacit.sources.questions import Anchor
from tacit.statistics.lift import measure_lift
from tacit.statistics.permutation import Permutations
from tests.probes.consistency.asking_by_hand import Case, Dice, Fact, answers_of, probe_of
from tests.probes.consistency.run_by_hand import Run

QUICK = Permutations(100)
N, CHOICES = 60, 3
WORDS = [f"w{number}" for number in range(25)]


class Made:
    """Random anchors with concepts in each part, facts between them, and answers."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.parts = [
            [set(random.choice(WORDS, size=2).tolist()) for _ in range(CHOICES + 1)]
            for _ in range(N)
        ]
        self.topics = [{str(random.choice(WORDS))} for _ in range(N)]
        self.correct = [int(one) for one in random.integers(0, CHOICES, N)]
        self.facts: list[list[tuple[str, str, str]]] = []
        for parts in self.parts:
            pairs = [(a, "IsA", b) for a, b in combinations(sorted(set().union(*parts)), 2)]
            chosen = random.permutation(len(pairs))[: int(random.integers(1, 6))]
            self.facts.append([pairs[at] for at in chosen])
        self.of = [
            Anchor(f"a{at}", "Which?", ("x", "y", "z"), correct, None)
            for at, correct in enumerate(self.correct)
        ]
        probe = probe_of(
            Case(anchor, tuple(Fact(*fact, f"not {fact[2]}") for fact in facts))
            for anchor, facts in zip(self.of, self.facts, strict=True)
        )
        members = pl.DataFrame(
            {"anchor": at, "part": part, "concept": concept}
            for at, parts in enumerate(self.parts)
            for part, concepts in enumerate(parts)
            for concept in concepts
        )
        topics = pl.DataFrame(
            {"anchor": at, "concept": concept}
            for at, concepts in enumerate(self.topics)
            for concept in concepts
        )
        self.background = replace(
            probe.background, concepts=members.drop("part"), by_part=members, topics=topics
        )
        answers = answers_of(probe, Dice(1))
        self.found = model_answers(probe, scored(probe, answers))
        self.right = self.found.anchors["right"].to_numpy()
        replies = self.found.fact_answers.join(self.found.facts, on="fact")
        self.known: Counter[tuple[str, str, str]] = Counter(
            replies.filter("right").select(FACT).iter_rows()
        )

    @property
    def controls(self) -> Controls:
        return Controls(self.of, self.background, self.found)

    def score(self, facts: list[tuple[str, str, str]]) -> float | None:
        right = sum(self.known[fact] for fact in facts)
        return float(Fraction(right, 2 * len(facts))) if facts else None  # equal here too

    def touched(self, at: int, name: str) -> set[str]:
        parts = self.parts[at]
        if name == "answer":
            return parts[1 + self.correct[at]]
        return set().union(*parts[1:]) if name == "choices" else self.topics[at]


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


@pytest.mark.parametrize("name", WITHOUT)
def test_facts_that_touch_a_part_are_left_out(name: str, made: Made) -> None:
    """Fact by fact, and the row's figures are those of the remaining scores."""
    expected = []
    for at, facts in enumerate(made.facts):
        touched = made.touched(at, name)
        expected.append(
            made.score([f for f in facts if f[0] not in touched and f[2] not in touched])
        )
    row = made.controls.table(QUICK).filter(background=WITHOUT[name]).row(0, named=True)
    kept = [at for at, one in enumerate(expected) if one is not None]
    right = made.right[kept]
    by_hand = measure_lift(right, [one for one in expected if one is not None], kept, QUICK)
    assert 0 < row["n"] == len(kept)
    assert row["facts"] < made.found.anchors["facts"].mean()
    assert row["consistency"] == pytest.approx(by_hand.average_precision)
    assert row["lift"] == pytest.approx(by_hand.lift.value)
    assert row["missing"] is None


def test_irrelevant_background_has_as_many_facts_and_no_common_concept(made: Made) -> None:
    """Some anchors have no partner."""
    partners = made.controls.partners()
    assert 0 < len(partners) < N
    for one in range(N):
        fits = {
            f"a{other}"
            for other in range(N)
            if other != one
            and len(made.facts[other]) == len(made.facts[one])
            and set().union(*made.parts[one]).isdisjoint(set().union(*made.parts[other]))
        }
        assert partners[f"a{one}"] in fits if fits else f"a{one}" not in partners
    row = made.controls.table(QUICK).filter(background=IRRELEVANT).row(0, named=True)
    assert row["n"] == len(partners)
    scores = [made.score(made.facts[int(other[1:])]) or 0.0 for other in partners.values()]
    at = [int(own[1:]) for own in partners]
    by_hand = measure_lift(made.right[at], scores, at, QUICK)
    assert row["consistency"] == pytest.approx(by_hand.average_precision)


def test_the_first_row_is_the_whole_background(run: Run) -> None:
    """Its figures are those of the run; without known parts the ablations say why."""
    found = run.found.tables["controls"]
    whole = found.filter(background=WHOLE).row(0, named=True)
    consistency = run.found.tables["consistency"].row(0, named=True)
    for name in ("n", "accuracy", "consistency", "chance", "lift", "lift_low", "p_value"):
        assert whole[name] == consistency[name], name
    adjusted = run.found.tables["adjusted"].row(0, named=True)
    for name in ("strata", "chance_adjusted", "lift_adjusted", "p_adjusted"):
        assert whole[name] == adjusted[name]
    missing = dict(found.select("background", "missing").iter_rows())
    assert missing[WITHOUT["answer"]] == missing[WITHOUT["choices"]] == UNKNOWN
    assert missing[WITHOUT["topic"]] == NO_TOPIC
    assert missing[WHOLE] is missing[IRRELEVANT] is None
