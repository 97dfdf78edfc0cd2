"""How long exact repair may take, and on how many cores."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from tacit.errors import RequestError

TIME_LIMIT = 600.0
"""Seconds that exact repair may take unless another limit is given."""


@dataclass(frozen=True)
class Effort:
    """How long and on how many cores to work, and whether ties matter.

    Args:
        deadline: The `time.monotonic` at which to stop.
        processes: How many processes may work at once.
        break_ties: Whether to choose among best assignments by the rule, and count free statements.
    """

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
    """The effort for a time limit in seconds and a number of processes, None for no limits.

    Args:
        started: The `time.monotonic` from which the limit counts.
        time_limit: Seconds, above 0.
        processes: At least 1; None for one per core.
        break_ties: As in `Effort`.

    Raises:
        RequestError: The time limit or the number of processes is out of range.
    """
    if time_limit is not None and not time_limit > 0:
        raise RequestError(f"the time limit is {time_limit}; expected seconds above 0")
    if processes is not None and processes < 1:
        raise RequestError(f"the number of processes is {processes}; expected at least 1")
    deadline = math.inf if time_limit is None else started + time_limit
    return Effort(deadline, cores() if processes is None else processes, break_ties)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
