from collections.abc import Collection, Sequence
from typing import TypeAlias
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.facts import facts_between
from tests.knowledge import plain
from tests.knowledge.conftest import Made

Assertion: TypeAlias = tuple[str, str, str, float | None]
# Head, relation, tail, length of the shortest path, weight.
Found: TypeAlias = tuple[str, str, str, int, float | None]

LABELS = ("ant", "bee", "cow", "dog", "éclair", "ice cream", "the cow", "of", "Zoe", "a b c")
CONCEPTS = tuple(label.lower() for label in LABELS)
RELATIONS = ("IsA", "RelatedTo", "Antonym", "HasContext")
ASSERTIONS = st.lists(
    st.tuples(
        st.sampled_from(RELATIONS),
        st.sampled_from(CONCEPTS),
        st.sampled_from(CONCEPTS),
        st.sampled_from([None, None, 0.5, 1.0, 2.0]),
    ),
    min_size=6,
    max_size=24,
)
# Many small texts, because on three hops much goes back through their own concepts.
TEXTS = st.lists(st.sets(st.sampled_from(CONCEPTS), max_size=4), min_size=12, max_size=16)
CHOSEN = st.sets(st.sampled_from(RELATIONS), min_size=1)
CAPS = st.sampled_from([None, 1, 2, 5])


def line(assertion: Assertion) -> str:
    *words, weight = assertion
    return "\t".join((*words, "" if weight is None else str(weight)))


def between(
    base: KnowledgeBase,
    texts: Sequence[Collection[str]],
    relations: Collection[str],
    length: int,
    cap: int | None = None,
    seed: int = 0,
) -> list[tuple[list[Found], int]]:
    """Each text's facts with labels, in their order, and how many there would be without a cap."""
    labels = base.table("SELECT label FROM base.concepts ORDER BY id")["label"].to_list()
    names = base.table("SELECT name FROM base.relations ORDER BY id")["name"].to_list()
    members = [
        (text, labels.index(member))
        for text, concepts in enumerate(texts)
        for member in sorted(concepts)
        if member in labels
    ]
    concepts = pl.DataFrame(members, {"anchor": pl.Int32, "concept": pl.Int32}, orient="row")
    table = facts_between(base, concepts, sorted(relations), length, cap, seed)
    assert table["anchor"].is_sorted()
    found: list[tuple[list[Found], int]] = [([], 0) for _ in texts]
    for text, head, relation, tail, shortest, weight, count in table.iter_rows():
        facts = found[text][0]
        facts.append((labels[head], names[relation], labels[tail], shortest, weight))
        found[text] = (facts, count)
    return found


def expected(
    graph: plain.Graph,
    texts: Sequence[Collection[str]],
    relations: Collection[str],
    length: int,
    cap: int | None = None,
) -> list[tuple[list[Found], int]]:
    """The same by walking every path."""
    walked = [graph.facts(text, relations, length) for text in texts]
    return [
        (
            [(*fact, hops, graph.weights[fact]) for fact, hops in graph.capped(facts, cap)],
            len(facts),
        )
        for facts in walked
    ]


@settings(max_examples=10)
@given(ASSERTIONS, TEXTS, CHOSEN, CAPS)
@pytest.mark.slow
def test_facts_agree_with_walking_every_path(
    made: Made,
    assertions: list[Assertion],
    texts: list[set[str]],
    chosen: set[str],
    cap: int | None,
) -> None:
    graph = plain.Graph.of(assertions)
    there = {relation for relation, *_ in assertions}
    with (
        KnowledgeBase(made(*map(line, assertions))) as base,
        patch.dict("tacit.knowledge.facts._ANCHORS", {2: 9, 3: 9}),
    ):
        for relations in (there, there & chosen):
            for length in (1, 2, 3) if relations else ():
                found = between(base, texts, relations, length, cap)
                assert found == expected(graph, texts, relations, length, cap)


def facts_of(
    base: KnowledgeBase, members: Collection[str], relations: Collection[str], length: int
) -> list[str]:
    [(facts, _)] = between(base, [members], relations, length)
    return [f"{head} {name} {tail}" for head, name, tail, *_ in facts]


def test_facts_worked_by_hand(made: Made) -> None:
    """One hop joins two members; two and three go through others, and never back."""
    lines = (
        "IsA\tant\tinsect",
        "IsA\tbee\tinsect",
        "RelatedTo\tbee\tant",
        "UsedFor\tcow\tmilk",
        "RelatedTo\tmilk\twhite",
        "HasA\tswan\twhite",
        "IsA\tant\tant",
        "IsA\tinsect\tanimal",
        "HasContext\tbee\tcow",
    )
    with KnowledgeBase(made(*lines)) as base:
        paper = base.chosen()
        assert paper == ("HasA", "IsA", "RelatedTo", "UsedFor")
        assert facts_of(base, {"ant", "bee"}, paper, 1) == ["bee RelatedTo ant"]
        insects = ["bee RelatedTo ant", "ant IsA insect", "bee IsA insect"]
        assert facts_of(base, {"ant", "bee"}, paper, 2) == insects
        assert facts_of(base, {"ant", "bee"}, paper, 3) == insects
        assert facts_of(base, {"cow", "swan"}, paper, 2) == []
        way = ["cow UsedFor milk", "milk RelatedTo white", "swan HasA white"]
        assert facts_of(base, {"cow", "swan"}, paper, 3) == way
        assert facts_of(base, {"bee", "cow"}, paper, 3) == []
        assert facts_of(base, {"bee", "cow"}, ["HasContext"], 1) == ["bee HasContext cow"]
        assert facts_of(base, {"ant"}, paper, 3) == []


def test_a_seed_chooses_among_equally_heavy_facts(made: Made) -> None:
    """By the digest of seed and fact, not by the alphabet; alike in any knowledge base."""
    lines = [f"RelatedTo\t{letter * 3}\thub" for letter in "abcdefghijklmnopqrstuvwxyz"]
    ends = {letter * 3 for letter in "abcdefghijklmnopqrstuvwxyz"} | {"hub"}
    kept: dict[int, list[str]] = {}
    for more in ([], ["IsA\taaaa\taab"]):
        with KnowledgeBase(made(*lines, *more)) as base:
            for seed in range(4):
                [(facts, found)] = between(base, [ends], ["RelatedTo"], 1, 5, seed)
                heads = [fact[0] for fact in facts]
                assert found == 26
                assert kept.setdefault(seed, heads) == heads
    graph = plain.Graph.of_lines(lines)
    for seed, heads in kept.items():
        chosen = graph.capped(graph.facts(ends, ["RelatedTo"], 1), 5, seed)
        assert heads == [fact.head for fact, _ in chosen]
    assert len({tuple(heads) for heads in kept.values()}) == 4
