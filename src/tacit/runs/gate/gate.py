"""Evaluate a gate: the decisions on changed models, and what differs from the base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.numbers import points, score
from tacit.runs.comparison import check_comparable
from tacit.runs.gate.decision import VERDICTS, GateDecision, Verdict
from tacit.runs.gate.flips import PairedAnswers
from tacit.runs.gate.pair import Pair
from tacit.runs.gate.policy import Limit, Policy, find
from tacit.runs.reading import all_runs
from tacit.runs.run import Run, named

_EXIT_CODES: Mapping[Verdict, int] = {"passed": 0, "failed": 3, "inconclusive": 4}
_MOST_LINES = 10
_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Gate:
    """The result of a gate.

    Args:
        base: The name of the base model.
        decisions: The decision on each measure of the policy and each changed model. A decision
            has the attributes ``measure``, ``model``, ``verdict``, ``change`` (an estimate with its
            interval), ``detectable``, ``needed`` and ``limit``.

    Examples:
        >>> import tacit
        >>> drawings = tacit.demo_data("drawings")
        >>> run = tacit.run("parts", model="demo", drawings=drawings, limit=1, progress=False)
        >>> tacit.gate(run, run, policy={"says_true": {"rises_by": 1.0}}).verdict
        'passed'
    """

    base: str
    decisions: tuple[GateDecision, ...]
    _pairs: tuple[Pair, ...] = field(default=(), compare=False, repr=False)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict: ``failed``, ``inconclusive`` or ``passed``."""
        return min((each.verdict for each in self.decisions), key=VERDICTS.index)

    @property
    def exit_code(self) -> int:
        """The exit code of ``tacit compare --gate``: 0 passed, 3 failed, 4 inconclusive."""
        return _EXIT_CODES[self.verdict]

    @cached_property
    def flipped(self) -> Mapping[tuple[str, str], pl.DataFrame]:
        """The flipped answers (``base``, ``new``), by changed model and what is answered."""
        return {
            (pair.new.name, each.noun): each.listed
            for pair in self._pairs
            for each in pair.answers.values()
        }

    @cached_property
    def violations(self) -> Mapping[str, pl.DataFrame]:
        """The violations that only one model has (``state``: new or healed), by changed model."""
        tables = {pair.new.name: pair.violations for pair in self._pairs}
        return {name: table for name, table in tables.items() if table is not None}

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict, each decision, and what differs, in at most ten lines."""
        ordered = sorted(self.decisions, key=lambda each: VERDICTS.index(each.verdict))
        one = len(self._pairs) == 1
        decided = [
            f"  {each.verdict}: {'' if one else f'{each.model}, '}{changed(each)}"
            for each in ordered
        ]
        lines = [f"Gate: {self.verdict}. {self.basis}", *decided, *self.differences]
        lines += self._examples if one else ()
        left = len(lines) - _MOST_LINES
        if left > 0:
            lines[_MOST_LINES - 1 :] = [f"and {several(left + 1, 'more line')}: --markdown, --json"]
        return tuple(lines)

    @property
    def basis(self) -> str:
        """A sentence about the base and the bounds."""
        sure = sorted({each.confidence for each in self.decisions})
        at = " or ".join(f"{100 * each:.4g}{_SPACE}%" for each in sure)
        return f"Against {self.base}; in brackets, one-sided bounds at {at} confidence."

    @property
    def differences(self) -> Iterator[str]:
        """Yield how many answers and violations of each changed model differ from the base's."""
        for pair in self._pairs:
            parts = [_counted(each) for each in pair.answers.values()]
            table = pair.violations
            if table is not None:
                new = table.filter(state="new")
                parts.append(
                    f"{several(new.height, 'violation')} new, {table.height - new.height:,} healed"
                )
            if parts:
                yield f"{pair.new.name}: {'; '.join(parts)}"

    @property
    def _examples(self) -> Iterator[str]:
        """Yield the first flipped answer of each kind, and the first new violation."""
        for (_, noun), rows in self.flipped.items():
            for row in rows.head(1).to_dicts():
                yield f"  a flipped {noun}: “{row['question']}”, {row['base']} → {row['new']}"
        for rows in self.violations.values():
            for row in rows.filter(state="new").head(1).to_dicts():
                yield f"  a new violation: “{row['text']}”"

    def to_json(self) -> dict[str, Any]:
        """Return the gate as printed by ``tacit compare --gate --json``."""
        counts = [
            {"model": pair.new.name, "answer": each.noun, **each.counts}
            for pair in self._pairs
            for each in pair.answers.values()
        ]
        flipped = [
            {"model": model, "answer": noun, **row}
            for (model, noun), table in self.flipped.items()
            for row in table.to_dicts()
        ]
        violations = [
            {"model": model, **row}
            for model, table in self.violations.items()
            for row in table.to_dicts()
        ]
        return {
            "verdict": self.verdict,
            "base": self.base,
            "decisions": [each.to_json() for each in self.decisions],
            "answers": counts,
            "flipped": flipped,
            "violations": violations,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines)


def titled(decision: GateDecision) -> str:
    """Return the name of the measure, and what a share of flipped answers leaves out."""
    return f"{decision.measure}, {decision.note}" if decision.note else decision.measure


def changed(decision: GateDecision) -> str:
    """Return the measure, its change, the limit, and what the questions can decide."""
    before, after = map(score, decision.values)
    values = "" if decision.limit.above is not None else f"{before} to {after}, "
    more = f"; {text}" if (text := outlook(decision)) else ""
    change = f"{values}{interval(decision)} (limit: {decision.limit}){more}"
    return f"{titled(decision)}: {change}"


def interval(decision: GateDecision) -> str:
    """Return the change in percentage points, or the share in per cent, with its bounds."""
    change = decision.change
    texts = [
        points(each).removesuffix(" points") for each in (change.value, change.low, change.high)
    ]
    if decision.limit.above is not None:
        texts = [text.removeprefix("+") for text in texts]
    value, low, high = texts
    if change.value is None:
        return value
    return f"{value}{_unit(decision)}" + ("" if change.low is None else f" [{low}, {high}]")


def _unit(decision: GateDecision) -> str:
    return " points" if decision.limit.above is None else f"{_SPACE}%"


def outlook(decision: GateDecision) -> str:
    """Return why there is no interval, how many questions would decide, or what can be found."""
    if decision.change.low is None:
        return f"no interval: {decision.change.why or 'undefined for a model'}"
    if decision.verdict == "inconclusive":
        if decision.needed is None:
            return "too near the limit to decide"
        return f"about {several(decision.needed, 'question')} would decide, now {decision.n:,}"
    if decision.verdict == "failed" or decision.detectable is None:
        return ""
    ways = {"a rise": decision.limit.rises_by, "a fall": decision.limit.falls_by}
    direction = " or ".join(way for way, by in ways.items() if by is not None) or "a share"
    return f"finds {direction} of {100 * decision.detectable:.1f}{_unit(decision)}"


def _counted(answers: PairedAnswers) -> str:
    counts = answers.counts
    listed = ", ".join(
        f"{count:,} {way.replace('_', ' ')}"
        for way, count in counts.items()
        if way.startswith("became") or (way == "answered_once" and count)
    )
    of = several(counts["n"], answers.noun)
    return f"{counts['flipped']:,} of {of} flipped{f' ({listed})' if counts['flipped'] else ''}"


def gate_of(
    base: Sequence[Run | Path | str],
    new: Sequence[Run | Path | str],
    policy: Policy,
    *,
    force: bool = False,
) -> tuple[Gate, tuple[Run, ...]]:
    """Check runs by a policy; ``base`` may be a run of each probe, and be among ``new``."""
    if not new:
        raise RequestError("a gate needs the base and at least one run to compare with it")
    first, others = all_runs(base), all_runs(new)
    _check_probes(first, others)
    runs = named([*first, *others])
    check_comparable(runs, force=force)
    return evaluate(runs[: len(first)], runs[len(first) :], policy), runs


def _check_probes(base: Sequence[Run], new: Sequence[Run]) -> None:
    bases = {run.probe: run for run in base}
    if len(bases) < len(base):
        raise RequestError(f"the base has several runs of {base[0].probe}; give one of them")
    if other := [run for run in new if run.probe not in bases]:
        raise RequestError(
            f"{other[0].name} ran the probe {other[0].probe}, but the base {', '.join(bases)}; "
            "runs of different probes cannot be compared"
        )


def evaluate(base: Sequence[Run], new: Sequence[Run], policy: Policy) -> Gate:
    """Decide on each measure of a policy for each changed model, against its probe's base."""
    bases = {run.probe: run for run in base}
    pairs = tuple(Pair(bases[run.probe], run) for run in new)
    known = {name: names for pair in pairs for name, names in pair.names.items()}
    metrics = [name for run in base for name in run.metrics]
    limits = dict[str, Limit]()
    for key, limit in policy.root.items():
        name = find(key, known, metrics)
        if name in limits:
            raise RequestError(f"the policy: {key} is a second name of {name}; keep one of both")
        limits[name] = limit
    decisions = [
        pair.decide(name, limit, sum(each.new.probe == pair.new.probe for each in pairs))
        for pair in pairs
        for name, limit in limits.items()
        if name.partition("/")[0] == pair.kind.name
    ]
    return Gate(base[0].name, tuple(decisions), pairs)
