"""Which faults are tried on which road, from which start on; and what must come of each.

No fault that can be seen from outside ends in wrong scores of which nothing is reported. What
cannot be seen is declared with each fault (``Hidden``), with the reason. One case of each fault is
quick. Of the others each road has one start, in turn, so that each fault has both; it has every
start with ``TACIT_TEST_FAULTS=all``.
"""

import os
from collections.abc import Sequence

import pytest

from tests.models.openai.matrix import decisions, faults, named_faults
from tests.models.openai.matrix.faults import HARMLESS, ROADS, STARTS, Fault, Road, Start
from tests.models.openai.matrix.outcomes import ACCEPTED, honest, outcome

FAULTS = (*faults.FAULTS, *named_faults.FAULTS, *decisions.FAULTS)

EVERY = os.environ.get("TACIT_TEST_FAULTS") == "all"
MOST_BEFORE = 40
"""The most requests that an honest server gets before the first prompt."""


def cases(roads: Sequence[Road]) -> list[object]:
    """The tests' parameters for these roads."""
    found: list[object] = []
    for number, fault in enumerate(FAULTS):
        seen = []
        for at, road in enumerate(road for road in ROADS if road in fault.roads):
            starts = [one for one in STARTS if one in fault.starts and not fault.hides(road, one)]
            turn = (number + at) % max(len(starts), 1)
            seen += [(fault, road, one) for one in (starts if EVERY else starts[turn : turn + 1])]
        for at, case in enumerate(seen):
            slow = [pytest.mark.slow] * (at != number % len(seen))
            name = " | ".join((fault.name, *case[1:]))
            if case[1] in roads:
                found.append(pytest.param(*case, id=name, marks=slow))
    return found


def check_honest(road: Road) -> None:
    """An honest server's scores are right, and a few dozen requests come before the first."""
    found, given, before = honest(road)
    assert (found.kind, found.detail) == ("right", "")
    assert given > 150
    assert before <= MOST_BEFORE


def check(fault: Fault, road: Road, start: Start) -> None:
    """The scores are right or missing for a reason, or the fault is reported; or all is right."""
    found = outcome(fault, road, start)
    accepted = ("right",) if fault.name in HARMLESS else ACCEPTED
    assert found.kind in accepted, f"{found.kind}: {found.wrong} wrong, {found.detail}"
