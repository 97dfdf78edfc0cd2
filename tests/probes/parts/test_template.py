from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import TOO_LONG, AnswerScore, Scores, ScoringKind
from tacit.sources.drawings import demo_drawings
from tests.probes.parts.measured import belief_of, measured

PEACH = PartsProbe.read(demo_drawings(), ["peach"])
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
    false = {"false", "f", "no", "wrong", "incorrect", "0"}
    assert {answer.casefold() for answer in template.false} == false
    assert template.prompt("a tree", "trunk is above the roots").separator == "\n\n"


def test_gpt3_takes_what_is_not_offered_for_improbable() -> None:
    """One side alone is a belief; neither is a missing one."""
    template = Template.load("gpt3")
    assert belief(template, {"True": 0.3}) == 1.0
    assert belief(template, {"no": 0.3}) == 0.0
    assert belief(template, {}) is None


@pytest.mark.parametrize(("preset", "filled"), [("gpt3", False), ("gpt3-paper", True)])
def test_what_was_not_offered_is_missing_or_filled_in(preset: str, *, filled: bool) -> None:
    """It is left out of the accuracy, or counts as 0.5, which is judged false."""
    probe = replace(PEACH, template=Template.load(preset))
    offered = {"True": math.log(0.4), "no": math.log(0.1)}
    unoffered = ["surround" in prompt.text for prompt in probe.prompts]
    scores = [
        Scores(tuple(AnswerScore(a, None if no else offered.get(a), 1) for a in prompt.answers))
        for no, prompt in zip(unoffered, probe.prompts, strict=True)
    ]
    findings = measured(probe, scores)
    n = sum(unoffered)
    expected = (0, n) if filled else (n, 0)
    assert (findings.summary["missing"], findings.summary["filled"]) == expected
    beliefs = {0.8, 0.5} if filled else {0.8}
    assert {round(p, 9) for p in findings.questions["p_true"].drop_nulls()} == beliefs
    accuracy = findings.tables["accuracy"].row(0, named=True)
    missing = 0 if filled else sum("surround" in name for name in probe.gold["relation"])
    assert (accuracy["n"], accuracy["missing"]) == (probe.gold.height - missing, missing)


@pytest.mark.parametrize("preset", ["plain", "macaw", "gpt3", "gpt3-paper"])
def test_a_skipped_prompt_has_no_belief_in_any_preset(preset: str) -> None:
    """It was not asked, so that nothing is filled in and no answer counts as improbable."""
    probe = replace(PEACH, template=Template.load(preset))
    scores = [ScoringKind().missing(prompt, TOO_LONG) for prompt in probe.prompts]
    scores[0] = Scores(tuple(AnswerScore(a, -1.0, 1) for a in probe.prompts[0].answers))
    findings = measured(probe, scores)
    assert findings.questions["p_true"].drop_nulls().len() == 1
    assert findings.summary["missing"] == len(probe.prompts) - 1
    assert findings.summary["filled"] == 0


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
