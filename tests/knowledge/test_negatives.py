from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from wordfreq import word_frequency

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.negatives import _of_all_possible, negatives
from tacit.knowledge.options import BackgroundOptions
from tests.knowledge import plain
from tests.knowledge.conftest import Made

# All of them are listed in the lexicon.
NAMES = (
    "ant badger bear bee bird bull camel cat cow crab crow deer dog dolphin donkey duck eagle eel "
    "elephant fish fly fox frog goat goose horse lamb lion lizard monkey mouse owl pig rabbit rat "
    "seal shark sheep snake spider swan tiger toad turkey turtle whale wolf worm"
)
ANIMALS = NAMES.split()
RELATIONS = st.sampled_from(["IsA", "RelatedTo"])
CONCEPTS = st.sampled_from([*ANIMALS[:6], "the zoo"])
# None of which may be a negative, because they have two words.
HEADS = [f"zoo {number}" for number in range(1500)]


def facts_of(base: KnowledgeBase, where: str = "true") -> pl.DataFrame:
    return base.table(f"""
        SELECT DISTINCT e.head, e.relation, e.tail FROM base.edges e
            JOIN base.relations r ON r.id = e.relation JOIN base.concepts h ON h.id = e.head
            JOIN base.concepts t ON t.id = e.tail
        WHERE e.head <> e.tail AND ({where}) ORDER BY ALL""")  # noqa: S608 - its own words


def drawn(
    base: KnowledgeBase, facts: pl.DataFrame, options: BackgroundOptions | None = None
) -> list[tuple[plain.Fact, str | None]]:
    """Each fact with its negative, in labels and in the facts' order."""
    table = negatives(base, facts, options)
    assert table.drop("negative", "relaxed").equals(facts)
    labels = base.table("SELECT label FROM base.concepts ORDER BY id")["label"].to_list()
    names = base.table("SELECT name FROM base.relations ORDER BY id")["name"].to_list()
    return [
        (
            plain.Fact(labels[head], names[relation], labels[tail]),
            None if negative is None else labels[negative],
        )
        for head, relation, tail, negative in table.drop("relaxed").iter_rows()
    ]


def farm(*lines: str, animals: Sequence[str] = ANIMALS) -> list[str]:
    """Lines of facts, and others that make the animals concepts."""
    return [*lines, *(f"HasContext\t{animal}\tthe farm" for animal in animals)]


@settings(max_examples=5)
@given(
    st.lists(st.tuples(RELATIONS, CONCEPTS, CONCEPTS).map("\t".join), min_size=9, max_size=30),
    st.builds(BackgroundOptions, seed=st.integers(0, 99), frequent=st.integers(1, 6)),
)
def test_a_negative_is_one_that_is_possible(
    made: Made, lines: list[str], draw: BackgroundOptions
) -> None:
    graph = plain.Graph.of_lines(lines)
    pool = graph.dictionary_words()[: draw.frequent]
    with KnowledgeBase(made(*lines)) as base:
        for fact, negative in drawn(base, facts_of(base), draw):
            possible: set[str | None] = {*graph.possible(fact, pool)}
            assert negative in (possible or {None})


def test_only_the_most_frequent_words_are_drawn(cn100k: Path, graph: plain.Graph) -> None:
    """Of two words as frequent as each other the first by the alphabet is among so many."""
    words = graph.dictionary_words()
    frequency = [word_frequency(word, "en") for word in words]
    tie = next(k for k in range(300, 1000) if frequency[k - 1] == frequency[k])
    with KnowledgeBase(cn100k) as base:
        pairs = drawn(base, facts_of(base, "e.head % 5 = 0"), BackgroundOptions(frequent=tie))
    assert {negative for _, negative in pairs} == set(words[:tie])
    assert all(graph.is_negative(fact, negative or fact.head) for fact, negative in pairs)


def test_negatives_are_the_same_in_another_knowledge_base(made: Made) -> None:
    """A fact's draws follow from its words: other concepts' numbers do not change them."""
    lines = farm(*(f"IsA\t{animal}\tpet" for animal in ANIMALS))
    with (
        KnowledgeBase(made(*lines)) as one,
        KnowledgeBase(
            made(*lines, "Antonym\taardvark of old\ta a a", "AtLocation\tb c\td e")
        ) as two,
    ):
        pets = "t.label = 'pet'"
        assert drawn(one, facts_of(one, pets)) == drawn(two, facts_of(two, pets))


def test_another_seed_draws_others(cn100k: Path) -> None:
    """With another seed hardly a negative stays; with the same all do."""
    with KnowledgeBase(cn100k) as base:
        facts = facts_of(base, "e.head % 100 = 0")
        first = drawn(base, facts)
        assert drawn(base, facts, BackgroundOptions(seed=0)) == first
        other = drawn(base, facts, BackgroundOptions(seed=1))
    same = sum(one == two for one, two in zip(first, other, strict=True))
    assert 0 <= same < len(first) / 100


def test_all_that_are_possible_are_drawn_alike(made: Made) -> None:
    """Over 1,500 heads each possible tail comes about as often as any other."""
    lines = farm(*(f"IsA\t{head}\tdog" for head in HEADS))
    with KnowledgeBase(made(*lines)) as base:
        tails = Counter(tail for _, tail in drawn(base, facts_of(base, "t.label = 'dog'")))
    assert set(tails) == {*ANIMALS} - {"dog"}
    assert chisquare(list(tails.values())).pvalue > 0.01


def test_facts_of_one_head_and_relation_draw_apart(made: Made) -> None:
    """Two facts that share head and relation have the same negative no oftener than by chance."""
    lines = farm(*(f"IsA\t{head}\t{tail}" for head in HEADS for tail in ("dog", "cat")))
    with KnowledgeBase(made(*lines)) as base:
        pairs = drawn(base, facts_of(base, "t.label IN ('dog', 'cat')"))
    tails: dict[str, list[str | None]] = {}
    for fact, negative in pairs:
        tails.setdefault(fact.head, []).append(negative)
    same = sum(len(set(both)) == 1 for both in tails.values())
    possible = len(ANIMALS) - 2
    expected = [len(HEADS) / possible, len(HEADS) * (1 - 1 / possible)]
    assert chisquare([same, len(HEADS) - same], expected).pvalue > 0.01


def test_a_head_joined_to_nearly_all_draws_from_those_left(made: Made) -> None:
    """Where tries find none, one is drawn from all that are possible, each as often as another."""
    left = {"ant", "owl", "worm"}
    heads = HEADS[:300]
    joined = [
        f"IsA\t{head}\t{animal}" for head in heads for animal in ANIMALS if animal not in left
    ]
    with KnowledgeBase(made(*farm(*joined))) as base:
        facts = facts_of(base, "t.label = 'dog'")
        with (
            patch("tacit.knowledge.negatives._ROUNDS", 1),
            patch("tacit.knowledge.negatives._of_all_possible", wraps=_of_all_possible) as exhaust,
        ):
            tails = Counter(tail for _, tail in drawn(base, facts))
            [call] = exhaust.call_args_list
        assert 100 < call.args[1].height < 250
        assert set(tails) == left
        assert chisquare(list(tails.values())).pvalue > 0.01
        with patch("tacit.knowledge.negatives._of_all_possible", wraps=_of_all_possible) as exhaust:
            assert {tail for _, tail in drawn(base, facts)} == left
            assert exhaust.call_count == 1
