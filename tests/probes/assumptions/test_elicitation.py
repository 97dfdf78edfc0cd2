from __future__ import annotations

from collections import Counter

import pytest

from tacit.probes.assumptions.corrections import Correction
from tacit.probes.assumptions.elicitation import Elicited, elicit, elicitation_text
from tacit.requests import Prompt
from tacit.sources.norms import Norms
from tests.probes.assumptions.made_up import options


def words(prompt: Elicited) -> dict[str, int]:
    return {one.word: one.frequency for one in prompt.responses}


def test_the_prompts_of_a_concept(norms: Norms) -> None:
    """One for each relation that people completed in one word, all alternatives counted."""
    asked = elicit(norms, options(norms, responses="feature")).prompts
    found = {one.relation: one for one in asked if one.concept == "bear"}
    assert {name: words(one) for name, one in found.items()} == {
        "is": {"big": 15, "large": 15, "brown": 9},
        "is a": {"bear": 20, "animal": 11},
        "has": {"fur": 27, "hair": 27, "claws": 15, "paws": 7},
        "made of": {"fluff": 2, "down": 2},
    }


@pytest.mark.parametrize(
    ("relation", "concept", "text"),
    [
        ("is", "bear", "a bear is ___."),
        ("is a", "owl", "an owl is a ___."),
        ("has", "polar_bear", "a polar bear has ___."),
        ("has a", "seal_(animal)", "a seal has a ___."),
        ("made of", "hour", "an hour is made of ___."),
    ],
)
def test_texts_have_the_concepts_article_and_no_sense_tag(
    relation: str, concept: str, text: str
) -> None:
    """By its sound; phrases keep their words."""
    assert elicitation_text(relation, concept, "sentence") == f"Everyone knows that {text}"


def test_the_ablation_and_the_last_blank() -> None:
    """Without the preface the sentence begins with a capital; the last blank has no full stop."""
    assert elicitation_text("is", "bear", "sentence", preface=False) == "A bear is ___."
    last = elicitation_text("is", "bear", "blank-last")
    assert last == "Everyone knows that a bear is ___"
    assert Prompt(last, ("big",)).around == ("Everyone knows that a bear is ", "")


def test_concepts_are_one_word_untagged_and_singular(norms: Norms) -> None:
    """Or by preset; the others have a prompt or are counted as without, for each relation."""
    filters = {
        "has a sense tag": ("seal_(animal)",),
        "more than one word": ("polar_bear",),
        "plural": ("tongs",),
    }
    for at, preset in enumerate(("paper", "tagged", "all")):
        found = elicit(norms, options(norms, concepts=preset))
        steps = {(step.of, step.name): step for step in found.steps}
        for name, removed in list(filters.items())[at:]:
            assert steps["concepts for elicitation", name].removed == removed
    asked = Counter(one.relation for one in found.prompts)
    for relation, count in {"is": 1, "is a": 1, "has": 7, "has a": 0, "made of": 1}.items():
        without = steps[f"concepts for “{relation}”", "no response"]
        assert (asked[relation], without.left, len(without.removed)) == (count, count, 7 - count)


def test_corrections_and_rare_properties(norms: Norms) -> None:
    """A correction stands for all that a property gave; the least frequency leaves out the rest."""
    found = elicit(norms, options(norms, least_people=8), [Correction("has fur_hair", "has fluff")])
    (bear,) = [one for one in found.prompts if (one.concept, one.relation) == ("bear", "has")]
    assert words(bear) == {"fluff": 27, "claws": 15}
