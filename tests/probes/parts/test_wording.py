from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.probes.parts.questions import Template, Wording
from tests.probes.parts.measured import PARTS

GRAMMAR = Wording.of("grammar")
PAPER = Wording.of("paper")
PLURAL = (
    "wheels, feet, leveling feet, teeth, antennae, scissors, knobs/dials, batteries, "
    "neck and fingerboard, type guide + ribbon vibrator, rows of teeth, pairs of wings"
)
SINGULAR = (
    "lens, objective lens, bus, mattress, protective glass, chassis, coarse focus, "
    "pair of wheels, box with holes, trunk, x-ray, gas"
)


@pytest.mark.parametrize(("nouns", "plural"), [(PLURAL, True), (SINGULAR, False)])
def test_number_by_grammar(nouns: str, *, plural: bool) -> None:
    assert [noun for noun in nouns.split(", ") if GRAMMAR.is_plural(noun) != plural] == []


BY_SOUND = (
    "an hour hand, a unicycle, an umbrella, an egg, a tree, a used car, an LED lamp, "
    "a one-way street, binoculars"
)
BY_LETTER = "a hour hand, an unicycle, a binoculars"


@pytest.mark.parametrize(("wording", "nouns"), [(GRAMMAR, BY_SOUND), (PAPER, BY_LETTER)])
def test_articles_are_by_sound_or_as_in_the_paper_by_letter(wording: Wording, nouns: str) -> None:
    """By grammar a plural has none."""
    for said in nouns.split(", "):
        assert wording.with_article(re.sub("^an? ", "", said)) == said


SAID = [
    ("tree", "twig", "connects", "branches", "a tree, twig is directly connected to the branches"),
    ("tree", "trunk", "above", "roots", "a tree, trunk is above the roots"),
    ("tree", "roots", "surrounded by", "trunk", "a tree, roots are surrounded by the trunk"),
    ("egg", "shell", "has part", "yolk", "an egg, shell has the yolk as its part"),
    ("egg", "shells", "has part", "yolk", "an egg, shells have the yolk as their part"),
    ("camera", "lens", "requires", "body", "a camera, lens require the body"),
]


@pytest.mark.parametrize(("thing", "subject", "relation", "obj", "said"), SAID)
def test_statements_read_as_in_the_paper(
    thing: str, subject: str, relation: str, obj: str, said: str
) -> None:
    """Table 7's prompts to the character, and the paper's rule for plurals and articles."""
    statement = PAPER.statement(subject, PARTS.relations[relation], obj)
    prompt = Template.load("plain").prompt(PAPER.with_article(thing), statement)
    assert prompt.text == f"Judge whether this statement is true or false: In {said}."
    assert (prompt.answers, prompt.separator) == (("True", "False"), "\n")


def test_the_verb_agrees_with_the_subject_by_grammar() -> None:
    """In number, possessives included."""
    has_part = PARTS.relations["has part"]
    assert GRAMMAR.statement("lens", has_part, "rim") == "lens has the rim as its part"
    assert GRAMMAR.statement("feet", has_part, "toes") == "feet have the toes as their part"


def test_one_s_own_exceptions_count_more(tmp_path: Path) -> None:
    """They add to those that come with Tacit, and overrule them."""
    own = tmp_path / "nouns.yaml"
    own.write_text("plural: [lens, spectra]\nan: [unicycle]\n", encoding="utf-8")
    wording = Wording.of("grammar", own)
    plural = {noun for noun in ("lens", "spectra", "feet", "bus") if wording.is_plural(noun)}
    assert plural == {"lens", "spectra", "feet"}
    assert wording.with_article("unicycle") == "an unicycle"


@pytest.mark.parametrize("text", ["- a list", "many: [words]", "plural: [1]", "a: ["])
def test_malformed_exceptions_are_refused(tmp_path: Path, text: str) -> None:
    own = tmp_path / "nouns.yaml"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"nouns\.yaml"):
        Wording.of("grammar", own)
