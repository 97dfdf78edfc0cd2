from __future__ import annotations

import pytest

from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import wording

TEMPLATES = load_templates()
GRAMMATICAL = wording("grammatical")

SAID = [
    ("IsA", "baseball", "sport", "Is baseball a sport"),
    ("IsA", "clothes", "method of expression", "Are clothes methods of expression"),
    ("IsA", "unicycle", "vehicle", "Is a unicycle a vehicle"),
    ("IsA", "write", "work", "Is writing work"),
    ("IsA", "jordan", "country", "Is jordan a country"),
    ("HasA", "denmark", "118 airport", "Does denmark have 118 airports"),
    ("HasA", "many person", "one nose", "Do many persons have one nose"),
    ("HasA", "you", "name", "Do you have a name"),
    ("Antonym", "clever", "dull", "Is clever an antonym of dull"),
    ("Causes", "fencing", "small cuts", "Does fencing cause small cuts"),
    ("Causes", "go into coma", "company", "Does going into coma cause company"),
    ("Causes", "test your strength", "pain", "Does testing your strength cause pain"),
    ("Desires", "children", "eat", "Do children desire to eat"),
    ("FormOf", "partying", "party", "Is partying a form of party"),
    ("MadeOf", "plants", "bicycle", "Are plants made of bicycle"),
    ("PartOf", "trunk", "automobile", "Is a trunk a part of an automobile"),
    ("RelatedTo", "men", "fun", "Are men related to fun"),
    ("SimilarTo", "ridiculous", "silly", "Is ridiculous similar to silly"),
    ("Synonym", "reply", "answer", "Is reply a synonym of answer"),
    ("UsedFor", "pen", "write letter", "Is a pen used for writing letter"),
    ("AtLocation", "someone", "home", "Is someone located at home"),
    ("AtLocation", "your_car", "parking_lot", "Is your car located at a parking lot"),
    ("CapableOf", "computer", "pillow", "Is a computer capable of pillow"),
    ("CapableOf", "gas", "be dangerous", "Is gas capable of being dangerous"),
]


@pytest.mark.parametrize(("relation", "first", "second", "said"), SAID)
def test_grammar(relation: str, first: str, second: str, said: str) -> None:
    """Articles, number and verb forms are repaired."""
    assert GRAMMATICAL(TEMPLATES.relations[relation], first, second) == said


def test_every_relation_is_put_in_grammar() -> None:
    assert {relation for relation, *_ in SAID} == set(TEMPLATES.relations)


@pytest.mark.parametrize("concept", ["", " ", "may", "and and", "of", "1", "i", "l'eau", "日本"])
def test_any_concept_can_be_put(concept: str) -> None:
    """Words that the lexicon does not know, and none at all, are put as they stand."""
    for relation in TEMPLATES.relations.values():
        assert concept.strip() in GRAMMATICAL(relation, concept, concept)
