import math
import re
from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.probes.parts.questions import Template, Wording
from tests.probes.parts.measured import PARTS, belief_of

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


BY_SOUND = (
    "an hour hand, a unicycle, an umbrella, an egg, a tree, a used car, an LED lamp, "
    "a one-way street, binoculars"
)
BY_LETTER = "a hour hand, an unicycle, a binoculars"


def test_number_and_articles() -> None:
    """An article is by sound, of a plural none; as in the paper it is by letter."""
    for one, plural in ((PLURAL, True), (SINGULAR, False)):
        assert [noun for noun in one.split(", ") if GRAMMAR.is_plural(noun) != plural] == []
    for wording, said in ((GRAMMAR, BY_SOUND), (PAPER, BY_LETTER)):
        nouns = [re.sub("^an? ", "", one) for one in said.split(", ")]
        assert [wording.with_article(noun) for noun in nouns] == said.split(", ")


SAID = [
    ("tree", "twig", "connects", "branches", "a tree, twig is directly connected to the branches"),
    ("tree", "trunk", "above", "roots", "a tree, trunk is above the roots"),
    ("tree", "roots", "surrounded by", "trunk", "a tree, roots are surrounded by the trunk"),
    ("egg", "shell", "has part", "yolk", "an egg, shell has the yolk as its part"),
    ("egg", "shells", "has part", "yolk", "an egg, shells have the yolk as their part"),
    ("camera", "lens", "requires", "body", "a camera, lens require the body"),
]


def test_statements_read_as_in_the_paper() -> None:
    """Table 7's prompts to the character, and the paper's rule for plurals and articles."""
    for thing, subject, relation, obj, said in SAID:
        statement = PAPER.statement(subject, PARTS.relations[relation], obj)
        prompt = Template.load("plain").prompt(PAPER.with_article(thing), statement)
        assert prompt.text == f"Judge whether this statement is true or false: In {said}."
        assert (prompt.answers, prompt.separator) == (("True", "False"), "\n")
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


OWN = """\
text: "True or not? In {a_thing}, {statement}."
separator: " "
positive: ["yes", "true"]
negative: ["no"]
"""


def test_the_papers_inputs_to_the_character() -> None:
    """Macaw's own slots, where each target ends with T5's end token."""
    prompt = Template.load("macaw").prompt("a tree", "trunk is above the roots")
    assert prompt.text == (
        "$answer$ ; $question$ = Judge whether this statement is true or false: "
        "In a tree, trunk is above the roots. ; $mcoptions$ = (A) True (B) False"
    )
    assert prompt.answers == ("$answer$ = True</s>", "$answer$ = False</s>")
    template = Template.load("gpt3")
    assert template.true.count("1") == 1
    false = {"false", "f", "no", "wrong", "incorrect", "0"}
    assert {answer.casefold() for answer in template.false} == false
    assert template.prompt("a tree", "trunk is above the roots").separator == "\n\n"


def test_a_template_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    template = Template.read(path)
    prompt = template.prompt("an egg", "yolk is inside the shell")
    assert prompt.text == "True or not? In an egg, yolk is inside the shell."
    assert prompt.answers == ("yes", "true", "no")
    known = {"yes": math.log(0.2), "true": math.log(0.1), "no": math.log(0.1)}
    assert belief_of(template, known) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text:", "test:"),
        ('["no"]', "[]"),
        ('["no"]', '["no", "no"]'),
        ('["no"]', '["YES"]\nany_case: true'),
        ('separator: " "', 'any_case: "off"'),
        ('["no"]', '["yes"]'),
        ('separator: " "', "filled: 2"),
        ('"yes"', '["yes"'),
    ],
)
def test_a_malformed_template_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "own.yaml"
    assert old in OWN
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=r"own\.yaml"):
        Template.read(path)
