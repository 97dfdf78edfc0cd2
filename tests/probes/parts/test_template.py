from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tacit.errors import DataError
from tacit.probes.parts.questions import Template
from tests.probes.parts.measured import belief_of

if TYPE_CHECKING:
    from pathlib import Path

OWN = """\
text: "True or not? In {a_thing}, {statement}."
separator: " "
positive: ["yes", "true"]
negative: ["no"]
"""


def belief(template: Template, known: dict[str, float]) -> float | None:
    """The belief if these answers have these probabilities, and the others none."""
    logprobs = {answer: math.log(p) for answer, p in known.items()}
    found: float | None = belief_of(template, logprobs)
    return found


def test_macaw_s_input_and_targets_to_the_character() -> None:
    """The model's own slots; each target ends with T5's end token."""
    prompt = Template.load("macaw").prompt("a tree", "trunk is above the roots")
    assert prompt.text == (
        "$answer$ ; $question$ = Judge whether this statement is true or false: "
        "In a tree, trunk is above the roots. ; $mcoptions$ = (A) True (B) False"
    )
    assert prompt.answers == ("$answer$ = True</s>", "$answer$ = False</s>")


def test_gpt3_sums_all_aliases_in_any_case() -> None:
    """Case-folded, each alias in each form once."""
    template = Template.load("gpt3")
    p = belief(template, {"True": 0.3, "yes": 0.1, "1": 0.05, "FALSE": 0.1, "wrong": 0.05})
    assert p == pytest.approx(0.45 / 0.6)
    assert template.true.count("1") == 1
    assert {answer.casefold() for answer in template.false} == {
        "false",
        "f",
        "no",
        "wrong",
        "incorrect",
        "0",
    }
    assert template.prompt("a tree", "trunk is above the roots").separator == "\n\n"


def test_gpt3_takes_what_is_not_offered_for_improbable() -> None:
    """One side alone is a belief; neither is a missing one."""
    template = Template.load("gpt3")
    assert belief(template, {"True": 0.3}) == 1.0
    assert belief(template, {"no": 0.3}) == 0.0
    assert belief(template, {}) is None


def test_plain_takes_nothing_for_granted() -> None:
    """Where either answer has no score, the belief is missing."""
    template = Template.load("plain")
    assert belief(template, {"True": 0.3}) is None


def test_only_the_paper_s_preset_fills_in() -> None:
    """With 0.5, which is judged false."""
    filled = {name: Template.load(name).filled for name in ("plain", "macaw", "gpt3", "gpt3-paper")}
    assert filled == {"plain": None, "macaw": None, "gpt3": None, "gpt3-paper": 0.5}


def test_a_template_of_one_s_own(tmp_path: Path) -> None:
    """Its name is the file's; its answers are summed."""
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    template = Template.read(path)
    prompt = template.prompt("an egg", "yolk is inside the shell")
    assert prompt.text == "True or not? In an egg, yolk is inside the shell."
    assert prompt.answers == ("yes", "true", "no")
    assert belief(template, {"yes": 0.2, "true": 0.1, "no": 0.1}) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text:", "test:"),
        ('["no"]', "no"),
        ('["no"]', "[no]"),
        ('["no"]', "[]"),
        ('["no"]', '["no", "no"]'),
        ('["no"]', '["YES"]\nany_case: true'),
        ('separator: " "', "lacking: [1]"),
        ('separator: " "', 'any_case: "off"'),
        ('separator: " "', "filled: true"),
        ('separator: " "', "separator: 2024-13-45"),
        ('["no"]', '["yes"]'),
        ('separator: " "', "separator: 3"),
        ('separator: " "', "lacking: perhaps"),
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
