from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.errors import DataError, RequestError
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import grammatical, wording

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
    """They add to the built-in ones, and reword them."""
    own = tmp_path / "own.yaml"
    own.write_text(OWN, encoding="utf-8")
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


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{c1} really {c2}", "{c1} {{c2}}", "text lacks the placeholder {c2}"),
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
    """With its name and what was expected."""
    own = tmp_path / "own.yaml"
    assert old in OWN
    own.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        load_templates(own)
    assert caught.value.path == own


@pytest.mark.parametrize(
    ("fact", "statement"),
    [
        (("dog", "IsA", "animal"), "A dog is a kind of animal"),
        (("dogs", "IsA", "animal"), "Dogs are a kind of animal"),
        (("dog", "HasA", "tail"), "A dog has a tail"),
        (("hot", "Antonym", "cold"), "Hot is the opposite of cold"),
        (("virus", "Causes", "disease"), "A virus causes a disease"),
        (("dog", "Desires", "bone"), "A dog wants a bone"),
        (("teeth", "FormOf", "tooth"), "Teeth is a form of the word tooth"),
        (("table", "MadeOf", "wood"), "A table is made of wood"),
        (("wheel", "PartOf", "car"), "A wheel is part of a car"),
        (("author", "RelatedTo", "book"), "An author is related to a book"),
        (("bus", "SimilarTo", "coach"), "Bus is similar to coach"),
        (("large", "Synonym", "big"), "Large means the same as big"),
        (("knife", "UsedFor", "cut"), "A knife is used for cutting"),
        (("book", "AtLocation", "library"), "A book can be found at a library"),
        (("birds", "CapableOf", "sing"), "Birds are capable of singing"),
    ],
)
def test_every_relation_has_a_statement(fact: tuple[str, str, str], statement: str) -> None:
    """In grammar, without its full stop."""
    head, relation, tail = fact
    assert grammatical().statement(load_templates().relations[relation], head, tail) == statement


def test_a_statement_of_one_s_own(tmp_path: Path) -> None:
    """Its full stop is dropped; the context adds one."""
    own = tmp_path / "own.yaml"
    own.write_text(OWN + '    statement: "every {c1} is {a_c2}."\n', encoding="utf-8")
    templates, words = load_templates(own).relations, grammatical()
    assert words.statement(templates["IsA"], "dogs", "animal") == "Every dogs is an animal"
    with pytest.raises(RequestError, match="without a statement"):
        words.statement(templates["HasProperty"], "dog", "big")
