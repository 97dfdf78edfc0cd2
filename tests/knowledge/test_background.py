from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.background import Background, Counts, background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.knowledge.options import BackgroundOptions, Parts
from tacit.sources.dumps import Dump

if TYPE_CHECKING:
    from tests.knowledge.conftest import Made

    Question = tuple[str, ...]

# Relation, head, tail and weight.
TRIPLES = """
AtLocation  dog        house      2
RelatedTo   house      dog        1
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
QUESTIONS: tuple[Question, ...] = (
    ("Where does a dog live?", "house", "beach"),
    ("Which animals have a tail?", "dogs", "cats"),
    ("Why?", "because", "that"),
    ("What melts if it is ice?", "the cream dessert", "sand", "freezer"),
    ("Where does a dog live?", "house", "beach"),
    ("Is the moon made of cheese?", "", "never"),
    ("Where is sand?", "on a beach"),
)
PLAIN = BackgroundOptions()


def rows() -> list[list[str]]:
    """The triples, taken apart."""
    return [re.split(r" {2,}", line) for line in TRIPLES.strip().splitlines()]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """The knowledge base of these triples."""
    folder = tmp_path_factory.mktemp("background")
    dump = folder / "dump.tsv"
    dump.write_text("".join("\t".join(row) + "\n" for row in rows()))
    columns = ("relation", "head", "tail", "weight")
    build(Source([Dump(dump, columns=columns)]), folder / "base.duckdb")
    with KnowledgeBase(folder / "base.duckdb") as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(base: KnowledgeBase) -> Background:
    """The background of all questions."""
    return background(base, QUESTIONS, PLAIN)


def of(found: Background, question: int) -> tuple[object, ...]:
    """All that a background has of one question."""
    return tuple(
        table.filter(question=question).drop("question").rows()
        for table in (found.concepts, found.facts, found.found)
    )


def edges(found: Background, question: int = 0) -> list[tuple[str, str, str]]:
    """A question's facts without their negatives."""
    return found.facts.filter(question=question).select("head", "relation", "tail").rows()


def alike(one: Background, two: Background) -> bool:
    """Whether all tables are the same."""
    tables = ("concepts", "facts", "found")
    return all(getattr(one, name).equals(getattr(two, name)) for name in tables)


def test_a_background_by_hand(base: KnowledgeBase) -> None:
    """Concepts by the alphabet; facts in both directions, the heaviest first; no other relation."""
    found = background(base, QUESTIONS[:1], PLAIN)
    assert found.concepts.rows() == [(0, "beach"), (0, "dog"), (0, "house")]
    assert edges(found) == [("dog", "AtLocation", "house"), ("house", "RelatedTo", "dog")]
    assert found.facts["weight"].to_list() == [2.0, 1.0]
    assert found.facts["length"].to_list() == [1, 1]
    assert found.found.rows() == [(0, 2)]


def test_the_words_of_question_and_choices_are_matched_apart_or_pooled(
    base: KnowledgeBase,
) -> None:
    """Of "ice cream", the first stands in the question and the second in a choice."""
    assert edges(background(base, [QUESTIONS[3]], PLAIN)) == []
    pooled = replace(PLAIN, parts="pooled")
    found = background(base, [QUESTIONS[3]], pooled)
    assert edges(found) == [
        ("ice cream", "IsA", "dessert"),
        ("ice cream", "AtLocation", "freezer"),
    ]
    apart = background(base, [(text,) for text in QUESTIONS[3]], pooled)
    assert apart.facts.is_empty()


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
    for at, question in enumerate(QUESTIONS):
        assert of(together, at) == of(background(base, [question], options), 0)
    assert together.found["question"].to_list() == list(range(len(QUESTIONS)))


def test_a_question_that_comes_twice_has_its_facts_twice(whole: Background) -> None:
    """With the same negatives; as distinct facts they count once."""
    assert of(whole, 0) == of(whole, 4) != of(whole, 1)
    assert whole.summary()["facts"] == whole.facts.height
    distinct = {fact for at in range(len(QUESTIONS)) for fact in edges(whole, at)}
    assert whole.summary()["distinct_facts"] == len(distinct) < whole.facts.height


@pytest.mark.parametrize("texts", [("Why?", "because"), ("", ""), ("?!", "..."), ()])
def test_a_question_without_content_words(base: KnowledgeBase, texts: Question) -> None:
    """It has no concepts and no facts, and is counted."""
    found = background(base, [texts], PLAIN)
    assert found.concepts.is_empty()
    assert found.facts.is_empty()
    assert found.found.rows() == [(0, 0)]
    summary = found.summary()
    assert (summary["questions"], summary["without_facts"]) == (1, 1)
    assert set(summary["per_question"].values()) == {None}


def test_no_question_at_all(base: KnowledgeBase, whole: Background) -> None:
    """Empty tables with the columns that others have."""
    none = background(base, [], PLAIN)
    for name in ("concepts", "facts", "found"):
        table = getattr(none, name)
        assert table.is_empty()
        assert table.schema == getattr(whole, name).schema
    assert none.summary()["questions"] == 0


def test_a_cap_keeps_the_heaviest_facts(base: KnowledgeBase) -> None:
    """And their negatives; how many facts there are is reported, and how many the cap cuts."""
    every = background(base, QUESTIONS, replace(PLAIN, length=2, cap=0))
    capped = background(base, QUESTIONS, replace(PLAIN, length=2, cap=2))
    assert every.found.equals(capped.found)
    assert capped.facts.join(
        every.facts, on=every.facts.columns, how="anti", nulls_equal=True
    ).is_empty()
    for at, count in enumerate(every.found["found"]):
        kept = capped.facts.filter(question=at)["weight"]
        heaviest = every.facts.filter(question=at)["weight"].sort(descending=True)
        assert kept.sort(descending=True).equals(heaviest.head(2))
        assert kept.len() == min(2, count)
    cut = [count - 2 for count in every.found["found"] if count > 2]
    assert 0 < len(cut) < len(QUESTIONS)
    summary = capped.summary()
    assert (summary["cap"], summary["questions_beyond_cap"]) == (2, len(cut))
    assert summary["facts_beyond_cap"] == sum(cut)
    assert (every.summary()["cap"], every.summary()["facts_beyond_cap"]) == (None, 0)


def test_a_fact_without_a_negative_stays(base: KnowledgeBase) -> None:
    """Where the one word that might be drawn is an edge or the head: null, and counted."""
    found = background(base, QUESTIONS, replace(PLAIN, frequent=1))
    (word,) = found.facts["negative"].drop_nulls().unique()
    without = found.facts.filter(pl.col("negative").is_null())
    ends = zip(without["head"], without["tail"], strict=True)
    assert without.height
    assert all(word in pair for pair in ends)
    distinct = without.unique(["head", "relation", "tail"]).height
    assert found.summary()["without_negative"] == distinct


def test_a_background_is_always_the_same(base: KnowledgeBase, whole: Background) -> None:
    """To the row; another seed draws other negatives of the same facts."""
    assert alike(whole, background(base, QUESTIONS, PLAIN))
    other = background(base, QUESTIONS, replace(PLAIN, seed=1))
    assert other.facts.drop("negative").equals(whole.facts.drop("negative"))
    assert not other.facts.equals(whole.facts)


def test_relations_of_ones_own(base: KnowledgeBase) -> None:
    name = "EtymologicallyDerivedFrom"
    found = background(base, QUESTIONS, replace(PLAIN, relations=name))
    assert edges(found) == [("beach", name, "house")]


def made(*counts: int) -> Background:
    """A background of so many facts each, all different, none with a negative but the first."""
    places = [(at, k) for at, count in enumerate(counts) for k in range(count)]
    facts = [(at, f"c{at}", ("IsA", "HasA")[k % 2], f"t{k}") for at, k in places]
    schema = {"question": pl.Int32, **dict.fromkeys(("head", "relation", "tail"), pl.String)}
    table = pl.DataFrame(facts, schema, orient="row")
    negative = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("sky"))
    found = pl.DataFrame({"found": counts}, {"found": pl.Int32}).with_row_index("question")
    counted = Counts(9, 2, len(places), 3, 1, 4, 2, 6, 50, 40, 10)
    return Background(pl.DataFrame(), table.with_columns(negative=negative), found, counted)


def test_a_summary_by_hand() -> None:
    """Quantiles are over the questions that have facts: 1, 1, 2, 5 and 9."""
    assert made(5, 0, 1, 9, 0, 2, 1).summary() == {
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
        "question_concepts": 9,
        "verbatim_only_concepts": 2,
        "question_facts": 18,
        "facts_across_parts": 3,
        "facts_sharing_a_word": 1,
        "cap": 4,
        "questions_beyond_cap": 2,
        "facts_beyond_cap": 6,
        "eligible_negatives": 50,
        "frequency_cap": 40,
        "negatives_beyond_cap": 10,
        "negatives": "uniform",
        "relaxed_negatives": None,
        "relations": {"HasA": 7, "IsA": 11},
    }


@settings(max_examples=40, deadline=None)
@given(counts=st.lists(st.integers(0, 6), max_size=9))
def test_quantiles_are_counts_that_there_are(counts: list[int]) -> None:
    """The nearest to a place in their order; of no facts there are none."""
    some = sorted(count for count in counts if count)
    shown = made(*counts).summary()["per_question"]
    if not some:
        assert set(shown.values()) == {None}
        return
    assert (shown["least"], shown["most"]) == (some[0], some[-1])
    for name, share in (("lower_quarter", 0.25), ("median", 0.5), ("upper_quarter", 0.75)):
        places = [at for at, count in enumerate(some) if count == shown[name]]
        assert min(abs(at - share * (len(some) - 1)) for at in places) <= 0.5


@pytest.mark.parametrize("parts", ["separate", "pooled"])
def test_the_concepts_of_each_part(made: Made, parts: Parts) -> None:
    """Of the question and of each choice on its own, also if facts come from pooled parts."""
    options = BackgroundOptions(parts=parts)
    with KnowledgeBase(made("IsA\tdog\tanimal", "AtLocation\tdog\tkennel")) as base:
        found = background(base, [("Where do dogs sleep?", "kennel", "an animal")], options)
    assert found.by_part is not None
    assert found.by_part.rows() == [(0, 0, "dog"), (0, 1, "kennel"), (0, 2, "animal")]
