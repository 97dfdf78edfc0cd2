from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.background import (
    Counts,
    background,
)
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.options import BackgroundOptions, Parts, Verbatim
from tests.knowledge import plain
from tests.knowledge.conftest import Made

LINES = (
    "IsA\tdog\tanimal\t3",
    "AtLocation\tdog\tfront door\t1",
    "IsA\tguide dog\tdog\t2",
    "HasA\tdogs\ttail\t1",
    "RelatedTo\tcat\tanimal\t1",
)
# Across parts: dog IsA animal and dog AtLocation front door; the first question's second choice
# contains "guide dog" and "dog" together. Sharing a word: guide dog and dog.
QUESTIONS = (
    ("Which animal is here?", "a dog", "a guide dog"),
    ("Where is the dog?", "front door", "sky"),
)


@pytest.fixture
def base(made: Made) -> Iterator[KnowledgeBase]:
    """A knowledge base of these lines."""
    with KnowledgeBase(made(*LINES)) as opened:
        yield opened


def counts(base: KnowledgeBase, options: BackgroundOptions) -> Counts:
    """The counts of both questions."""
    found = background(base, QUESTIONS, options).counts
    assert found is not None
    return found


def test_counts_worked_by_hand(base: KnowledgeBase) -> None:
    """Concepts: animal, dog, guide dog, dogs (by its lemma); dog, dogs, and front door verbatim."""
    assert counts(base, BackgroundOptions()) == Counts(
        question_concepts=7,
        verbatim_only_concepts=1,
        question_facts=3,
        facts_across_parts=2,
        facts_sharing_a_word=1,
        cap=None,
        questions_beyond_cap=0,
        facts_beyond_cap=0,
        eligible_negatives=5,
        frequency_cap=10_000,
        negatives_beyond_cap=0,
    )


def test_verbatim_concepts_are_counted_where_they_do_not_count(base: KnowledgeBase) -> None:
    """With verbatim off, front door is missing, and still reported."""
    found = counts(base, BackgroundOptions(verbatim="off"))
    assert (found.question_concepts, found.verbatim_only_concepts) == (6, 1)
    assert (found.question_facts, found.facts_across_parts) == (2, 1)


def test_pooled_parts_cannot_be_told_apart(base: KnowledgeBase) -> None:
    """How many facts join concepts of different parts is not 0, but not known."""
    assert counts(base, BackgroundOptions(parts="pooled")).facts_across_parts is None


RELATIONS = ("IsA", "AtLocation", "HasA", "RelatedTo")
WORDS = ("dog", "dogs", "guide", "sky", "the", "front", "door", "animal")


@pytest.mark.parametrize("verbatim", ["on", "off"])
@pytest.mark.parametrize("parts", ["separate", "pooled"])
@settings(max_examples=25, deadline=None)
@given(
    questions=st.lists(
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=3),
        max_size=3,
    )
)
def test_counts_are_those_of_sets(
    made: Made, questions: list[list[list[str]]], parts: Parts, verbatim: Verbatim
) -> None:
    """With any questions and rules."""
    texts = [[" ".join(words) for words in question] for question in questions]
    how = BackgroundOptions(parts=parts, verbatim=verbatim)
    with KnowledgeBase(made(*LINES)) as base:
        found = background(base, texts, how).counts
    assert found is not None
    graph = plain.Graph.of_lines(line.rpartition("\t")[0] for line in LINES)
    labels = plain.Labels(graph.labels)
    exact, across, sharing = 0, 0, 0
    for question in texts:
        lemmas = [plain.content_lemmas(part) for part in question]
        bags = lemmas if parts == "separate" else [set[str]().union(*lemmas)]
        by_lemmas = [labels.by_lemmas(bag) for bag in bags]
        spelled = [labels.verbatim(part) for part in question]
        exact += len(set[str]().union(*spelled) - set[str]().union(*by_lemmas))
        within = [*by_lemmas, *spelled] if verbatim == "on" else by_lemmas
        by_part = [
            some | (exactly if verbatim == "on" else set())
            for some, exactly in zip(by_lemmas, spelled, strict=parts == "separate")
        ]
        for fact, _ in graph.facts(set[str]().union(*within), RELATIONS, 1):
            across += not any({fact.head, fact.tail} <= part for part in by_part)
            sharing += plain.shares_a_word(fact.head, fact.tail)
    assert found.verbatim_only_concepts == exact
    assert found.facts_across_parts == (None if parts == "pooled" else across)
    assert found.facts_sharing_a_word == sharing


def test_what_the_caps_cut_is_counted(base: KnowledgeBase) -> None:
    """A question's facts beyond the cap, and eligible words beyond the frequency cap."""
    found = counts(base, BackgroundOptions(cap=1, frequent=3))
    assert (found.cap, found.questions_beyond_cap, found.facts_beyond_cap) == (1, 1, 1)
    assert (found.eligible_negatives, found.negatives_beyond_cap) == (5, 2)
