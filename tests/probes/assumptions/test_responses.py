from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.probes.assumptions.elicitation import elicit
from tacit.probes.assumptions.responses import Response, completion
from tests.probes.assumptions.made_up import norms_of, options

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.probes.assumptions.options import ResponsePreset
    from tacit.sources.norms import Norms


def responses(
    norms: Norms, relation: str, preset: ResponsePreset = "people", concept: str | None = None
) -> dict[str, int]:
    """The responses of a concept, the first where none is named, to a relation."""
    asked = elicit(norms, options(norms, responses=preset)).prompts
    name = concept or norms.properties[0].concept
    return {
        one.word: one.frequency
        for prompt in asked
        if (prompt.relation, prompt.concept) == (relation, name)
        for one in prompt.responses
    }


def people(*groups: int) -> str:
    """A participant list with groups of so many people."""
    names = iter(range(100))
    return ";".join(" ".join(str(next(names)) for _ in range(group)) for group in groups)


def test_each_alternative_has_its_own_number_of_people(tmp_path: Path) -> None:
    """A bear has hair for 2 people, not for the 27 who named the feature."""
    norms = norms_of(tmp_path, f"bear\thas fur_hair\t27\thas fur;has hair\t{people(25, 2)}")
    assert responses(norms, "has") == {"fur": 25, "hair": 2}
    assert responses(norms, "has", "feature") == {"fur": 27, "hair": 27}
    assert responses(norms, "has", "first") == {"fur": 27}


def test_a_person_counts_once_for_a_response(tmp_path: Path) -> None:
    """Two alternatives with one response are given by the union of their people."""
    norms = norms_of(tmp_path, "bear\thas fur\t4\thas fur;fur;has a coat\t1 2 3;3 4;5")
    assert responses(norms, "has") == {"fur": 4}
    assert responses(norms, "has a") == {"coat": 1}


def test_an_accordion_is_no_keyboard(tmp_path: Path) -> None:
    """A bare alternative takes the feature's verb in every preset that counts alternatives."""
    norms = norms_of(tmp_path, f"accordion\thas keys\t17\thas keys;a keyboard\t{people(14, 3)}")
    for preset in ("people", "feature"):
        assert not responses(norms, "is a", preset)
        assert responses(norms, "has a", preset) == {"keyboard": 3 if preset == "people" else 17}


def test_rows_that_cannot_be_counted_fall_back_to_the_feature(tmp_path: Path) -> None:
    """Its own wording with its frequency."""
    norms = norms_of(
        tmp_path,
        "bus\thas wheels_tyres\t9\thas wheels;has tyres\t1;2;3",
        "bus\tis red_scarlet\t5\tis red;is scarlet\t",
        "bus\tis big_large\t4\t\t",
    )
    assert responses(norms, "has") == {"wheels": 9}
    assert responses(norms, "is") == {"red": 5, "big": 4}


def test_shifted_alternatives_are_no_responses(tmp_path: Path) -> None:
    """Neither by people nor by feature."""
    norms = norms_of(
        tmp_path,
        "bus\thas wheels\t9\thas windows;windows\t1;2",
        "bus\thas windows\t2\thas speed\t1;2",
    )
    for preset in ("people", "feature"):
        assert responses(norms, "has", preset) == {"wheels": 9, "windows": 2}


def test_singular_and_plural_of_one_feature_are_one_response(tmp_path: Path) -> None:
    """The blank of "has a ___" holds the singular; the union of people is counted."""
    norms = norms_of(
        tmp_path,
        "mug\thas a handle_handles\t20\thas a handle;has a handles;has handles\t1 2 3;3 4;5 6",
        "jug\thas a handle_handles\t20\t\t",
    )
    assert responses(norms, "has a") == {"handle": 4}
    assert responses(norms, "has") == {"handles": 2}
    assert responses(norms, "has a", "feature") == {"handle": 20}
    assert responses(norms, "has a", "feature", "jug") == {"handle": 20}


def test_a_plural_behind_an_article_is_put_in_the_singular(tmp_path: Path) -> None:
    """One that has no singular is left out."""
    norms = norms_of(tmp_path, "owl\thas a wings\t5\t\t", "owl\thas a scissors\t3\t\t")
    assert responses(norms, "has a") == {"wing": 5}


def test_without_an_article_the_more_frequent_number_stands(tmp_path: Path) -> None:
    """The plural of equally frequent ones; adjectives have no number."""
    norms = norms_of(
        tmp_path,
        "owl\thas feather_feathers\t5\thas feather;has feathers\t1;2 3 4 5",
        "elk\thas fur_furs\t5\thas fur;has furs\t1 2 3;4",
        "ox\thas horn_horns\t4\thas horn;has horns\t1 2;3 4",
    )
    assert responses(norms, "has") == {"feathers": 5}
    assert responses(norms, "has", concept="elk") == {"fur": 4}
    assert responses(norms, "has", concept="ox") == {"horns": 4}


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


def test_concepts_are_one_word_untagged_and_singular(tmp_path: Path) -> None:
    """By the filters in order; the others are asked about by preset."""
    norms = norms_of(
        tmp_path,
        *(
            f"{name}\tis big\t5\t\t"
            for name in ("bat_(animal)", "bat_(baseball)", "polar_bear", "scissors", "bear")
        ),
    )
    steps = [
        (step.name, len(step.removed), step.left)
        for step in elicit(norms, options(norms)).steps
        if step.of == "concepts for elicitation"
    ]
    assert steps == [("has a sense tag", 2, 3), ("more than one word", 1, 2), ("plural", 1, 1)]
    asked = {
        preset: [one.concept for one in elicit(norms, options(norms, concepts=preset)).prompts]
        for preset in ("paper", "tagged", "all")
    }
    assert asked["paper"] == ["bear"]
    assert asked["tagged"] == ["bat_(animal)", "bat_(baseball)", "bear"]
    assert asked["all"] == ["bat_(animal)", "bat_(baseball)", "polar_bear", "bear"]


@pytest.mark.parametrize(
    ("said", "completed"),
    [
        ("is big", ("is", "big")),
        ("is a tool", ("is a", "tool")),
        ("is an animal", ("is a", "animal")),
        ("has fur", ("has", "fur")),
        ("has a tail", ("has a", "tail")),
        ("is made of metal", ("made of", "metal")),
        ("is made of stainless steel", None),
        ("is very big", None),
        ("is found in woods", None),
        ("is made", None),
        ("is not", None),
        ("has no", None),
        ("eats grass", None),
        ("does not fly", None),
        ("is", None),
    ],
)
def test_one_word_completes_a_relation(said: str, completed: tuple[str, str] | None) -> None:
    """What has more words behind it, or another verb, completes none."""
    assert completion(said) == completed
