import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.background import Background, background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.options import BackgroundOptions, Parts, Verbatim
from tests.knowledge import plain
from tests.knowledge.conftest import Made

# Relation, head, tail and weight.
TRIPLES = """
AtLocation  dog        house      2
RelatedTo   house      dog        3
IsA         dog        animal     4
IsA         cat        animal     3
Antonym     cat        dog        1
HasA        dog        tail       1
HasA        cat        tail       1
IsA         ice cream  dessert    2
AtLocation  ice cream  freezer    1
AtLocation  sand       beach      1
Causes      rain       wet dog    1
EtymologicallyDerivedFrom  beach  house  1
"""
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("Where does a dog live?", "house", "beach"),
    ("Which animals have a tail?", "dogs", "cats"),
    ("Why?", "because", "that"),
    ("What melts if it is ice?", "the cream dessert", "sand", "freezer"),
    ("Where does a dog live?", "house", "beach"),
    ("Is the moon made of cheese?", "", "never"),
    (),
    ("Where is sand?", "on a beach"),
)
PLAIN = BackgroundOptions()


@pytest.fixture
def base(made: Made) -> Iterator[KnowledgeBase]:
    lines = ("\t".join(re.split(r" {2,}", line)) for line in TRIPLES.strip().splitlines())
    with KnowledgeBase(made(*lines)) as opened:
        yield opened


def of(found: Background, anchor: int) -> tuple[object, ...]:
    return tuple(
        table.filter(anchor=anchor).drop("anchor").rows()
        for table in (found.concepts, found.facts, found.found)
    )


def edges(found: Background, anchor: int = 0) -> list[tuple[str, str, str]]:
    return found.facts.filter(anchor=anchor).select("head", "relation", "tail").rows()


def test_a_background_by_hand(base: KnowledgeBase) -> None:
    """Concepts by the alphabet; facts in both directions, the heaviest first; no other relation."""
    found = background(base, QUESTIONS[:1], PLAIN)
    assert found.concepts.rows() == [(0, "beach"), (0, "dog"), (0, "house")]
    assert edges(found) == [("house", "RelatedTo", "dog"), ("dog", "AtLocation", "house")]
    assert found.facts.select("weight", "length").rows() == [(3.0, 1), (2.0, 1)]
    assert found.found.rows() == [(0, 2)]
    name = "EtymologicallyDerivedFrom"
    other = background(base, QUESTIONS, replace(PLAIN, relations=name))
    assert edges(other) == [("beach", name, "house")]


@pytest.mark.parametrize(
    "options",
    [
        PLAIN,
        replace(PLAIN, length=2, cap=0),
        replace(PLAIN, length=3, cap=2),
        BackgroundOptions(
            paper_version="arxiv",
            overlap="content-words",
            parts="pooled",
            verbatim="off",
            seed=3,
        ),
    ],
    ids=["default", "two hops", "three hops, capped", "arxiv, pooled"],
)
def test_all_questions_together_are_as_each_alone(
    base: KnowledgeBase, options: BackgroundOptions
) -> None:
    """Concepts, facts, negatives, and how many there are without the cap."""
    together = background(base, QUESTIONS, options)
    for anchor, question in enumerate(QUESTIONS):
        assert of(together, anchor) == of(background(base, [question], options), 0)
    assert of(together, 0) == of(together, 4) != of(together, 1)
    assert together.found["anchor"].to_list() == list(range(len(QUESTIONS)))
    none = background(base, [], options)
    for name in ("concepts", "facts", "found", "by_part"):
        assert getattr(none, name).is_empty()
        assert getattr(none, name).schema == getattr(together, name).schema


@pytest.mark.parametrize("parts", get_args(Parts))
def test_the_concepts_of_each_part(made: Made, parts: Parts) -> None:
    """Of the question and of each choice on its own, also if facts come from pooled parts."""
    options = BackgroundOptions(parts=parts)
    with KnowledgeBase(made("IsA\tdog\tanimal", "AtLocation\tdog\tkennel")) as base:
        found = background(base, [("Where do dogs sleep?", "kennel", "an animal")], options)
    assert found.by_part is not None
    assert found.by_part.rows() == [(0, 0, "dog"), (0, 1, "kennel"), (0, 2, "animal")]


def with_facts(*counts: int) -> Background:
    """A background of so many facts each, all different, none with a negative but the first."""
    facts = [
        (anchor, f"c{anchor}", ("IsA", "HasA")[k % 2], f"t{k}")
        for anchor, count in enumerate(counts)
        for k in range(count)
    ]
    schema = {"anchor": pl.Int32, **dict.fromkeys(("head", "relation", "tail"), pl.String)}
    table = pl.DataFrame(facts, schema, orient="row")
    negative = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("sky"))
    found = pl.DataFrame({"found": counts}, {"found": pl.Int32}).with_row_index("anchor")
    return Background(pl.DataFrame(), table.with_columns(negative=negative), found, {"cap": 4})


def test_a_summary_by_hand() -> None:
    """Quantiles are over the questions that have facts: 1, 1, 2, 5 and 9."""
    assert with_facts(5, 0, 1, 9, 0, 2, 1).summary() == {
        "questions": 7,
        "with_facts": 5,
        "without_facts": 2,
        "facts": 18,
        "distinct_facts": 18,
        "without_negative": 17,
        "per_question": {
            "least": 1,
            "lower_quarter": 1,
            "median": 2,
            "upper_quarter": 5,
            "most": 9,
        },
        "cap": 4,
        "relations": {"HasA": 7, "IsA": 11},
    }
    assert set(with_facts(0, 0).summary()["per_question"].values()) == {None}


LINES = (
    "IsA\tdog\tanimal\t3",
    "AtLocation\tdog\tfront door\t1",
    "IsA\tguide dog\tdog\t2",
    "HasA\tdogs\ttail\t1",
    "RelatedTo\tcat\tanimal\t1",
)
RELATIONS = ("IsA", "AtLocation", "HasA", "RelatedTo")
# Across parts: dog IsA animal and dog AtLocation front door; the first question's second choice
# contains "guide dog" and "dog" together. Sharing a word: guide dog and dog.
COUNTED = (
    ("Which animal is here?", "a dog", "a guide dog"),
    ("Where is the dog?", "front door", "sky"),
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {}),
        (
            {"verbatim": "off"},
            {"question_concepts": 6, "question_facts": 2, "facts_across_parts": 1},
        ),
        ({"parts": "pooled"}, {"facts_across_parts": None}),
        (
            {"cap": 1, "frequent": 3},
            {
                "cap": 1,
                "question_facts": 2,
                "facts_sharing_a_word": 0,
                "questions_beyond_cap": 1,
                "facts_beyond_cap": 1,
                "frequency_cap": 3,
                "negatives_beyond_cap": 2,
            },
        ),
    ],
)
def test_counts_worked_by_hand(
    made: Made, changed: dict[str, Any], expected: dict[str, object]
) -> None:
    """Concepts: animal, dog, guide dog, dogs (by its lemma); dog, dogs, and front door verbatim."""
    with KnowledgeBase(made(*LINES)) as base:
        found = background(base, COUNTED, BackgroundOptions(**changed)).counts
    assert found == {
        "question_concepts": 7,
        "verbatim_only_concepts": 1,
        "question_facts": 3,
        "facts_across_parts": 2,
        "facts_sharing_a_word": 1,
        "cap": None,
        "questions_beyond_cap": 0,
        "facts_beyond_cap": 0,
        "eligible_negatives": 5,
        "frequency_cap": 10_000,
        "negatives_beyond_cap": 0,
        "negatives": "uniform",
        "relaxed_negatives": None,
        **expected,
    }


WORDS = st.sampled_from(("dog", "dogs", "guide", "sky", "the", "front", "door", "animal"))
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=15)
@given(
    texts=st.lists(st.lists(TEXTS, min_size=1, max_size=3), max_size=3),
    parts=st.sampled_from(get_args(Parts)),
    verbatim=st.sampled_from(get_args(Verbatim)),
)
def test_counts_are_those_of_sets(
    made: Made, texts: list[list[str]], parts: Parts, verbatim: Verbatim
) -> None:
    how = BackgroundOptions(parts=parts, verbatim=verbatim)
    with KnowledgeBase(made(*LINES)) as base:
        found = background(base, texts, how).counts
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
    assert found["verbatim_only_concepts"] == exact
    assert found["facts_across_parts"] == (None if parts == "pooled" else across)
    assert found["facts_sharing_a_word"] == sharing
