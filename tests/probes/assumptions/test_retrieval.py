import random
from collections.abc import Collection
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tacit.probes.assumptions.properties import (
    Chosen,
    Concept,
    Worded,
    choose_concepts,
    word_properties,
)
from tacit.probes.assumptions.retrieval import ORDERS, RANDOM_ORDERS, Retrieval, arranged, has_ties
from tacit.requests import Prompt, Vocabulary
from tacit.sources.norms import Norms, Property, read_norms
from tests.probes.assumptions.made_up import BUCHANAN, needs_buchanan, options


def chosen(norms: Norms, vocabulary: Collection[str] | None = None, **changed: Any) -> Chosen:  # noqa: ANN401 - options
    of = options(norms, **changed)
    return choose_concepts(word_properties(norms, of), of, vocabulary)


def concept(*frequencies: int) -> Concept:
    """A concept of which p0, p1, … are named by so many people."""
    properties = (
        Worded(Property("elk", f"is p{place}", frequency), f"is p{place}")
        for place, frequency in enumerate(frequencies)
    )
    return Concept("elk", "elk", "an", tuple(properties))


def stated(order: str, *frequencies: int, most: int = 10, seed: int = 0) -> str:
    """The places of the properties that an order states."""
    some = arranged(order, "elk", concept(*frequencies).properties, most=most, seed=seed)
    return "".join(one.text.removeprefix("is p") for one in some)


def texts(of: Concept, category: str | None = None, **how: Any) -> list[str]:  # noqa: ANN401 - fields
    asked = Retrieval([of], Vocabulary([of.word]), **how)
    return [prompt.text for prompt in asked.of(of, category=category)]


def test_the_prompts_of_a_concept_to_the_character(norms: Norms) -> None:
    """1 to 10 properties by decreasing frequency, ties in the order of the file."""
    (bear,) = chosen(norms, {"bear"}).concepts
    prompts = texts(bear)
    assert prompts[:3] == [
        "A ___ has fur.",
        "A ___ has fur and has claws.",
        "A ___ has fur, has claws, and is big.",
    ]
    assert len(prompts) == 10
    assert prompts[9] == (
        "A ___ has fur, has claws, is big, is an animal, eats, lives in woods, is brown, "
        "has paws, growls, and does not fly."
    )
    for prompt in prompts:
        around = Prompt(prompt, ("bear",)).around
        assert around is not None
        assert around[0] == "A "
    assert texts(bear, wording="blank-last")[:3] == [
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
    # With the preset "tagged" the concept stays, and the blank holds the word alone.
    assert "seal" not in [one.word for one in chosen(norms).concepts]
    found = chosen(norms, concepts="tagged")
    assert [one.word for one in found.concepts] == ["bear", "seal", "unicorn"]
    assert [step.name for step in found.steps] == [
        *("more than one word", "begins with a vowel sound", "fewer than 10 usable properties")
    ]


def test_a_category_counts_a_concept_as_far_as_it_has_properties(norms: Norms) -> None:
    """At k properties when it has k of the category (Figure 3a)."""
    assert has_ties(concept(5, 4, 4))
    assert not has_ties(concept(*range(20, 10, -1), 9, 9))
    (bear,) = chosen(norms, {"bear"}).concepts
    assert texts(bear, "functional") == ["A ___ eats.", "A ___ eats and does not fly."]
    assert texts(bear, "smell") == []


@given(st.lists(st.integers(0, 5), min_size=1, max_size=15), st.integers(1, 12))
def test_orders_select_the_extremes_and_sort_them(frequencies: list[int], most: int) -> None:
    """Against sorting by hand, for any frequencies: one ranking, read from either end."""
    falling = sorted(range(len(frequencies)), key=lambda i: (-frequencies[i], i))
    rising = sorted(range(len(frequencies)), key=lambda i: (frequencies[i], -i))
    for order in ORDERS:
        chosen = set((falling if order.startswith("top") else rising)[:most])
        every = falling if order.endswith("decreasing") else rising
        some = arranged(order, "elk", concept(*frequencies).properties, most=most)
        assert [one.text for one in some] == [f"is p{i}" for i in every if i in chosen]


def test_the_random_baseline_has_five_orders_of_five_sets() -> None:
    """Orders of one set hold the same properties; sets differ; all is the same each time."""
    drawn = {one: stated(one, *range(30)) for one in RANDOM_ORDERS}
    assert len(drawn) == 25
    assert len(set(drawn.values())) == 25
    sets = {name: "".join(sorted(drawn[name])) for name in drawn}
    assert len(set(sets.values())) == 5
    for name, members in sets.items():
        assert members == sets[f"{name[:-1]}1"]
    assert drawn == {one: stated(one, *range(30)) for one in RANDOM_ORDERS}
    assert drawn != {one: stated(one, *range(30), seed=1) for one in RANDOM_ORDERS}
    some = [stated("random-1-1", *range(6), most=3, seed=seed) for seed in range(2000)]
    for place in "012345":
        assert abs(sum(place in one for one in some) / len(some) - 0.5) < 0.05


def test_a_draw_does_not_depend_on_other_concepts_or_the_files_order() -> None:
    """It follows from the seed, the concept and its features; another concept draws otherwise."""
    properties = list(concept(*range(20)).properties)
    first = arranged("random-2-3", "elk", properties, seed=7)
    assert len({one.text for one in first}) == 10
    random.Random(0).shuffle(properties)  # noqa: S311 - no secret
    assert arranged("random-2-3", "elk", properties, seed=7) == first
    assert arranged("random-2-3", "owl", properties, seed=7) != first


@needs_buchanan
def test_the_real_norms_make_prompts_of_what_can_be_worded() -> None:
    """Most of what participants typed are bare words; all that is passed over is counted."""
    norms = read_norms(BUCHANAN)
    left_out = word_properties(norms, options(norms)).left_out
    assert [reason for _, reason in left_out].count("no wording") > 22000
    unused = sum(one.frequency for one, _ in left_out)
    named = sum(one.frequency for one in norms.properties)
    assert round(1 - unused / named, 3) == 0.154, "as the registry says"
    found = chosen(norms, least_people=2, most_words=6)
    assert [one.word for one in found.concepts] == [
        *("couch", "fingers", "garlic", "hammer", "house", "squirrel", "surfboard", "tree"),
        "zebra",
    ]
    prompts = [text for one in found.concepts for text in texts(one)]
    assert len(prompts) == 90
    assert prompts[-1] == (
        "A ___ has stripes, lives in africa, is an animal, eats grass, has a tail, has hooves, "
        "is a mammal, is black and white, lives in the wild, and looks like a horse."
    )
