"""The time limit for exact repair, and the number of processes that exact repair uses."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from tacit.errors import RequestError

TIME_LIMIT = 600.0
"""Default time limit of exact repair, in seconds."""


@dataclass(frozen=True)
class Effort:
    """Settings of exact repair: deadline, number of processes, and whether to break ties."""

    deadline: float = math.inf
    processes: int = 1
    break_ties: bool = True


def effort_of(
    started: float,
    time_limit: float | None,
    processes: int | None = None,
    *,
    break_ties: bool = True,
) -> Effort:
    """Return an ``Effort`` for a time limit in seconds and a number of processes."""
    if time_limit is not None and not time_limit > 0:
        raise RequestError(f"the time limit is {time_limit}; expected more than 0 seconds")
    if processes is not None and processes < 1:
        raise RequestError(f"the number of processes is {processes}; expected at least 1")
    deadline = math.inf if time_limit is None else started + time_limit
    return Effort(deadline, cores() if processes is None else processes, break_ties)


def cores() -> int:
    """Return the number of CPU cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
