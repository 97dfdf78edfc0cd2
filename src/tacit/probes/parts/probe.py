"""Build questions from drawings, and compute the findings of the parts probe."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from tacit.charts.shown import Shown
from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError, RequestError
from tacit.findings.findings import Findings, votes_summary
from tacit.findings.measure import Measure
from tacit.probes.base import Answers, Probe, Requests
from tacit.probes.parts import (
    HEADLINES,
    TABLES,
    accuracy,
    beliefs,
    discrimination,
    questions,
    repair,
)
from tacit.probes.parts.beliefs import answers_in
from tacit.probes.parts.block import block, verdict
from tacit.probes.parts.details import details, graph_set
from tacit.probes.parts.edges import violations
from tacit.probes.parts.options import PartsOptions, names
from tacit.probes.parts.questions import AS_IN_THE_PAPER, QUESTION, Template, Wording
from tacit.probes.parts.repair import RepairedBeliefs
from tacit.requests import Prompt
from tacit.sources.drawings import Drawing, is_things, read_drawings, undrawn
from tacit.sources.statements import agreement, all_statements, drawing_statements
from tacit.statistics import Bootstrap
from tacit.strings import Spellings

if TYPE_CHECKING:
    from tacit.charts.theme import Spec


_LABELS = ("labelled", "contradicted")
_FAST = "one drawing per thing, and only the statements with a gold label"


@dataclass(frozen=True)
class PartsProbe(Probe):
    """A probe that asks about all possible relations between the parts of a thing."""

    name = "parts"
    summary = (
        "Ask how the parts of everyday things are related, count constraint violations, and repair "
        "beliefs."
    )
    question = (
        "Are the model's beliefs about the parts of everyday things free of contradictions, and "
        "how much more accurate does repair make them? (Gu et al. 2023)"
    )
    Options = PartsOptions
    tables = TABLES
    headlines = HEADLINES
    figures = "tacit.probes.parts.figures:FIGURES"
    filters = ("relation", "thing")
    block = staticmethod(block)
    details = staticmethod(details)
    violations = staticmethod(violations)
    report_graphs = staticmethod(graph_set)

    drawings: Sequence[Drawing]
    ontology: Ontology
    template: Template
    wording: Wording = AS_IN_THE_PAPER
    fast: bool = False
    calibrate: bool = False

    @classmethod
    def of(cls, options: PartsOptions) -> Self:
        """Build the probe from options; see ``Probe.of``."""
        template = options.template()
        wording = Wording.of(options.number, options.nouns)
        ontology = Ontology.load(options.ontology)
        probe = cls.read(options.drawings, names(options.things), options.limit, ontology)
        if options.fast:
            first: dict[str, Drawing] = {}
            for drawing in probe.drawings:
                first.setdefault(drawing.thing, drawing)
            probe = replace(probe, drawings=tuple(first.values()))
        return replace(
            probe,
            template=template,
            wording=wording,
            fast=options.fast,
            calibrate=options.calibrate,
        )

    @classmethod
    def read(
        cls,
        path: Path,
        things: Collection[str] | None = None,
        limit: int | None = None,
        ontology: Ontology | None = None,
    ) -> Self:
        """Create a probe from a file or folder with things and their parts."""
        ontology = ontology or Ontology.load("parts")
        if is_things(path):
            drawings = undrawn(path, things)
        else:
            drawings = read_drawings(path, ontology.relations, things)
        first = list(dict.fromkeys(drawing.thing for drawing in drawings))[:limit]
        chosen = tuple(drawing for drawing in drawings if drawing.thing in first)
        probe = cls(chosen, ontology, Template.load("plain"))
        if all(len(drawing.parts) < 2 for drawing in probe.drawings):  # noqa: PLR2004 - a pair
            raise DataError("no thing has two parts, so there are no questions to ask", path)
        return probe

    @cached_property
    def statements(self) -> pl.DataFrame:
        """The statements that relate two parts of a thing, one per row."""
        statements = all_statements(self.drawings, self.ontology.relations)
        if not self.fast or self.gold.is_empty():
            return statements
        return statements.join(self.gold, on=beliefs.STATEMENT, how="semi", maintain_order="left")

    @cached_property
    def questions(self) -> pl.DataFrame:
        """A table with one row per distinct combination of thing, subject, relation and object."""
        return questions.questions(self.statements)

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """One prompt per question, in the order of ``questions``."""
        relations, wording = self.ontology.relations, self.wording
        return [
            self.template.prompt(
                wording.with_article(thing), wording.statement(subject, relations[relation], obj)
            )
            for thing, subject, relation, obj in self.questions.iter_rows()
        ]

    @cached_property
    def gold(self) -> pl.DataFrame:
        """The gold labels that follow from the drawings, one row per labelled statement."""
        return enrich(drawing_statements(self.drawings), self.ontology)

    @property
    def _own_ontology(self) -> dict[str, Any]:
        """The content of an ontology other than that of the paper, for the graphs of a report."""
        papers = self.ontology.fingerprint == Ontology.load("parts").fingerprint
        return {} if papers else {"ontology": self.ontology.to_json()}

    @classmethod
    def measures(cls, found: Mapping[str, Findings]) -> list[Measure]:
        """Return what is compared between models; see ``tacit.probes.parts.measures``."""
        from tacit.probes.parts.measures import measures

        return measures(found)

    @staticmethod
    def sides(findings: Findings) -> Mapping[str, pl.DataFrame]:
        """Return which statements are believed; right where all annotators agree on the label."""
        labels = findings.tables["beliefs"].group_by(QUESTION).agg(pl.col("label").drop_nulls())
        agreed = pl.when(pl.col("label").list.n_unique() == 1).then(pl.col("label").list.first())
        side = pl.col("p_true") > 1 / 2
        known = findings.questions.drop_nulls("p_true").join(labels, on=QUESTION, how="left")
        p, yes, no = pl.col("p_true"), pl.col("votes_true"), pl.col("votes_false")
        voted = "votes_true" in known.columns
        more = {"yes": yes, "votes": yes + no} if voted else {"log_odds": (p / (1 - p)).log()}
        return {"statement": known.select(*QUESTION, side=side, right=side == agreed, **more)}

    def check_graphs(self, options: PartsOptions) -> None:
        """Check that every thing in ``--graphs`` has a drawing."""
        things = self._graphed(options) or []
        unknown = sorted(set(things) - {drawing.thing for drawing in self.drawings})
        if unknown:
            raise RequestError(
                f"--graphs: no drawing of {', '.join(unknown)}; expected things in the drawings"
            )

    def _graphed(self, options: PartsOptions) -> list[str] | None:
        given = names(options.graphs)
        spelled = Spellings(drawing.thing for drawing in self.drawings)
        return None if given is None else [spelled(name) for name in given]

    @staticmethod
    def graphs(shown: Shown, probe: PartsProbe, options: PartsOptions) -> Mapping[str, Spec]:
        """Return the parts graphs that ``--graphs`` selects, by file name."""
        from tacit.probes.parts.details import graph_files

        return graph_files(shown, probe.ontology, probe._graphed(options))

    def requests(self) -> Mapping[str, Requests]:
        """Return one group of requests, with one request per question; see ``Probe.requests``."""
        return {"questions": Requests(self.questions, self.prompts)}

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from answers; see ``Probe.measure``."""
        frame, votes = answers.frame("questions"), answers.sampled
        probabilities = (beliefs.voted if votes else beliefs.scored)(frame, self.template)
        asked = self.questions.with_columns(text=pl.Series([one.text for one in self.prompts]))
        joined = asked.join(probabilities, on=questions.QUESTION, how="left", maintain_order="left")
        findings = self.measure_beliefs(joined)
        more: dict[str, Any] = {}
        if votes:
            more["votes"] = votes_summary(answers.groups["questions"].answers)
        else:
            more["answer_probability"] = (
                beliefs.option_probability(frame)
                if "label_mass" in frame.columns
                else beliefs.answer_probability(probabilities)
            )
            more["spanned"] = int(frame["spanned"].sum())
        return findings.with_summary(**more)

    def measure_file(self, beliefs: Path) -> Findings:
        """Compute the findings from a file of beliefs; see ``Probe.measure_file``."""
        return self.measure_beliefs(answers_in(beliefs, self.statements, self.ontology))

    def measure_beliefs(self, answers: pl.DataFrame) -> Findings:
        """Compute constraint violations, repaired beliefs and accuracy from beliefs."""
        raw = beliefs.beliefs(self.statements, answers)
        made = repair.check_and_repair(raw, self.ontology)
        judged = made.beliefs.join(
            self.gold, on=beliefs.STATEMENT, how="left", maintain_order="left"
        )
        accuracies = accuracy.tables(judged, self.ontology.symmetric)
        above = discrimination.thresholds(answers, calibrate=self.calibrate)
        groups = {"before": made.before.groups}
        groups |= discrimination.calibrated(raw, self.ontology, above)
        tables = accuracies | {
            "discrimination": discrimination.discrimination(
                judged, answers, above, self.ontology, groups
            ),
            "repaired_shuffled": repair.repaired_shuffled(judged, self.ontology),
            "violation": repair.violation(made, self.ontology),
            "violation_by_drawing": made.before.groups,
            "repair": repair.repair_effects(made.repairs, accuracies["accuracy_by_drawing"]),
            "repair_by_drawing": repair.repair_by_drawing(made.repairs),
            "agreement": agreement(self.gold),
            "beliefs": judged,
        }
        summary = self._summary(answers, tables, made)
        findings = Findings(answers, tables, summary)
        return findings.with_summary(verdict=verdict(findings).to_json())

    def _summary(
        self, answers: pl.DataFrame, tables: dict[str, pl.DataFrame], made: RepairedBeliefs
    ) -> dict[str, Any]:
        return {
            "things": len({drawing.thing for drawing in self.drawings}),
            "drawings": len(self.drawings),
            "statements": self.statements.height,
            **beliefs.answered_summary(answers),
            "missing_statements": made.before.missing,
            **{f"labels_{name}": int(tables["agreement"][name].sum()) for name in _LABELS},
            "shuffles": {"repetitions": repair.SHUFFLES, "seed": repair.SEED},
            **({"fast": _FAST} if self.fast else {}),
            **self._own_ontology,
            "macro": made.before.macro,
            "micro": made.before.micro,
            **repair.set_level(made.before.groups),
            "intervals": {**Bootstrap().to_json(), "clusters": "thing"},
        }
