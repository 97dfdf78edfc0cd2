from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import RequestError
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.concepts import OVERLAPS, Overlap, concepts_in
from tacit.knowledge.words import Words
from tests.knowledge import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from tests.knowledge.conftest import Made

WORDS = ("the", "of", "not", "leaves", "leaf", "being", "makes", "dog", "dogs", "yo-yo", "john's")
MARKS = ("3", "...", "ice-cream/cone", "cannot", "éclair")
LABELS = st.lists(st.sampled_from(WORDS + MARKS), min_size=1, max_size=5).map(" ".join)
LEMMAS = ("leaf", "leave", "dog", "yo", "john", "the", "not", "be", "make", "3", "cone", "éclair")
BAGS = st.lists(st.sets(st.sampled_from(LEMMAS)), min_size=1, max_size=8)


def found(base: KnowledgeBase, bags: Sequence[Collection[str]], overlap: Overlap) -> list[set[str]]:
    """The labels in each bag."""
    table = concepts_in(base, bags, overlap)
    assert table.columns == ["text", "concept"]
    assert table.rows() == sorted(set(table.rows()))
    labels = base.table("SELECT label FROM base.concepts ORDER BY id")["label"]
    sets: list[set[str]] = [set() for _ in bags]
    for text, concept in table.iter_rows():
        sets[text].add(labels[concept])
    return sets


@settings(max_examples=12, deadline=None)
@given(st.lists(LABELS, min_size=1, max_size=15), BAGS)
def test_concepts_agree_with_counting_word_by_word(
    made: Made, labels: list[str], bags: list[set[str]]
) -> None:
    """More than half of a concept's words, or of its content words, are in the bag."""
    with KnowledgeBase(made(*(f"IsA\t{label}\tdog" for label in labels))) as base:
        for overlap in OVERLAPS:
            of_content = overlap == "content-words"
            expected = [
                {
                    label
                    for label in {*labels, "dog"}
                    if plain.is_in(label, bag, of_content=of_content)
                }
                for bag in bags
            ]
            assert found(base, bags, overlap) == expected


CASES: list[Any] = [
    ("dog", {"dog"}, True, True),
    ("guide dog", {"dog"}, False, False),
    ("big guide dog", {"dog", "guide"}, True, True),
    ("one of the dogs", {"dog"}, False, True),
    ("leaves", {"leaf"}, True, True),
    ("leaves", {"leave"}, True, True),
    ("guide leaves", {"leaf", "leave"}, False, False),
    ("of the", {"of", "the"}, False, False),
    ("dog dog cat", {"dog"}, True, True),
    ("...", {"..."}, False, False),
]


@pytest.mark.parametrize(("label", "bag", "of_all", "of_content"), CASES)
def test_what_is_in_a_text_worked_by_hand(
    made: Made, label: str, bag: set[str], *, of_all: bool, of_content: bool
) -> None:
    """One or two words must all be there, of three two; stop words count when all words do."""
    with KnowledgeBase(made(*(f"IsA\t{case[0]}\tzebra" for case in CASES))) as base:
        [among_all] = found(base, [bag], "all-words")
        [among_content] = found(base, [bag], "content-words")
    assert (label in among_all, label in among_content) == (of_all, of_content)


def test_a_word_of_many_parts_is_counted_in_full(made: Made) -> None:
    """Twenty words without a blank between are twenty, and the word after them is another."""
    label = "-".join(["dog", "cat"] * 10) + " cow"
    with KnowledgeBase(made(f"IsA\t{label}\tzebra")) as base:
        assert found(base, [{"dog"}, {"dog", "cow"}], "all-words") == [set(), {label}]


def test_no_bags_have_no_concepts(made: Made) -> None:
    """No bag, and an empty one, give an empty table."""
    with KnowledgeBase(made("IsA\tdog\tanimal")) as base:
        assert found(base, [], "all-words") == []
        assert found(base, [set(), {"dog"}, set()], "all-words") == [set(), {"dog"}, set()]


def test_an_unknown_overlap_is_told(made: Made) -> None:
    """Another overlap is refused with those there are."""
    overlap: Any = "some-words"
    message = "'some-words' is none of all-words, content-words"
    with (
        KnowledgeBase(made("IsA\tdog\tanimal")) as base,
        pytest.raises(RequestError, match=message),
    ):
        concepts_in(base, [{"dog"}], overlap)


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_concepts_of_real_texts_agree(cn100k: Path, overlap: Overlap) -> None:
    """Of every eighth concept of CN-100K, those in a question are the ones that counting finds."""
    texts = [
        "What do people use to keep the rain off while walking their dog in a city park?",
        "Where would you put leaves and ice-cream in John's house? on top of the refrigerator",
    ]
    bags = Words().content_lemmas(texts)
    with KnowledgeBase(cn100k) as base:
        some = set(base.table("SELECT label FROM base.concepts")["label"][::8])
        for bag, concepts in zip(bags, found(base, bags, overlap), strict=True):
            expected = {
                label for label in some if plain.is_in(label, bag, of_content="content" in overlap)
            }
            assert concepts & some == expected
            assert expected
