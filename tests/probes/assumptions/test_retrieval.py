from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.probes.assumptions.properties import (
    Chosen,
    Concept,
    Worded,
    choose_concepts,
    word_properties,
)
from tacit.probes.assumptions.retrieval import (
    FOUR_ORDERS,
    Asking,
    ByFrequency,
    Shuffled,
    has_ties,
    random_baseline,
    retrieval_prompts,
)
from tacit.requests import Prompt
from tacit.sources.norms import Norms, Property, read_norms
from tests.probes.assumptions.made_up import options

if TYPE_CHECKING:
    from collections.abc import Collection

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
BUCHANAN = DATA / "norms" / "buchanan-features.tsv"
needs_buchanan = pytest.mark.skipif(not BUCHANAN.is_file(), reason="the real norms are not here")


def chosen(norms: Norms, vocabulary: Collection[str] | None = None, **changed: Any) -> Chosen:  # noqa: ANN401 - options
    """The concepts that pass every filter."""
    of = options(norms, **changed)
    return choose_concepts(word_properties(norms, of), of, vocabulary)


def concept(*frequencies: int) -> Concept:
    """A concept of which p0, p1, … are named by so many people."""
    properties = (
        Worded(Property("elk", f"is p{place}", frequency), f"is p{place}")
        for place, frequency in enumerate(frequencies)
    )
    return Concept("elk", "elk", "an", tuple(properties))


def stated(order: ByFrequency | Shuffled, *frequencies: int, most: int = 10) -> str:
    """The places of the properties that an order states."""
    arranged = order.arrange("elk", concept(*frequencies).properties, most)
    return "".join(one.text.removeprefix("is p") for one in arranged)


def test_the_prompts_of_a_concept_to_the_character(norms: Norms) -> None:
    """1 to 10 properties by decreasing frequency, ties in the order of the file."""
    (bear,) = chosen(norms, {"bear"}).concepts
    prompts = retrieval_prompts([bear])
    assert [prompt.n for prompt in prompts] == list(range(1, 11))
    assert {(prompt.concept, prompt.word, prompt.answer) for prompt in prompts} == {
        ("bear", "bear", "bear")
    }
    assert [prompt.text for prompt in prompts[:3]] == [
        "A ___ has fur.",
        "A ___ has fur and has claws.",
        "A ___ has fur, has claws, and is big.",
    ]
    assert prompts[-1].text == (
        "A ___ has fur, has claws, is big, is an animal, eats, lives in woods, is brown, "
        "has paws, growls, and does not fly."
    )
    for prompt in prompts:
        around = Prompt(prompt.text, ("bear",)).around
        assert around is not None
        assert around[0] == "A "


def test_the_blank_may_be_last(norms: Norms) -> None:
    """For models that cannot see what follows it."""
    (bear,) = chosen(norms, {"bear"}).concepts
    prompts = retrieval_prompts([bear], Asking("blank-last"))[:3]
    assert [prompt.text for prompt in prompts] == [
        "Something that has fur is called a ___",
        "Something that has fur and has claws is called a ___",
        "Something that has fur, has claws, and is big is called a ___",
    ]


def test_each_filter_counts_what_it_left_out(norms: Norms) -> None:
    """In the paper's order: sense tag, words, sound, vocabulary, properties."""
    found = chosen(norms, {"bear", "fox", "owl"})
    assert [(step.name, step.removed, step.left) for step in found.steps] == [
        ("has a sense tag", ("seal_(animal)",), 7),
        ("more than one word", ("polar_bear",), 6),
        ("begins with a vowel sound", ("owl", "hour"), 4),
        ("not in the vocabulary", ("unicorn", "tongs"), 2),
        ("fewer than 10 usable properties", ("fox",), 1),
    ]
    assert [one.name for one in found.concepts] == ["bear"]


def test_sense_tags_are_stripped_or_left_out(norms: Norms) -> None:
    """With the preset ``tagged`` the concept stays, and the blank holds the word alone."""
    assert "seal" not in [one.word for one in chosen(norms).concepts]
    found = chosen(norms, concepts="tagged")
    assert [one.word for one in found.concepts] == ["bear", "seal", "unicorn"]
    assert [step.name for step in found.steps] == [
        *("more than one word", "begins with a vowel sound", "fewer than 10 usable properties")
    ]


def test_a_concept_with_nine_properties_needs_a_lower_bound(norms: Norms) -> None:
    """It then has nine prompts."""
    found = chosen(norms, {"fox"}, least=9)
    assert [prompt.n for prompt in retrieval_prompts(found.concepts)] == list(range(1, 10))


def test_the_vocabulary_minds_case(norms: Norms) -> None:
    """Bear is not bear."""
    assert chosen(norms, {"Bear"}).concepts == ()


def test_articles_of_each_candidate_keep_vowels(norms: Norms) -> None:
    """The blank holds the article too, so that it is scored with the word."""
    found = chosen(norms, articles="candidate").concepts
    assert [one.word for one in found] == ["bear", "owl", "unicorn", "hour"]
    prompts = {
        prompt.word: prompt
        for prompt in retrieval_prompts(found, Asking(articles="candidate"))
        if prompt.n == 1
    }
    owl, unicorn = prompts["owl"], prompts["unicorn"]
    assert owl.text == unicorn.text == "___ has legs."
    assert (owl.answer, unicorn.answer) == ("An owl", "A unicorn")
    last = retrieval_prompts(found[1:2], Asking("blank-last", "candidate"))
    assert last[0].text == "Something that has legs is called ___"
    assert last[0].answer == "an owl"


def test_a_category_counts_a_concept_as_far_as_it_has_properties(norms: Norms) -> None:
    """At k properties when it has k of the category (Figure 3a)."""
    (bear,) = chosen(norms, {"bear"}).concepts
    prompts = retrieval_prompts([bear], Asking(category="functional"))
    assert [prompt.text for prompt in prompts] == ["A ___ eats.", "A ___ eats and does not fly."]
    assert retrieval_prompts([bear], Asking(category="smell")) == []


def test_the_four_orders() -> None:
    """Top or bottom, decreasing or increasing; ties are reversed with the order."""
    frequencies = (5, 9, 9, 2, 5, 1)
    assert [(order.name, stated(order, *frequencies, most=3)) for order in FOUR_ORDERS] == [
        ("top-decreasing", "120"),
        ("top-increasing", "021"),
        ("bottom-decreasing", "435"),
        ("bottom-increasing", "534"),
    ]


def test_ties_among_the_first_ten_properties_are_told() -> None:
    """A tie behind the tenth property does not count."""
    assert has_ties(concept(5, 4, 4))
    assert not has_ties(concept(*range(20, 10, -1), 9, 9))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=15), st.integers(1, 12))
def test_orders_select_the_extremes_and_sort_them(frequencies: list[int], most: int) -> None:
    """Against sorting by hand, for any frequencies: one ranking, read from either end."""
    falling = sorted(range(len(frequencies)), key=lambda i: (-frequencies[i], i))
    rising = sorted(range(len(frequencies)), key=lambda i: (frequencies[i], -i))
    for order in FOUR_ORDERS:
        chosen = set((falling if order.selection == "top" else rising)[:most])
        every = falling if order.direction == "decreasing" else rising
        arranged = order.arrange("elk", concept(*frequencies).properties, most)
        assert [one.text for one in arranged] == [f"is p{i}" for i in every if i in chosen]


def test_the_random_baseline_has_five_orders_of_five_sets() -> None:
    """Orders of one set hold the same properties; sets differ; all is the same each time."""
    frequencies = range(30)
    drawn = {one.name: stated(one, *frequencies, most=10) for one in random_baseline()}
    assert len(drawn) == 25
    assert len(set(drawn.values())) == 25
    sets = {name: "".join(sorted(drawn[name])) for name in drawn}
    assert len(set(sets.values())) == 5
    for name, members in sets.items():
        assert members == sets[f"{name[:-1]}1"]
    assert drawn == {one.name: stated(one, *frequencies, most=10) for one in random_baseline()}
    assert drawn != {one.name: stated(one, *frequencies, most=10) for one in random_baseline(1)}


def test_a_draw_does_not_depend_on_other_concepts_or_the_files_order() -> None:
    """It follows from the seed, the concept and its features; another concept draws otherwise."""
    properties = list(concept(*range(20)).properties)
    first = Shuffled(2, 3, seed=7).arrange("elk", properties, 10)
    assert len({one.text for one in first}) == 10
    random.Random(0).shuffle(properties)  # noqa: S311 - no secret
    assert Shuffled(2, 3, seed=7).arrange("elk", properties, 10) == first
    assert Shuffled(2, 3, seed=7).arrange("owl", properties, 10) != first


def test_a_random_set_is_uniform() -> None:
    """Over many seeds each of 6 properties is drawn in half of the sets of 3."""
    drawn = [stated(Shuffled(seed=seed), *range(6), most=3) for seed in range(2000)]
    for place in "012345":
        assert abs(sum(place in one for one in drawn) / len(drawn) - 0.5) < 0.05


@needs_buchanan
def test_the_real_norms_make_prompts_of_what_can_be_worded() -> None:
    """Most of what participants typed are bare words; all that is passed over is counted."""
    norms = read_norms(BUCHANAN)
    assert word_properties(norms, options(norms)).counts["no wording"] > 22000
    found = chosen(norms, least_people=2, most_words=6)
    assert [one.word for one in found.concepts] == [
        *("couch", "fingers", "garlic", "hammer", "house", "squirrel", "surfboard", "tree"),
        "zebra",
    ]
    prompts = retrieval_prompts(found.concepts)
    assert len(prompts) == 90
    assert prompts[-1].text == (
        "A ___ has stripes, lives in africa, is an animal, eats grass, has a tail, has hooves, "
        "is a mammal, is black and white, lives in the wild, and looks like a horse."
    )
