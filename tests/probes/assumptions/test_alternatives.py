from __future__ import annotations

from pathlib import Path

import pytest

from tacit.probes.assumptions.properties import word_properties
from tacit.probes.assumptions.wording import worded
from tests.probes.assumptions.made_up import norms_of, options


@pytest.mark.parametrize(
    ("alternative", "feature", "said"),
    [
        ("keyboard", "has a keyboard_keys", "has a keyboard"),
        ("long neck", "has a long neck", "has a long neck"),
        ("metal", "made of steel_metal", "is made of metal"),
        ("metal", "is made of steel", "is made of metal"),
        ("for cooking", "is used for frying", "is used for cooking"),
        ("to cut", "used to chop", "is used to cut"),
        ("woods", "does live in forests", "lives in woods"),
        ("growl", "does growl_roar", "growls"),
        ("leaves", "does eat leaves", "eats leaves"),
        ("a mammal", "is an animal", "is a mammal"),
        ("furry", "has fur", "is furry"),
        ("good for you", "is healthy", "is good for you"),
        ("not dangerous", "is harmless", "is not dangerous"),
        ("does live in woods", "is found in forests_woods", "lives in woods"),
        ("a keyboard", "god", None),
    ],
)
def test_a_bare_alternative_takes_the_verb_of_its_feature(
    alternative: str, feature: str, said: str | None
) -> None:
    """And its preposition and article; an alternative with a verb stands as it is."""
    assert worded(alternative, feature) == said


def test_prompts_state_the_first_alternative(tmp_path: Path) -> None:
    """Or the feature, if the alternative has no wording."""
    norms = norms_of(
        tmp_path,
        "stag\tdoes eat grass\t8\tof the\t",
        "accordion\thas keys\t17\ta keyboard; has keys\t",
    )
    found = word_properties(norms, options(norms))
    texts = [one.text for some in found.properties.values() for one in some]
    assert texts == ["eats grass", "has a keyboard"]
