"""Faults of servers that chat, and of those that decide."""

import pytest

from tests.models.openai.matrix.cases import cases, check, check_honest
from tests.models.openai.matrix.faults import Fault, Road, Start

HERE: tuple[Road, ...] = ("chat", "votes", "decisions")


@pytest.mark.parametrize("road", HERE)
def test_an_honest_server_gives_true_scores_after_few_requests(road: Road) -> None:
    check_honest(road)


@pytest.mark.parametrize(("fault", "road", "start"), cases(HERE))
def test_no_visible_fault_is_silently_wrong(fault: Fault, road: Road, start: Start) -> None:
    check(fault, road, start)
