from pathlib import Path

import yaml

from tacit.probes.assumptions import load_templates
from tacit.probes.assumptions.wording import (
    american,
    bare,
    is_plural,
    is_tagged,
    names,
    predicate,
    singular,
    spellings,
    worded,
)


def test_a_feature_is_worded() -> None:
    """In the third person, with the first of each token's alternatives."""
    expected = {
        "has fur_hair": "has fur",
        "is listened to": "is listened to",
        "does eat": "eats",
        "does eats grass": "eats grass",
        "does have legs": "has legs",
        "does run and jump": "runs and jumps",
        "does usually sleep": "usually sleeps",
        "does not fly": "does not fly",
        "do eat": "eats",
        "are big": "is big",
        "have fur": "has fur",
        "can fly": "can fly",
        "cannot swim.": "cannot swim",
        "a fruit": "is a fruit",
        "used for cooking": "is used for cooking",
        "part of a tree": "is part of a tree",
        "eats": "eats",
        "requires air": "requires air",
        "smells bad": "smells bad",
    }
    assert {feature: predicate(feature) for feature in expected} == expected


def test_what_cannot_be_told_has_no_wording() -> None:
    """Bare words, what was cut off, and verbs in other forms."""
    features = (
        *("god", "smells", "different colours", "in water", "leaves on tree", "is", "has a", "_"),
        *("can be", "used to", "made support", "does flying", "does slowly"),
    )
    assert [feature for feature in features if predicate(feature) is not None] == []


def test_a_property_that_names_its_concept_is_told() -> None:
    """A whole word, inflected, in any case; no part of it, irregular form, or sense tag."""
    expected = {
        ("is a Bear", "bear"): True,
        ("eats mice", "mouse"): True,
        ("flies", "fly"): True,
        ("is used for hammering", "hammer"): True,
        ("is a foot", "feet"): True,
        ("is a seal", "seal_(animal)"): True,
        ("is a kind of T-shirt", "t-shirt"): True,
        ("has bearskin", "bear"): False,
        ("flew to the moon", "fly"): False,
        ("is a bear", "polar_bear"): False,
        ("is made of glass", "glasses"): False,
    }
    assert {each: names(*each) for each in expected} == expected


def test_sense_tags_are_stripped() -> None:
    assert [bare(one) for one in ("seal_(animal)", "bat (club)", "polar_bear", "(x)")] == [
        *("seal", "bat", "polar bear", "(x)")
    ]
    assert [is_tagged(one) for one in ("seal_(animal)", "polar_bear")] == [True, False]


def test_the_paper_is_quoted_to_the_character() -> None:
    """Prince's examples (Table 3) and the preface (Table 1)."""
    templates = load_templates()
    assert templates.preface == "Everyone knows that "
    assert {concept: one.text for concept, one in templates.prince.items()} == {
        "person": "A ___ has parents, siblings, relatives, a home, a pet, a car, a spouse, a job.",
        "country": (
            "A ___ has a leader, a duke, borders, a president, a queen, citizens, land, "
            "a language, and a history."
        ),
    }
    for one in templates.prince.values():
        said = [word for words in one.completions.values() for word in words]
        assert all(word in one.text for word in said)
        assert len(said) == one.text.count(",") + 1


PLURAL = "jeans, beans, mice, sunglasses, glasses, tongs, sets_of_keys, shorts"
SINGULAR = "bear, bus, rhinoceros, asparagus, glass, lens, sheep, rice, seal_(x)"


def test_plurals_are_told_and_have_a_singular() -> None:
    """By the lists, the lexicon, and the s of what neither knows; scissors have none."""
    for concepts, plural in ((PLURAL, True), (SINGULAR, False)):
        assert [one for one in concepts.split(", ") if is_plural(one) != plural] == []
    words = ("handles", "feet", "keyrings", "bus", "series", "scissors")
    expected = ["handle", "foot", "keyring", "bus", "series", None]
    assert [singular(word) for word in words] == expected


def test_spellings_go_both_ways() -> None:
    """Plurals, capitals and pieces between hyphens too; most words have one."""
    expected: dict[str, tuple[str, ...]] = {
        "grey": ("grey", "gray"),
        "Grey": ("Grey", "Gray"),
        "tyres": ("tyres", "tires"),
        "multi-coloured": ("multi-coloured", "multi-colored"),
        "big": ("big",),
    }
    assert {word: spellings(word) for word in expected} == expected
    for word, both in expected.items():
        assert {american(one) for one in both} == {american(word)}


def test_the_pairs_of_spellings_are_pairs() -> None:
    """Two different words in lower case; no word is in two pairs."""
    path = Path(__file__).parents[3] / "src/tacit/data/templates/spellings.yaml"
    pairs: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    both = [*pairs, *pairs.values()]
    assert all(isinstance(word, str) and word.isalpha() and word.islower() for word in both)
    assert len(set(both)) == len(both)


def test_a_bare_alternative_takes_the_verb_of_its_feature() -> None:
    """And its preposition and article; an alternative with a verb stands as it is."""
    expected = {
        ("keyboard", "has a keyboard_keys"): "has a keyboard",
        ("long neck", "has a long neck"): "has a long neck",
        ("metal", "made of steel_metal"): "is made of metal",
        ("metal", "is made of steel"): "is made of metal",
        ("for cooking", "is used for frying"): "is used for cooking",
        ("to cut", "used to chop"): "is used to cut",
        ("woods", "does live in forests"): "lives in woods",
        ("growl", "does growl_roar"): "growls",
        ("leaves", "does eat leaves"): "eats leaves",
        ("a mammal", "is an animal"): "is a mammal",
        ("furry", "has fur"): "is furry",
        ("good for you", "is healthy"): "is good for you",
        ("not dangerous", "is harmless"): "is not dangerous",
        ("does live in woods", "is found in forests_woods"): "lives in woods",
        ("a keyboard", "god"): None,
        ("of the", "does eat grass"): None,
    }
    assert {each: worded(*each) for each in expected} == expected
