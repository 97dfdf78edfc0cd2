from __future__ import annotations

import math
import statistics
from pathlib import Path

import polars as pl
import pytest

from tacit.coherence.ontology import Ontology
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template, Wording
from tacit.requests import Prompt
from tacit.sources.drawings import demo_drawings
from tests.probes.parts.measured import belief_of, measured

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
    wording = Wording()
    statement = wording.statement(subject, Ontology.load("parts").relations[relation], obj)
    prompt = Template.load("plain").prompt(wording.with_article(thing), statement)
    assert prompt.text == f"Judge whether this statement is true or false: In {said}."
    assert (prompt.answers, prompt.separator) == (("True", "False"), "\n")


@pytest.mark.parametrize(
    ("true", "false", "expected"),
    [
        (math.log(0.3), math.log(0.1), 0.75),
        (math.log(0.1), math.log(0.3), 0.25),
        (-1.0, -1.0, 0.5),
        (-1000.0, 0.0, 0.0),
        (0.0, -1000.0, 1.0),
        (None, -1.0, None),
        (-1.0, None, None),
    ],
)
def test_a_belief_is_the_share_of_true(
    true: float | None, false: float | None, expected: float | None
) -> None:
    """P(True)/(P(True) + P(False)), without overflow; missing where either is missing."""
    found = belief_of(Template.load("plain"), {"True": true, "False": false})
    assert found == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(("shift", "improbable"), [(-1.0, False), (-20.0, True)])
def test_the_probability_of_both_answers_is_reported(
    tmp_path: Path, shift: float, *, improbable: bool
) -> None:
    """Its median over the questions, computed by hand; a caution if it is small."""
    probe = PartsProbe.read(demo_drawings(), ["peach"])
    sides: dict[str, list[float]] = {"True": [], "False": []}

    def score(prompt: Prompt, answer: str) -> float:
        sides[answer].append(shift - len(prompt.text) / 100 - (answer == "True"))
        return sides[answer][-1]

    findings = measured(probe, Engine(FakeModel(score), Store(tmp_path)).ask(probe.prompts))
    masses = [math.exp(t) + math.exp(f) for t, f in zip(*sides.values(), strict=True)]
    assert findings.summary["answer_probability"] == pytest.approx(statistics.median(masses))
    assert ("Caution: the model rarely" in str(PartsProbe.block(findings))) == improbable


def test_without_log_probabilities_there_is_no_probability_of_the_answers(tmp_path: Path) -> None:
    """Missing scores make it null; a file of beliefs has none."""
    probe = PartsProbe.read(demo_drawings(), ["peach"])
    model = FakeModel(lambda _, answer: None if answer == "True" else -1.0)
    findings = measured(probe, Engine(model, Store(tmp_path)).ask(probe.prompts))
    assert findings.summary["answer_probability"] is None
    known = probe.measure_beliefs(probe.questions.with_columns(p_true=pl.lit(0.5)))
    assert "answer_probability" not in known.summary
