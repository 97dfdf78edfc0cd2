from collections import Counter
from pathlib import Path

import pytest

from tacit.probes.assumptions.corrections import Correction
from tacit.probes.assumptions.elicitation import elicit, elicitation_text
from tacit.probes.assumptions.options import ResponsePreset
from tacit.probes.assumptions.responses import Response, completion
from tacit.requests import Prompt
from tacit.sources.norms import Norms
from tests.probes.assumptions.made_up import norms_of, options

HAIR = "bear\thas fur_hair\t5\thas fur;has hair\t1 2 3;4 5"
COAT = "bear\thas fur\t4\thas fur;fur;has a coat\t1 2 3;3 4;5"
KEYS = "accordion\thas keys\t5\thas keys;a keyboard\t1 2 3;4 5"
PAN = "pan\tmade of wood_timber\t4\tmade of oak; wooden; is wooden_brown\t"
SAID_OF_A_PAN = "is wooden 4, is brown 4, made of wood 4, made of timber 4, made of oak 4"
SHIFTED = "bus\thas wheels\t9\thas windows;windows\t1;2\nbus\thas windows\t2\thas speed\t1;2"
UNCOUNTED = "bus\thas wheels_tyres\t9\thas wheels;has tyres\t1;2;3\nbus\tis big_large\t4\t\t"
RED = "bus\tis red_scarlet\t5\tis red;is scarlet\t"
HANDLES = "mug\thas a handle_handles\t9\thas a handle;has a handles;has handles\t1 2 3;3 4;5 6"
FEATHERS = "owl\thas feather_feathers\t5\thas feather;has feathers\t1;2 3 4 5"
FURS = "elk\thas fur_furs\t5\thas fur;has furs\t1 2 3;4"
HORNS = "ox\thas horn_horns\t4\thas horn;has horns\t1 2;3 4"


@pytest.mark.parametrize(
    ("fact", "preset", "rows", "expected"),
    [
        ("an alternative has its own people", "people", HAIR, "has fur 3, has hair 2"),
        ("or those of its feature", "feature", HAIR, "has fur 5, has hair 5"),
        ("or is not counted", "first", HAIR, "has fur 5"),
        ("a person counts once", "people", COAT, "has fur 4, has a coat 1"),
        ("a bare alternative takes a verb", "people", KEYS, "has keys 3, has a keyboard 2"),
        ("alternatives of any kind and relation count", "feature", PAN, SAID_OF_A_PAN),
        ("what cannot be counted is the feature", "people", UNCOUNTED, "is big 4, has wheels 9"),
        ("nor what has no people", "people", RED, "is red 5"),
        ("shifted alternatives are none", "people", SHIFTED, "has wheels 9, has windows 2"),
        ("an article takes the singular", "people", HANDLES, "has handles 2, has a handle 4"),
        ("which wings have", "people", "owl\thas a wings\t5\t\t", "has a wing 5"),
        ("and scissors have not", "people", "owl\thas a scissors\t3\t\t", ""),
        ("the more frequent number stands", "people", FEATHERS, "has feathers 5"),
        ("or", "people", FURS, "has fur 4"),
        ("else the plural", "people", HORNS, "has horns 4"),
    ],
)
def test_what_people_said_is_counted(
    fact: str, preset: ResponsePreset, rows: str, expected: str, tmp_path: Path
) -> None:
    norms = norms_of(tmp_path, rows)
    found = [
        f"{one.relation} {response.word} {response.frequency}"
        for one in elicit(norms, options(norms, responses=preset)).prompts
        for response in one.responses
    ]
    assert ", ".join(found) == expected, fact


def test_the_same_word_is_one_response_with_its_highest_count(tmp_path: Path) -> None:
    """Of two features, or in two spellings, of which the more frequent one stands."""
    norms = norms_of(
        tmp_path,
        "elephant\tis grey\t9\t\t",
        "elephant\tis gray\t2\t\t",
        "elephant\tis big\t4\t\t",
        "elephant\tis big_huge\t5\t\t",
        "mouse\tis grey_gray\t5\tis grey;is gray\t1 2;3 4 5",
    )
    asked = elicit(norms, options(norms))
    assert [one.responses for one in asked.prompts] == [
        (Response("grey", 9, ("grey", "gray")), Response("big", 5, ("big",))),
        (Response("gray", 5, ("gray", "grey")),),
    ]
    assert asked.completions("is") == ["grey", "gray", "big"]


def test_one_word_completes_a_relation() -> None:
    """What has more words behind it, or another verb, completes none."""
    completed = {
        "is big": ("is", "big"),
        "is an animal": ("is a", "animal"),
        "has fur": ("has", "fur"),
        "has a tail": ("has a", "tail"),
        "is made of metal": ("made of", "metal"),
    }
    others = ("is very big", "is made", "is not", "has no", "eats grass", "is")
    assert {said: completion(said) for said in (*completed, *others)} == {
        **completed,
        **dict.fromkeys(others),
    }


def test_texts_have_the_concepts_article_and_no_sense_tag() -> None:
    """By its sound; phrases keep their words."""
    for relation, concept, text in (
        ("is", "bear", "a bear is ___."),
        ("is a", "owl", "an owl is a ___."),
        ("has", "polar_bear", "a polar bear has ___."),
        ("has a", "seal_(animal)", "a seal has a ___."),
        ("made of", "hour", "an hour is made of ___."),
    ):
        assert elicitation_text(relation, concept, "sentence") == f"Everyone knows that {text}"
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
    own = [Correction("has fur_hair", "has fluff")]
    found = elicit(norms, options(norms, least_people=15), own)
    (bear,) = [one for one in found.prompts if (one.concept, one.relation) == ("bear", "has")]
    assert {one.word: one.frequency for one in bear.responses} == {"fluff": 27, "claws": 15}
