import re
from pathlib import Path

import pytest

from tacit.errors import DataError, RequestError
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import grammatical, wording

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


def test_grammar() -> None:
    """Words that the lexicon does not know, and none at all, are put as they stand."""
    assert {relation for relation, *_ in SAID} == set(TEMPLATES.relations)
    for relation, first, second, said in SAID:
        assert GRAMMATICAL(TEMPLATES.relations[relation], first, second) == said
    for concept in ("", " ", "may", "and and", "of", "1", "i", "l'eau", "日本"):
        for template in TEMPLATES.relations.values():
            assert concept.strip() in GRAMMATICAL(template, concept, concept)


OWN = """\
relations:
  HasProperty:
    text: "are {c1} really {c2} ?"
    singular: "Is {a_c1} {c2}"
    plural: "Are {c1} {c2}"
  IsA:
    text: "Is every {c1} a {c2}?"
"""


def test_relations_of_one_s_own(tmp_path: Path) -> None:
    """They add to the built-in ones, and reword them; the full stop of a statement is dropped."""
    own = tmp_path / "own.yaml"
    own.write_text(OWN + '    statement: "every {c1} is {a_c2}."\n', encoding="utf-8")
    templates, presets = load_templates(own), (wording("paper"), wording("grammatical"))
    assert len(templates.relations) == 15
    asked = [
        (relation, *(words(templates.relations[relation], "dog", "animal") for words in presets))
        for relation in ("HasProperty", "IsA", "MadeOf")
    ]
    assert asked == [
        ("HasProperty", "Are dog really animal", "Is a dog animal"),
        ("IsA", "Is every dog a animal", "Is every dog a animal"),
        ("MadeOf", "Is the dog made of animal", "Is a dog made of animal"),
    ]
    words = grammatical()
    assert words.statement(templates.relations["IsA"], "dogs", "animal") == (
        "Every dogs is an animal"
    )
    with pytest.raises(RequestError, match="without a statement"):
        words.statement(templates.relations["HasProperty"], "dog", "big")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{c1} really {c2}", "{c1} {c2} ___", "blank"),
        ("Is {a_c1} {c2}", "Is {the_c1} {c2}", "singular has the unknown placeholder {the_c1}"),
        ('    plural: "Are {c1} {c2}"\n', "", "requires both singular and plural, or neither"),
        (
            "    plural:",
            '    plural_statement: "{c1} are {c2}"\n    plural:',
            "requires statement if it has plural_statement",
        ),
        ('    text: "are {c1} really {c2} ?"\n', "", "text is missing"),
        ("    plural:", "    plurals:", "unknown key plurals; expected text, singular, plural"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    own = tmp_path / "own.yaml"
    assert old in OWN
    own.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        load_templates(own)
    assert caught.value.path == own


def test_every_relation_has_a_statement() -> None:
    expected = {
        ("dog", "IsA", "animal"): "A dog is a kind of animal",
        ("dogs", "IsA", "animal"): "Dogs are a kind of animal",
        ("dog", "HasA", "tail"): "A dog has a tail",
        ("hot", "Antonym", "cold"): "Hot is the opposite of cold",
        ("virus", "Causes", "disease"): "A virus causes a disease",
        ("dog", "Desires", "bone"): "A dog wants a bone",
        ("teeth", "FormOf", "tooth"): "Teeth is a form of the word tooth",
        ("table", "MadeOf", "wood"): "A table is made of wood",
        ("wheel", "PartOf", "car"): "A wheel is part of a car",
        ("author", "RelatedTo", "book"): "An author is related to a book",
        ("bus", "SimilarTo", "coach"): "Bus is similar to coach",
        ("large", "Synonym", "big"): "Large means the same as big",
        ("knife", "UsedFor", "cut"): "A knife is used for cutting",
        ("book", "AtLocation", "library"): "A book can be found at a library",
        ("birds", "CapableOf", "sing"): "Birds are capable of singing",
    }
    assert {relation for _, relation, _ in expected} == set(TEMPLATES.relations)
    for (head, name, tail), said in expected.items():
        assert grammatical().statement(TEMPLATES.relations[name], head, tail) == said
