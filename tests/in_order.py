"""Findings from one answer per prompt, in the order of the prompts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.findings.findings import Findings
from tacit.probes.base import Answered, Answers, Probe


def measured_in_order(probe: Probe, answers: Iterable[Any]) -> Findings:
    """Give each request of each group the next answer."""
    left = iter(answers)
    groups = {
        name: Answered(group.keys, [next(left) for _ in group.requests])
        for name, group in probe.requests().items()
    }
    return probe.measure(Answers(groups))
