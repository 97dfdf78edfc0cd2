"""The presets ``same-relation`` and ``matched``, against sets, loops and hashes."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.negatives import negatives, tails_of
from tacit.knowledge.options import BackgroundOptions, Negatives
from tests.knowledge import plain
from tests.knowledge.conftest import Made
from tests.knowledge.test_negatives import drawn, facts_of

RELATED: tuple[Negatives, ...] = ("same-relation", "matched")
LABELS = (
    *("dog", "cat", "run", "fridge", "quickly", "hot", "dogs", "house", "zyzzyvaesque"),
    *("eat meat", "hot dog", "big house", "run fast", "very big house", "in the house"),
)
CONCEPTS = st.sampled_from(LABELS)
RELATIONS = st.sampled_from(["IsA", "RelatedTo"])
LINES = st.lists(
    st.tuples(RELATIONS, CONCEPTS, CONCEPTS).map("\t".join), min_size=9, max_size=40
).filter(lambda lines: any(one.split("\t")[1] != one.split("\t")[2] for one in lines))


def number(seed: int, attempt: int, fact: plain.Fact, below: int) -> int:
    """The draw of an attempt: the first 64 bits of BLAKE2b, scaled."""
    words = "\t".join((str(seed), str(attempt), *fact))
    digest = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
    return int(digest, 16) * below // 2**64


@cache
def part_of_speech(label: str) -> tuple[frozenset[str], ...]:
    """What the lexicon lists for the first and the last word."""
    import lemminflect

    ends = label.split()
    return tuple(
        frozenset({"NOUN", "VERB", "ADJ", "ADV"} & lemminflect.getAllLemmas(word).keys())
        for word in (ends[0], ends[-1])
    )


@cache
def zipf(label: str) -> int:
    """The frequency in hundredths of the Zipf scale; of several words as wordfreq combines them."""
    from wordfreq import word_frequency

    single = [word_frequency(word, "en") for word in label.split()]
    frequency = 1 / sum(1 / each for each in single) if all(single) else 0
    return round(100 * math.log10(max(frequency, 1e-9) * 1e9))


@dataclass(frozen=True)
class ByHand:
    """The tails of a graph's relations, and the negatives drawn from them."""

    graph: plain.Graph

    @cached_property
    def facts(self) -> list[plain.Fact]:
        return [fact for fact in self.graph.weights if fact.head != fact.tail]

    def degree(self, label: str) -> int:
        return sum(label in {fact.head, fact.tail} for fact in self.facts)

    def tails(self, relation: str) -> list[str]:
        """The tails of all facts of a relation, by the alphabet, each as often as it is one."""
        return sorted(fact.tail for fact in self.facts if fact.relation == relation)

    def alike(self, one: str, other: str) -> tuple[bool, ...]:
        """Whether two tails meet each condition, the first to be dropped first."""
        degrees = sorted([self.degree(one), self.degree(other)])
        return (
            part_of_speech(one) == part_of_speech(other),
            len(one.split()) == len(other.split()),
            abs(zipf(one) - zipf(other)) <= 50,
            degrees[1] <= 2 * degrees[0],
        )

    def same_relation(self, fact: plain.Fact, seed: int) -> str | None:
        """The first of 32 draws that is possible, else one of all that are."""
        pool = self.tails(fact.relation)
        tried = (pool[number(seed, k, fact, len(pool))] for k in range(32))
        found = next((tail for tail in tried if self.graph.is_negative(fact, tail)), None)
        rest = [tail for tail in pool if self.graph.is_negative(fact, tail)]
        if found is None and rest:
            return rest[number(seed, 32, fact, len(rest))]
        return found

    def matched(self, fact: plain.Fact, seed: int) -> tuple[str | None, int | None]:
        """The negative, and how many conditions were dropped for it."""
        for dropped in range(4):
            possible = [
                tail
                for tail in self.tails(fact.relation)
                if self.graph.is_negative(fact, tail) and all(self.alike(fact.tail, tail)[dropped:])
            ]
            if possible:
                return possible[number(seed, 0, fact, len(possible))], dropped
        found = self.same_relation(fact, seed)
        return found, None if found is None else 4


@settings(max_examples=8)
@given(lines=LINES, seed=st.integers(0, 99))
def test_negatives_are_those_drawn_by_hand(made: Made, lines: list[str], seed: int) -> None:
    by_hand = ByHand(plain.Graph.of_lines(lines))
    with KnowledgeBase(made(*lines)) as base:
        facts = facts_of(base)
        same, matched = (BackgroundOptions(seed=seed, negatives=preset) for preset in RELATED)
        for fact, negative in drawn(base, facts, same):
            assert negative == by_hand.same_relation(fact, seed)
        pairs = drawn(base, facts, matched)
        relaxed = negatives(base, facts, matched)["relaxed"]
    assert [(negative, level) for (_, negative), level in zip(pairs, relaxed, strict=True)] == [
        by_hand.matched(fact, seed) for fact, _ in pairs
    ]


@settings(max_examples=4)
@given(
    lines=LINES,
    shuffled=st.randoms(use_true_random=False),
    preset=st.sampled_from(get_args(Negatives)),
)
def test_order_does_not_matter(
    made: Made, lines: list[str], shuffled: object, preset: Negatives
) -> None:
    """Of the lines or the facts, whatever else is asked."""
    other = sorted(lines, key=lambda _: shuffled.random())  # type: ignore[attr-defined]
    with KnowledgeBase(made(*lines)) as one, KnowledgeBase(made(*other)) as two:
        first = dict(drawn(one, facts_of(one), BackgroundOptions(negatives=preset)))
        facts = facts_of(two).reverse()
        assert dict(drawn(two, facts, BackgroundOptions(negatives=preset))) == first
        alone = drawn(two, facts[:1], BackgroundOptions(negatives=preset))
        assert alone == [(fact, first[fact]) for fact, _ in alone]


@pytest.mark.parametrize("preset", RELATED)
def test_a_tail_is_drawn_in_proportion_to_its_facts(made: Made, preset: Negatives) -> None:
    """A tail of twice as many facts is drawn twice as often: other facts are equally likely."""
    lines = [f"IsA\tzoo {k}\ttomato" for k in range(1200)]
    lines += [f"IsA\tfarm {k}\tbanana" for k in range(800)]
    lines += [f"IsA\tcage {k}\tpotato" for k in range(800)]
    lines += [f"HasA\tpotato\tball {k}" for k in range(400)]
    with KnowledgeBase(made(*lines)) as base:
        pairs = drawn(
            base, facts_of(base, "t.label = 'banana'"), BackgroundOptions(negatives=preset)
        )
    tails = Counter(tail for _, tail in pairs)
    expected = [800 * 1200 / 2000, 800 * 800 / 2000]
    assert chisquare([tails["tomato"], tails["potato"]], expected).pvalue > 0.01


def test_relaxed_conditions_are_counted(made: Made) -> None:
    """Distinct facts, by the last condition that was dropped."""
    lines = ("IsA\tdog\tanimal", "IsA\tcat\tfridge", "IsA\tcat\tcow", "IsA\tsky\tvery big house")
    with KnowledgeBase(made(*lines)) as base:
        how = BackgroundOptions(negatives="matched")
        found = background(base, [("Is a dog an animal?",)], how, tails=True)
        by_hand = ByHand(plain.Graph.of_lines(lines)).matched(plain.Fact("dog", "IsA", "animal"), 0)
        assert found.facts.select("head", "negative").rows() == [("dog", by_hand[0])]
    assert sum(found.counts["relaxed_negatives"].values()) == (by_hand[1] != 0)
    assert found.counts["eligible_negatives"] is None


@settings(max_examples=5)
@given(lines=LINES, preset=st.sampled_from(get_args(Negatives)))
def test_attributes_of_tails_by_hand(made: Made, lines: Sequence[str], preset: Negatives) -> None:
    """Counts leave out the fact itself, and for the tail of another fact that other fact."""
    by_hand = ByHand(plain.Graph.of_lines(lines))
    with KnowledgeBase(made(*lines)) as base:
        facts, options = facts_of(base), BackgroundOptions(negatives=preset)
        pairs = drawn(base, facts, options)
        table = tails_of(base, negatives(base, facts, options), own=preset != "uniform")
    expected = []
    for fact, negative in sorted(pairs):
        for is_negative, tail in ((False, fact.tail), (True, negative)):
            if tail is None:
                continue
            own = int(preset != "uniform" or not is_negative)
            degree, as_tail = by_hand.degree(tail), by_hand.tails(fact.relation).count(tail)
            words, frequency = len(tail.split()), zipf(tail) / 100
            counts = (degree - own, as_tail - own)
            expected.append((*fact, is_negative, words, len(tail), frequency, *counts))
    assert table.drop("part_of_speech").rows() == expected
