from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from tacit.knowledge.background import (
    Counts,
    Extraction,
    background,
    counts_in_words,
    negatives_in_words,
)
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.concepts import Matching
from tacit.knowledge.negatives import Draw

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def counts(base: KnowledgeBase, extraction: Extraction) -> Counts:
    """The counts of both questions."""
    found = background(base, QUESTIONS, extraction).counts
    assert found is not None
    return found


def test_counts_worked_by_hand(base: KnowledgeBase) -> None:
    """Concepts: animal, dog, guide dog, dogs (by its lemma); dog, dogs, and front door verbatim."""
    assert counts(base, Extraction()) == Counts(
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
    found = counts(base, Extraction(matching=Matching(verbatim="off")))
    assert (found.question_concepts, found.verbatim_only_concepts) == (6, 1)
    assert (found.question_facts, found.facts_across_parts) == (2, 1)


def test_pooled_parts_cannot_be_told_apart(base: KnowledgeBase) -> None:
    """How many facts join concepts of different parts is not 0, but not known."""
    assert counts(base, Extraction(matching=Matching(parts="pooled"))).facts_across_parts is None


def test_what_the_caps_cut_is_counted(base: KnowledgeBase) -> None:
    """A question's facts beyond the cap, and eligible words beyond the frequency cap."""
    found = counts(base, Extraction(cap=1, draw=Draw(frequent=3)))
    assert (found.cap, found.questions_beyond_cap, found.facts_beyond_cap) == (1, 1, 1)
    assert (found.eligible_negatives, found.negatives_beyond_cap) == (5, 2)


def test_what_the_caps_cut_reads_as_sentences(base: KnowledgeBase) -> None:
    """The caps are named, and what they leave out; a cap that leaves out nothing is not."""
    found = counts(base, Extraction(cap=1, draw=Draw(frequent=3)))
    cut, words = counts_in_words(asdict(found))
    assert cut.startswith("Questions with more facts than the cap of 1: 1; facts left out: 1 (")
    assert (
        words == "5 words can replace the second concept of a fact to make a negative; only the 3 "
        "most frequent of them are used, which excludes 2"
    )
    (words,) = counts_in_words(asdict(replace(found, facts_beyond_cap=0)))
    assert "words can replace the second concept" in words


def test_a_frequency_cap_that_never_bites_says_so() -> None:
    """CN-100K has fewer dictionary words than the 10,000 that the paper draws from."""
    assert negatives_in_words(6941, 10_000) == (
        "6,941 words can replace the second concept of a fact to make a negative; all of "
        "them are used, because the limit is 10,000 words"
    )
