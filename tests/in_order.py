"""Findings from the answers of a model, or from one answer per prompt in their order."""

from collections.abc import Iterable
from typing import Any

from tacit.findings.findings import Findings
from tacit.models.fake import FakeModel
from tacit.probes.base import Answered, Answers, Probe


def measured_in_order(probe: Probe, answers: Iterable[Any]) -> Findings:
    """Give each request of each group the next answer."""
    left = iter(answers)
    groups = {
        name: Answered(group.keys, [next(left) for _ in group.requests])
        for name, group in probe.requests().items()
    }
    return probe.measure(Answers(groups))


def answers_of(probe: Probe, model: FakeModel) -> Answers:
    return Answers(
        {
            name: Answered(group.keys, model.answer(list(group.requests)))
            for name, group in probe.requests().items()
        }
    )
