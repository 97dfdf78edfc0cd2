"""A base and a changed model: their measures, answers and violations, and the decisions on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.findings.measure import Measure
from tacit.probes.base import Probe
from tacit.probes.registry import probe
from tacit.runs.gate.decision import GateDecision, decide
from tacit.runs.gate.flips import PairedAnswers, answers_of, violations_of
from tacit.runs.gate.policy import Limit
from tacit.runs.metrics import metric_name
from tacit.runs.run import Run

_ROUNDING = 1e-4
"""By how much log-probabilities of one model may differ, as its requests are packed otherwise."""


@dataclass(frozen=True)
class Pair:
    """The base and a changed model that answered the same questions of a probe."""

    base: Run
    new: Run

    @property
    def kind(self) -> type[Probe]:
        """The probe."""
        return probe(self.new.probe)

    @property
    def findings(self) -> tuple[Findings, Findings]:
        """The findings of the base and of the changed model."""
        return self.base.findings, self.new.findings

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """The measures of both models by name, which is that of an equal metric if there is one."""
        measures = self.kind.measures(dict(zip(("base", "new"), self.findings, strict=True)))
        return {metric_name(self.kind, each.metric or each.name): each for each in measures}

    @cached_property
    def answers(self) -> Mapping[str, PairedAnswers]:
        """The answers of both models by the name of the share of flipped answers."""
        answers = answers_of(self.kind, *self.findings)
        return {metric_name(self.kind, f"flipped {each.noun}s"): each for each in answers}

    @cached_property
    def violations(self) -> pl.DataFrame | None:
        """The violations that only one of the models has; None if the probe names none."""
        return violations_of(self.kind, *self.findings)

    @cached_property
    def is_unchanged(self) -> bool:
        """Whether all findings are equal, but for rounding (``_ROUNDING``)."""
        base, new = self.findings
        tables: list[tuple[pl.DataFrame, pl.DataFrame | None]] = [(base.questions, new.questions)]
        tables += [(table, new.tables.get(name)) for name, table in base.tables.items()]
        return all(other is not None and _are_equal(table, other) for table, other in tables)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """All names of each measure that a policy may name."""
        titles = {name: metric_name(self.kind, each.name) for name, each in self.measures.items()}
        return {name: (name, titles.get(name, name)) for name in (*self.measures, *self.answers)}

    def decide(self, name: str, limit: Limit, candidates: int) -> GateDecision:
        """Decide on a measure of the changed model, one of several candidates."""
        if name not in self.names:
            raise RequestError(
                f"the policy: {self.new.name} has no measure {name}, because it is undefined for "
                f"it; its measures are {', '.join(self.names)}"
            )
        answers = self.answers.get(name)
        if (answers is None) != (limit.above is None):
            takes = "above" if answers else "rises_by or falls_by"
            raise RequestError(f"the policy: {name} takes {takes}, but is given {limit}")
        measure = self._share(answers, limit) if answers else self.measures[name]
        asked = [
            one for one in ([answers] if answers else self.answers.values()) if one.both.height
        ]
        shares = [one.flipped.height / one.both.height for one in asked]
        if limit.margin is not None:
            shares = [share for share in measure.values[1:] if share is not None]
        about: dict[str, Any] = {
            "measure": name,
            "model": self.new.name,
            "n": min((one.both.height for one in asked), default=measure.n),
            "flipped": max(shares, default=0.0),
        }
        are_equal = self.is_unchanged and None not in measure.values
        return decide(measure, limit, about=about, candidates=candidates, are_equal=are_equal)

    def _share(self, answers: PairedAnswers, limit: Limit) -> Measure:
        """The share of flipped answers; of sampled replies, only if their votes are known."""
        share = answers.measure(limit.margin)
        sampled = ["votes" in run.summary for run in (self.base, self.new)]
        if not any(sampled) or answers.both_have("votes"):
            return share
        reason = f"{self.kind.name} counts no votes" if all(sampled) else "one run has no votes"
        return replace(share, apart=f"replies flip by chance, and {reason} to say how often")


def _are_equal(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    from polars.testing import assert_frame_equal

    try:
        assert_frame_equal(one, other, rel_tol=0, abs_tol=_ROUNDING)
    except AssertionError:
        return False
    return True
