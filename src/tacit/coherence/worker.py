"""A process that solves problems: reads them from standard input, writes the solutions."""

from __future__ import annotations

import os
import pickle
import sys
import time

from tacit.coherence.solve import solve_one


def main() -> None:
    """Solves what comes on standard input."""
    # Only `tacit.coherence.solve` starts this process and writes to it.
    programs, left = pickle.load(sys.stdin.buffer)  # noqa: S301
    deadline = time.monotonic() + left
    # What the solver's library may print must not get between the solutions.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        pickle.dump([solve_one(program, deadline) for program in programs], output)


if __name__ == "__main__":
    main()
