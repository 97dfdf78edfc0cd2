"""Servers with faults that were seen in practice, from their first answer on or in mid-run.

No fault that can be seen from outside ends in wrong scores of which nothing is reported. What
cannot be seen is declared with each fault (``Hidden``), with the reason. One case of each fault is
quick; the others are slow.
"""

from __future__ import annotations

from itertools import product

import pytest

from tests.models.openai.matrix import decisions, faults, named_faults
from tests.models.openai.matrix.faults import HARMLESS, ROADS, STARTS, Fault, Road, Start
from tests.models.openai.matrix.outcomes import ACCEPTED, honest, outcome

FAULTS = (*faults.FAULTS, *named_faults.FAULTS, *decisions.FAULTS)

MOST_BEFORE = 40
"""The most requests that an honest server gets before the first prompt."""


def _cases() -> list[object]:
    """Each fault where it applies and can be seen; of each fault one case is quick."""
    cases: list[object] = []
    for number, fault in enumerate(FAULTS):
        seen = [
            (fault, road, start)
            for road, start in product(ROADS, STARTS)
            if road in fault.roads and start in fault.starts and not fault.hides(road, start)
        ]
        for at, case in enumerate(seen):
            slow = at != number % len(seen)
            name = " | ".join((fault.name, *case[1:]))
            cases.append(pytest.param(*case, id=name, marks=[pytest.mark.slow] * slow))
    return cases


@pytest.mark.parametrize("road", ROADS)
def test_an_honest_server_gives_true_scores_after_few_requests(road: Road) -> None:
    """All scores are right, and a few dozen requests come before the first prompt."""
    found, given, before = honest(road)
    assert (found.kind, found.detail) == ("right", "")
    assert given > 150
    assert before <= MOST_BEFORE


@pytest.mark.parametrize(("fault", "road", "start"), _cases())
def test_no_visible_fault_is_silently_wrong(fault: Fault, road: Road, start: Start) -> None:
    """The scores are right or missing for a reason, or the fault is reported; or all is right."""
    found = outcome(fault, road, start)
    accepted = ("right",) if fault.name in HARMLESS else ACCEPTED
    assert found.kind in accepted, f"{found.kind}: {found.wrong} wrong, {found.detail}"


def test_each_fault_has_a_name_and_an_issue() -> None:
    """An issue is written as owner/repository#number; of decisions, none is known."""
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert set(HARMLESS) <= set(names)
    assert all(fault.issue.count("/") == 1 and "#" in fault.issue for fault in faults.FAULTS)
