"""The parts probe, whole: drawings in, questions out, answers in, findings out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.coherence.check import check
from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.coherence.repair import repair
from tacit.errors import DataError
from tacit.probes.findings import Findings
from tacit.probes.parts import measure, questions
from tacit.probes.parts.template import Template
from tacit.probes.parts.wording import AS_IN_THE_PAPER, Wording
from tacit.sources.drawings import is_things, read_drawings, undrawn
from tacit.sources.statements import all_statements, drawing_statements

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.coherence.check import Check
    from tacit.coherence.repair import Repaired
    from tacit.prompts import LogProbs, Prompt
    from tacit.sources.drawings import Drawing


@dataclass(frozen=True)
class PartsProbe:
    """Asks about every ordered pair of parts of every drawing, with each of the relations.

    Args:
        drawings: What people drew.
        ontology: The relations and their constraints.
        template: How a statement is put to the model.
        wording: How nouns are put.
    """

    drawings: Sequence[Drawing]
    ontology: Ontology
    template: Template
    wording: Wording = AS_IN_THE_PAPER

    @classmethod
    def read(
        cls, path: Path, things: Collection[str] | None = None, limit: int | None = None
    ) -> PartsProbe:
        """Reads drawings, or things that nobody drew, and puts them as the paper did.

        Args:
            path: A folder of drawings or of ``things.tsv`` alone, an annotations file, or a file
                of things and parts.
            things: Only these things; all when None.
            limit: Only the first so many drawings; all when None.

        Raises:
            DataError: A file is missing or malformed, or nothing can be asked of the drawings.
        """
        ontology = Ontology.load("parts")
        if is_things(path):
            drawings = undrawn(path, things)
        else:
            drawings = read_drawings(path, ontology.relations, things)
        probe = cls(tuple(drawings[:limit]), ontology, Template.load("plain"))
        if probe.statements.is_empty():
            raise DataError("no thing has two parts, so that there is nothing to ask", path)
        return probe

    @cached_property
    def statements(self) -> pl.DataFrame:
        """Every statement of every drawing: thing, annotator, subject, relation, object."""
        return all_statements(self.drawings, self.ontology.relations)

    @cached_property
    def questions(self) -> pl.DataFrame:
        """The distinct questions: thing, subject, relation, object."""
        return questions.questions(self.statements)

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """One prompt per question."""
        return questions.prompts(self.questions, self.ontology, self.template, self.wording)

    @cached_property
    def gold(self) -> pl.DataFrame:
        """What the drawings imply: their statements and ``label``."""
        return enrich(drawing_statements(self.drawings), self.ontology)

    def measure(self, scores: Sequence[LogProbs]) -> Findings:
        """Beliefs, contradictions, the repaired world and accuracy, from one score per prompt."""
        answers = measure.answered(self.questions, self.prompts, scores, self.template)
        repaired = repair(measure.beliefs(self.statements, answers), self.ontology, "paper")
        before = check(repaired.beliefs, self.ontology, believed="believed")
        after = check(repaired.beliefs, self.ontology, believed="repaired")
        judged = measure.judged(repaired.beliefs, self.gold)
        tables = {
            "accuracy": measure.accuracy(judged),
            "accuracy_by_relation": measure.accuracy(judged, ["relation"]),
            "accuracy_by_drawing": measure.accuracy(judged, measure.DRAWING),
            "beliefs": judged,
            "violation": measure.violations(before.to_json(), after.to_json()),
            "violation_by_drawing": before.groups,
            "repair_by_drawing": repaired.table,
        }
        spanned = sum(answer.spanned for score in scores for answer in score.answers)
        summary = {**self._summary(answers, tables, before, repaired), "spanned": spanned}
        return Findings(answers, tables, summary)

    def _summary(
        self,
        answers: pl.DataFrame,
        tables: dict[str, pl.DataFrame],
        before: Check,
        repaired: Repaired,
    ) -> dict[str, Any]:
        known = answers["p_true"].drop_nulls()
        return {
            "things": len({drawing.thing for drawing in self.drawings}),
            "drawings": len(self.drawings),
            "statements": self.statements.height,
            "questions": answers.height,
            "missing": answers["p_true"].null_count(),
            "ties": int((known == 0.5).sum()),  # noqa: PLR2004 - the belief of one undecided
            "true_share": int((known > 0.5).sum()) / known.len() if known.len() else None,  # noqa: PLR2004
            "accuracy": tables["accuracy"].row(0, named=True),
            "violation": tables["violation"].to_dicts(),
            "drawings_with_violation": before.contradicted,
            "repair": repaired.to_json(),
        }
