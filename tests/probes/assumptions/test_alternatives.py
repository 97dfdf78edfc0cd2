from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.probes.assumptions.alternatives import corrected, worded
from tacit.probes.assumptions.properties import word_properties
from tacit.sources.norms import read_norms
from tests.probes.assumptions.made_up import options

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("alternative", "feature", "said"),
    [
        ("a keyboard", "has keys", "has a keyboard"),
        ("keyboard", "has a keyboard_keys", "has a keyboard"),
        ("long neck", "has a long neck", "has a long neck"),
        ("paws", "has paws", "has paws"),
        ("metal", "made of steel_metal", "is made of metal"),
        ("metal", "is made of steel", "is made of metal"),
        ("cooking", "is used for cooking", "is used for cooking"),
        ("for cooking", "is used for frying", "is used for cooking"),
        ("to cut", "used to chop", "is used to cut"),
        ("forests", "is found in woods", "is found in forests"),
        ("in woods", "does live in forests", "lives in woods"),
        ("woods", "does live in forests", "lives in woods"),
        ("growl", "does growl_roar", "growls"),
        ("eat grass", "does eat", "eats grass"),
        ("leaves", "does eat leaves", "eats leaves"),
        ("oxygen", "requires air", "requires oxygen"),
        ("a mammal", "is an animal", "is a mammal"),
        ("useful", "is a tool", "is useful"),
        ("furry", "has fur", "is furry"),
        ("wooden", "made of wood", "is wooden"),
        ("good for you", "is healthy", "is good for you"),
        ("not dangerous", "is harmless", "is not dangerous"),
        ("does live in woods", "is found in forests_woods", "lives in woods"),
        ("is big", "has size", "is big"),
        ("has a", "has a tail", None),
        ("a keyboard", "god", None),
    ],
)
def test_a_bare_alternative_takes_the_verb_of_its_feature(
    alternative: str, feature: str, said: str | None
) -> None:
    """And its preposition and article; an alternative with a verb stands as it is."""
    assert worded(alternative, feature) == said


@pytest.mark.parametrize(
    ("said", "feature", "better"),
    [
        ("is used when you be sick", "is used when you are sick", "is used when you are sick"),
        ("is used when you be sick", "is used by the sick_ill", "is used by the sick"),
        ("has the queens head", "has the queen's head", "has the queen's head"),
        ("has antler", "has antlers", "has antlers"),
        ("has antler", "has horns_antlers", "has antlers"),
        ("has long tail", "has a long tail", "has a long tail"),
        ("is used for cut", "is used for cutting", "is used for cutting"),
        ("has antlers", "has antler", None),
        ("has a handle", "has handles", None),
        ("has handles", "has a handle_handles", None),
        ("has a long tail", "has long tail", None),
        ("has hair", "has hair_hairs", None),
        ("has leg", "has four legs", None),
        ("can be big", "is big", None),
        ("makes you be careful", "makes you careful", None),
        ("is big", "is large", None),
        ("lives in woods", "is found in forests_woods", None),
        ("has antler", "god", None),
    ],
)
def test_an_ungrammatical_alternative_gives_way_to_the_feature(
    said: str, feature: str, better: str | None
) -> None:
    """Only where the feature says the same words rightly, or has no misused "be"."""
    assert corrected(said, feature) == better


def test_prompts_state_the_feature_and_count_it(tmp_path: Path) -> None:
    """By reason; a correction of one's own counts before either."""
    rows = (
        "stag\thas antlers\t20\thas antler",
        "stag\tis brown\t9\tis brown",
        "stag\tdoes eat grass\t8\tof the",
        "medicine\tis used when you are sick\t7\tis used when you be sick; used when ill",
        "coin\thas the queen's head\t6\thas the queens head",
        "accordion\thas keys\t17\ta keyboard",
    )
    path = tmp_path / "norms.dat"
    header = "concept\tfeature\tpf\tfeature alternatives\n"
    path.write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    norms = read_norms(path)
    found = word_properties(norms, options(norms))
    assert [one.text for some in found.properties.values() for one in some] == [
        *("has antlers", "is brown", "eats grass", "is used when you are sick"),
        *("has the queen's head", "has a keyboard"),
    ]
    assert found.from_feature == {
        "alternative ungrammatical": 3,
        "alternative without a wording": 1,
    }
