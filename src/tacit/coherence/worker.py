"""A worker process that solves the integer programs by which beliefs are repaired."""

from __future__ import annotations

import os
import pickle
import sys
import time
from typing import TYPE_CHECKING

from tacit.coherence.solve import solve_one
from tacit.coherence.workers import solve_in_turn

if TYPE_CHECKING:
    from tacit.coherence.program import Solution


def main() -> None:
    """Read integer programs from standard input, and write solutions to standard output."""
    # Only `tacit.coherence.workers` starts this process and writes to it.
    programs, until = pickle.load(sys.stdin.buffer)  # noqa: S301
    deadline = time.monotonic() + until - time.time()
    # Send other output, such as the solver's, to standard error, away from the solutions.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)

        def report(number: int, solution: Solution) -> None:
            pickle.dump((number, solution), output)
            output.flush()

        solve_in_turn(programs, solve_one, deadline, report)


if __name__ == "__main__":
    main()
