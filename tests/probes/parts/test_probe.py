from __future__ import annotations

import math
import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.coherence.ontology import Ontology
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template, Wording
from tacit.sources.drawings import demo_drawings
from tests.probes.parts.measured import belief_of, measured

if TYPE_CHECKING:
    from collections.abc import Collection

    from tacit.findings.findings import Findings
    from tacit.requests import Prompt

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
PARROT = DATA / "parrot"
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")

Question = tuple[str, str, str, str]


def found(probe: PartsProbe, store: Path, true: Collection[Question]) -> Findings:
    """What a model shows that believes these questions, and no others."""
    rows = probe.questions.iter_rows()
    sure = {
        prompt.text: 20.0 if row in true else -20.0
        for row, prompt in zip(rows, probe.prompts, strict=True)
    }

    def score(prompt: Prompt, answer: str) -> float:
        return min(0.0, sure[prompt.text] * (1 if answer == "True" else -1))

    return measured(probe, Engine(FakeModel(score), Store(store)).ask(probe.prompts))


def rates(findings: Findings, stage: str) -> dict[str, tuple[int | None, int | None, float | None]]:
    """Violated, applicable and rate of each constraint in a stage."""
    rows = findings.tables["violation"].filter(stage=stage).iter_rows(named=True)
    return {row["constraint"]: (row["violated"], row["applicable"], row["rate"]) for row in rows}


def judged(findings: Findings, stage: str) -> tuple[int, int, float | None]:
    """Judged, missing and accuracy of all gold statements in a stage."""
    rows = findings.tables["accuracy"].filter(set="all", gold="all", stage=stage)
    row = rows.row(0, named=True)
    return row["n"], row["missing"], row["accuracy"]


SAID = {
    (
        "tree",
        "twig",
        "connects",
        "branches",
    ): "In a tree, twig is directly connected to the branches.",
    ("tree", "trunk", "above", "roots"): "In a tree, trunk is above the roots.",
    ("tree", "roots", "surrounded by", "trunk"): "In a tree, roots are surrounded by the trunk.",
    ("egg", "shell", "has part", "yolk"): "In an egg, shell has the yolk as its part.",
    ("egg", "shells", "has part", "yolk"): "In an egg, shells have the yolk as their part.",
    ("camera", "lens", "requires", "body"): "In a camera, lens require the body.",
}


@pytest.mark.parametrize(("question", "said"), SAID.items())
def test_statements_read_as_in_the_paper(question: Question, said: str) -> None:
    """Table 7's prompts to the character, and the paper's rule for plurals and articles."""
    thing, subject, relation, obj = question
    relations = Ontology.load("parts").relations
    wording = Wording()
    statement = wording.statement(subject, relations[relation], obj)
    prompt = Template.load("plain").prompt(wording.with_article(thing), statement)
    assert prompt.text == f"Judge whether this statement is true or false: {said}"
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


def test_a_model_that_knows_the_drawing_is_right_and_consistent(tmp_path: Path) -> None:
    """Accuracy is 1, nothing is violated, and repair changes nothing."""
    probe = PartsProbe.read(demo_drawings(), ["peach"])
    true = {
        (row["thing"], row["subject"], row["relation"], row["object"])
        for row in probe.gold.filter("label").iter_rows(named=True)
    }
    findings = found(probe, tmp_path, true)
    gold = probe.gold.height
    assert judged(findings, "before") == judged(findings, "paper") == (gold, 0, 1.0)
    assert [violated for violated, _, _ in rates(findings, "before").values()][:4] == [0, 0, 0, 0]
    assert findings.summary["drawings_with_violation"] == 0
    for repair in findings.tables["repair"].to_dicts():
        assert (repair["turned_true"], repair["turned_false"]) == (0, 0)
    assert findings.summary["true_share"] == len(true) / probe.questions.height


def test_a_model_that_believes_nothing_has_no_rates(tmp_path: Path) -> None:
    """Nothing applies, so every rate is undefined, and repair leaves nothing true."""
    probe = PartsProbe.read(demo_drawings(), ["peach"])
    findings = found(probe, tmp_path, set())
    assert all(rate is None for _, _, rate in rates(findings, "before").values())
    assert [repair["turned_true"] for repair in findings.tables["repair"].to_dicts()] == [0, 0, 0]
    false = int((~probe.gold["label"]).sum())
    assert judged(findings, "before") == (probe.gold.height, 0, false / probe.gold.height)


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


@needs_parrot
def test_every_distinct_statement_is_asked_once() -> None:
    """216,580 statements of 300 drawings are 108,528 questions."""
    probe = PartsProbe.read(PARROT)
    assert (probe.statements.height, probe.questions.height) == (216_580, 108_528)
    assert len({prompt.text for prompt in probe.prompts}) == 108_528
