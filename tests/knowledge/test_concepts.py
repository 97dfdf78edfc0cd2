from collections.abc import Collection, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.facts import concepts_in
from tacit.knowledge.options import BackgroundOptions, Overlap
from tacit.knowledge.words import TextPart, Words
from tests.knowledge import plain
from tests.knowledge.conftest import Made

WORDS = ("the", "of", "not", "leaves", "leaf", "being", "makes", "dog", "dogs", "yo-yo", "john's")
MARKS = ("3", "...", "ice-cream/cone", "cannot", "éclair")
LABELS = st.lists(st.sampled_from(WORDS + MARKS), min_size=1, max_size=5).map(" ".join)
LEMMAS = ("leaf", "leave", "dog", "yo", "john", "the", "not", "be", "make", "3", "cone", "éclair")
BAGS = st.lists(st.sets(st.sampled_from(LEMMAS)), min_size=1, max_size=8)


TEXTS = st.lists(st.lists(LABELS, max_size=3), min_size=1, max_size=6)


def found(
    base: KnowledgeBase, texts: Sequence[Sequence[TextPart]], options: BackgroundOptions
) -> list[set[str]]:
    table = concepts_in(base, texts, options)
    assert table.columns == ["anchor", "part", "concept", "by_lemmas", "verbatim", "counts"]
    assert table.select("anchor", "part", "concept").is_unique().all()
    labels = base.table("SELECT label FROM base.concepts ORDER BY id")["label"]
    sets: list[set[str]] = [set() for _ in texts]
    for text, concept in table.filter("counts").select("anchor", "concept").iter_rows():
        sets[text].add(labels[concept])
    return sets


def in_bags(
    base: KnowledgeBase, bags: Sequence[Collection[str]], overlap: Overlap
) -> list[set[str]]:
    """The labels in texts of one part each, of which the lemmas alone are known."""
    return found(
        base,
        [[TextPart(frozenset(bag), "", (), ())] for bag in bags],
        BackgroundOptions(overlap=overlap),
    )


def read(*parts: str) -> list[TextPart]:
    return Words().parts(parts)


@settings(max_examples=6)
@given(st.lists(LABELS, min_size=1, max_size=15), BAGS)
def test_concepts_agree_with_counting_word_by_word(
    made: Made, labels: list[str], bags: list[set[str]]
) -> None:
    """More than half of a concept's words, or of its content words, are in the bag."""
    with KnowledgeBase(made(*(f"IsA\t{label}\tdog" for label in labels))) as base:
        for overlap in get_args(Overlap):
            of_content = overlap == "content-words"
            expected = [
                {
                    label
                    for label in {*labels, "dog"}
                    if plain.is_in(label, bag, of_content=of_content)
                }
                for bag in bags
            ]
            assert in_bags(base, bags, overlap) == expected


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
        bags = (bag, {"guide"})  # another text has what this one lacks
        among_all, _ = in_bags(base, bags, "all-words")
        among_content, _ = in_bags(base, bags, "content-words")
    assert (label in among_all, label in among_content) == (of_all, of_content)


def test_a_word_of_many_parts_is_counted_in_full(made: Made) -> None:
    """Twenty words without a blank between are twenty, and the word after them is another."""
    label = "-".join(["dog", "cat"] * 10) + " cow"
    with KnowledgeBase(made(f"IsA\t{label}\tzebra")) as base:
        assert in_bags(base, [{"dog"}, {"dog", "cow"}], "all-words") == [set(), {label}]


@settings(max_examples=7)
@given(st.lists(LABELS, min_size=1, max_size=12), TEXTS)
def test_what_is_verbatim_agrees_with_comparing_tokens(
    made: Made, labels: list[str], texts: list[list[str]]
) -> None:
    """By either rule, in each part apart, concepts are those that a search token by token finds."""
    with KnowledgeBase(made(*(f"IsA\t{label}\tdog" for label in labels))) as base:
        known = plain.Labels([*dict.fromkeys((*labels, "dog"))])
        expected = [set[str]().union(*known.within(parts)) for parts in texts]
        assert found(base, [read(*parts) for parts in texts], BackgroundOptions()) == expected


LINES = [
    *("IsA\thave fun\tfront door", "IsA\tgo\tice cream", "IsA\tice-cream\tdog"),
    *("IsA\tdog cat\t-", "IsA\tdo\tdon't"),
]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("They HAVE\n fun at the front  door",), {"have fun", "front door"}),
        (("Fun, have it at the door front",), set()),
        (("They have, fun",), set()),
        (("The dog cat",), {"dog", "dog cat"}),
        (("ice-cream",), {"ice-cream", "ice cream"}),
        (("ice", "cream"), set()),
        (("Where do dogs go?",), {"dog", "go", "do"}),
        (("They going",), set()),
        (("Why don't they?",), {"do", "don't"}),
        (("a dogs - cat",), {"dog", "dog cat"}),
    ],
)
def test_what_a_part_contains_worked_by_hand(
    made: Made, parts: tuple[str, ...], expected: set[str]
) -> None:
    """Word for word in a row, stop words included; a mark alone is no concept."""
    with KnowledgeBase(made(*LINES)) as base:
        assert found(base, [read(*parts)], BackgroundOptions()) == [expected]


def test_what_is_only_there_verbatim_can_be_left_out(made: Made) -> None:
    """With verbatim off it is told, but does not count."""
    with KnowledgeBase(made(*LINES)) as base:
        texts = [read("Have fun with the dog", "go")]
        assert found(base, texts, BackgroundOptions(verbatim="off")) == [{"dog"}]
        labels = base.table("SELECT label FROM base.concepts ORDER BY id")["label"]
        table = concepts_in(base, texts, BackgroundOptions(verbatim="off"))
        apart = table.filter(~table["counts"])
        assert {labels[concept] for concept in apart["concept"]} == {"have fun", "go"}
        assert apart.select("by_lemmas", "verbatim").unique().rows() == [(False, True)]


def test_parts_are_matched_apart_or_pooled(made: Made) -> None:
    """Two words of different parts make a concept only when parts are pooled."""
    with KnowledgeBase(made("IsA\tguide dog\tanimal")) as base:
        texts = [read("Who is a guide?", "dog"), read("A dog as a guide", "animals")]
        assert found(base, texts, BackgroundOptions()) == [set(), {"guide dog", "animal"}]
        pooled = BackgroundOptions(parts="pooled")
        assert found(base, texts, pooled) == [{"guide dog"}, {"guide dog", "animal"}]
        assert concepts_in(base, texts)["part"].to_list() == [0, 1]
        assert concepts_in(base, texts, pooled)["part"].null_count() == 3
