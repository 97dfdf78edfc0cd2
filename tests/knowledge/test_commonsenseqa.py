"""CommonsenseQA's development split with CN-100K, against an extraction by hand."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit.knowledge.background import Background, background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.options import CAP, BackgroundOptions
from tacit.sources.questions import read_anchors
from tests.fetched_data import CSQA
from tests.knowledge import plain


@dataclass(frozen=True)
class Questions:
    """The questions, the graph, and by hand the concepts of each part of each question."""

    texts: list[tuple[str, ...]]
    graph: plain.Graph
    within: list[list[set[str]]]

    @property
    def concepts(self) -> list[set[str]]:
        """The concepts of each question."""
        return [set[str]().union(*parts) for parts in self.within]


@pytest.fixture(scope="module")
def questions(graph: plain.Graph) -> Questions:
    """51 questions, evenly over the file."""
    if not CSQA.is_file():
        pytest.skip("CommonsenseQA is not here")
    texts = [(anchor.question, *anchor.choices) for anchor in read_anchors(CSQA)][::24]
    labels = plain.Labels(graph.labels)
    return Questions(texts, graph, [labels.within(parts) for parts in texts])


def facts_of(found: Background, n: int) -> list[list[tuple[plain.Fact, int]]]:
    facts: list[list[tuple[plain.Fact, int]]] = [[] for _ in range(n)]
    columns = ("anchor", "head", "relation", "tail", "length")
    for question, *fact, length in found.facts.select(columns).iter_rows():
        facts[question].append((plain.Fact(*fact), length))
    return facts


@pytest.mark.parametrize("length", [1, 2, 3])
def test_concepts_facts_and_counts_agree(cn100k: Path, questions: Questions, length: int) -> None:
    """The facts that the cap keeps, and how many there are without it."""
    members, graph = questions.concepts, questions.graph
    with KnowledgeBase(cn100k) as base:
        found = background(base, questions.texts, BackgroundOptions(length=length))
        relations = base.chosen()
    concepts: list[set[str]] = [set() for _ in members]
    for question, concept in found.concepts.iter_rows():
        concepts[question].add(concept)
    assert concepts == members
    every = [graph.facts(concepts, relations, length) for concepts in members]
    assert found.found["found"].to_list() == [len(facts) for facts in every]
    if length > 1:
        kept = [graph.capped(facts, CAP) for facts in every]
        cut = [len(facts) - CAP for facts in every if len(facts) > CAP]
        assert facts_of(found, len(members)) == kept
        assert found.counts["questions_beyond_cap"] == len(cut) > 0
        assert found.counts["facts_beyond_cap"] == sum(cut)
        return
    assert facts_of(found, len(members)) == every
    assert found.counts["question_concepts"] == sum(map(len, concepts))
    joined = [
        (parts, {fact.head, fact.tail})
        for parts, facts in zip(questions.within, every, strict=True)
        for fact, _ in facts
    ]
    assert found.counts["question_facts"] == len(joined)
    assert found.counts["facts_across_parts"] == sum(
        not any(ends <= part for part in parts) for parts, ends in joined
    )
    assert found.counts["facts_sharing_a_word"] == sum(
        plain.shares_a_word(*sorted(ends)) for _, ends in joined
    )


def test_fridge_and_bookcase_are_concepts(cn100k: Path) -> None:
    """The lexicon lists neither; "fridge AtLocation home" is a fact of CN-100K."""
    texts = ("Where would you put milk at home?", "fridge", "bookcase")
    with KnowledgeBase(cn100k) as base:
        found = background(base, [texts])
    assert {"fridge", "bookcase"} <= set(found.concepts["concept"])
    facts = set(found.facts.select("head", "relation", "tail").iter_rows())
    assert ("fridge", "AtLocation", "home") in facts
