from __future__ import annotations

import math
from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.probes.parts.questions import Template
from tests.probes.parts.measured import belief_of

OWN = """\
text: "True or not? In {a_thing}, {statement}."
separator: " "
positive: ["yes", "true"]
negative: ["no"]
"""


def test_macaw_s_input_and_targets_to_the_character() -> None:
    """The model's own slots; each target ends with T5's end token."""
    prompt = Template.load("macaw").prompt("a tree", "trunk is above the roots")
    assert prompt.text == (
        "$answer$ ; $question$ = Judge whether this statement is true or false: "
        "In a tree, trunk is above the roots. ; $mcoptions$ = (A) True (B) False"
    )
    assert prompt.answers == ("$answer$ = True</s>", "$answer$ = False</s>")


def test_gpt3_has_all_aliases_in_any_case() -> None:
    """Case-folded, each alias in each form once."""
    template = Template.load("gpt3")
    assert template.true.count("1") == 1
    false = {"false", "f", "no", "wrong", "incorrect", "0"}
    assert {answer.casefold() for answer in template.false} == false
    assert template.prompt("a tree", "trunk is above the roots").separator == "\n\n"


def test_a_template_of_one_s_own(tmp_path: Path) -> None:
    """Its name is the file's; its answers are summed."""
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
    """With the file's name; nothing is guessed."""
    path = tmp_path / "own.yaml"
    assert old in OWN
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=r"own\.yaml"):
        Template.read(path)
