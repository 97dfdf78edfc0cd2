"""Findings of the parts probe from beliefs in the order of its questions."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from tacit.coherence.ontology import KINDS, Ontology
from tacit.findings.findings import Findings
from tacit.probes.base import Answered, Answers
from tacit.probes.parts.beliefs import scored
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import AnswerScore, Scores
from tacit.sources.drawings import Drawing
from tests.coherence.test_undecided import grounded

PARTS = Ontology.load("parts")


def probe_of(*drawings: Drawing) -> PartsProbe:
    return PartsProbe(drawings, PARTS, Template.load("plain"))


def believing(probe: PartsProbe, p: Iterable[float | None]) -> Findings:
    answers = probe.questions.with_columns(p_true=pl.Series([*p], dtype=pl.Float64))
    return probe.measure_beliefs(answers)


def knowing(probe: PartsProbe, low: float = 0.0, high: float = 1.0) -> list[float | None]:
    """Beliefs that are high where the label is true, and low everywhere else."""
    true = set(probe.gold.filter("label").drop("annotator", "label").iter_rows())
    return [high if question in true else low for question in probe.questions.iter_rows()]


def only(table: pl.DataFrame, **where: object) -> dict[str, Any]:
    (row,) = table.filter(**where).to_dicts()
    return row


def counted(
    ontology: Ontology, held: Collection[tuple[str, str, str]]
) -> dict[str, tuple[int, int]]:
    """How many constraints of each kind are violated and apply, one constraint at a time."""
    found = dict.fromkeys(KINDS, (0, 0))
    items = sorted({item for subject, _, obj in held for item in (subject, obj)})
    for kind, statements, applies, broken in grounded(ontology, tuple(items)):
        values = [each in held for each in statements]
        if applies(*values):
            violated, applicable = found[kind]
            found[kind] = violated + broken(*values), applicable + 1
    return found


def belief_of(template: Template, known: Mapping[str, float | None]) -> Any:  # noqa: ANN401 - a belief
    """The belief from answers with these log-probabilities; others are missing."""
    scores = Scores(tuple(AnswerScore(a, known.get(a), 1) for a in template.true + template.false))
    key = pl.DataFrame({name: ["x"] for name in ("thing", "subject", "relation", "object")})
    answered = Answers({"questions": Answered(key, [scores])})
    return scored(answered.frame("questions"), template)["p_true"][0]
