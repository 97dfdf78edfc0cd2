from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import (
    american,
    bare,
    is_plural,
    is_tagged,
    names,
    predicate,
    singular,
    spellings,
)


@pytest.mark.parametrize(
    ("feature", "said"),
    [
        ("has fur_hair", "has fur"),
        ("is big_large", "is big"),
        ("is an animal", "is an animal"),
        ("is listened to", "is listened to"),
        ("does catch_chase mice_rats", "catches mice"),
        ("made of metal", "is made of metal"),
        ("does eat", "eats"),
        ("does eats grass", "eats grass"),
        ("does live in woods", "lives in woods"),
        ("does fly", "flies"),
        ("does go fast", "goes fast"),
        ("does have legs", "has legs"),
        ("does be loud", "is loud"),
        ("does do tricks", "does tricks"),
        ("does lay eggs", "lays eggs"),
        ("does shed_moult hair", "sheds hair"),
        ("does echo", "echoes"),
        ("does run and jump", "runs and jumps"),
        ("does usually sleep", "usually sleeps"),
        ("does not fly", "does not fly"),
        ("do eat", "eats"),
        ("are big", "is big"),
        ("have fur", "has fur"),
        ("can fly", "can fly"),
        ("cannot swim.", "cannot swim"),
        ("a fruit", "is a fruit"),
        ("used for cooking", "is used for cooking"),
        ("found on farms", "is found on farms"),
        ("cut off", "is cut off"),
        ("part of a tree", "is part of a tree"),
        ("eats", "eats"),
        ("requires air", "requires air"),
        ("smells bad", "smells bad"),
    ],
)
def test_a_feature_is_worded(feature: str, said: str) -> None:
    """In the third person, with the first of each token's alternatives."""
    assert predicate(feature) == said


@pytest.mark.parametrize(
    "feature",
    [
        *("god", "wings", "smells", "different colours", "in water", "it flies", "leaves on tree"),
        *("is", "does", "does not", "has a", "can be", "used to", "made support", "_", ""),
        *("does flying", "does slowly", "the opposite of clean"),
    ],
)
def test_what_cannot_be_told_has_no_wording(feature: str) -> None:
    """Bare words, what was cut off, and verbs in other forms."""
    assert predicate(feature) is None


@pytest.mark.parametrize(
    ("said", "concept", "named"),
    [
        ("is a bear", "bear", True),
        ("is a Bear", "bear", True),
        ("likes bears", "bear", True),
        ("lives in a bear's cave", "bear", True),
        ("eats mice", "mouse", True),
        ("flies", "fly", True),
        ("is used for hammering", "hammer", True),
        ("is close to closing", "close", True),
        ("is a foot", "feet", True),
        ("is a polar bear", "polar_bear", True),
        ("likes polar bears", "polar_bear", True),
        ("is a seal", "seal_(animal)", True),
        ("is a kind of T-shirt", "t-shirt", True),
        ("has bearskin", "bear", False),
        ("is born in winter", "bear", False),
        ("flew to the moon", "fly", False),
        ("is a bear", "polar_bear", False),
        ("is an animal", "seal_(animal)", False),
        ("is made of glass", "glasses", False),
    ],
)
def test_a_property_that_names_its_concept_is_told(said: str, concept: str, *, named: bool) -> None:
    """A whole word, inflected, in any case; no part of it, irregular form, or sense tag."""
    assert names(said, concept) is named


def test_sense_tags_are_stripped() -> None:
    """With their underscore; other underscores are spaces."""
    assert [bare(one) for one in ("seal_(animal)", "bat (club)", "polar_bear", "(x)")] == [
        *("seal", "bat", "polar bear", "(x)")
    ]
    assert [is_tagged(one) for one in ("seal_(animal)", "polar_bear")] == [True, False]


def test_the_paper_is_quoted_to_the_character() -> None:
    """Prince's examples (Table 3) and the preface (Table 1)."""
    templates = load_templates()
    assert templates.preface == "Everyone knows that "
    assert [(concept, one.text) for concept, one in templates.prince.items()] == [
        (
            "person",
            "A ___ has parents, siblings, relatives, a home, a pet, a car, a spouse, a job.",
        ),
        (
            "country",
            (
                "A ___ has a leader, a duke, borders, a president, a queen, citizens, land, "
                "a language, and a history."
            ),
        ),
    ]
    for one in templates.prince.values():
        said = [word for words in one.completions.values() for word in words]
        assert all(word in one.text for word in said)
        assert len(said) == one.text.count(",") + 1


@pytest.mark.parametrize(
    ("concept", "plural"),
    [
        *[(one, True) for one in ("jeans", "scissors", "beans", "mice", "feet", "sunglasses")],
        *[(one, True) for one in ("glasses", "tongs", "sets_of_keys", "shorts")],
        *[(one, False) for one in ("bear", "bus", "rhinoceros", "asparagus", "glass", "lens")],
        *[
            (one, False)
            for one in ("sheep", "compass", "iris", "rice", "christmas_tree", "seal_(x)")
        ],
    ],
)
def test_plurals_are_told(concept: str, plural: bool) -> None:  # noqa: FBT001 - a test's parameter
    """By the lists, the lexicon, and the s of what neither knows."""
    assert is_plural(concept) is plural


@pytest.mark.parametrize(
    ("word", "one"),
    [
        *(("handles", "handle"), ("feet", "foot"), ("keyrings", "keyring"), ("handle", "handle")),
        *(("bus", "bus"), ("series", "series"), ("scissors", None), ("glasses", None)),
    ],
)
def test_the_singular_of_a_word(word: str, one: str | None) -> None:
    """A word that is only used in the plural has none."""
    assert singular(word) == one


@pytest.mark.parametrize(
    ("word", "both"),
    [
        ("grey", ("grey", "gray")),
        ("gray", ("gray", "grey")),
        ("Grey", ("Grey", "Gray")),
        ("tyres", ("tyres", "tires")),
        ("fibers", ("fibers", "fibres")),
        ("multi-coloured", ("multi-coloured", "multi-colored")),
        ("big", ("big",)),
        ("glass", ("glass",)),
    ],
)
def test_spellings_go_both_ways(word: str, both: tuple[str, ...]) -> None:
    """Plurals, capitals and pieces between hyphens too; most words have one."""
    assert spellings(word) == both
    assert {american(one) for one in both} == {american(word)}


def test_the_pairs_of_spellings_are_pairs() -> None:
    """Two different words in lower case; no word is in two pairs."""
    path = Path(__file__).parents[3] / "src/tacit/data/templates/spellings.yaml"
    pairs: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    both = [*pairs, *pairs.values()]
    assert all(isinstance(word, str) and word.isalpha() and word.islower() for word in both)
    assert len(set(both)) == len(both)
    lines = [line.split(":")[0] for line in path.read_text().splitlines() if ":" in line]
    assert sorted(set(lines[-len(pairs) :])) == sorted(pairs)
