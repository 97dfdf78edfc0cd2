"""A process that solves large repair problems: problems on standard input, solutions on output."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time

from tacit.coherence.solve import solve_in_turn


def main() -> None:
    """Solve the problems of standard input; only ``tacit.coherence.solve`` starts this process."""
    # At Ctrl-C in a terminal, the process that waits for the solutions ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    programs, left = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own process
    with os.fdopen(os.dup(1), "wb") as output:
        # What the solver prints must not mix with the solutions.
        os.dup2(2, 1)
        solutions, _ = solve_in_turn(programs, time.monotonic() + left)
        pickle.dump(solutions, output)


if __name__ == "__main__":
    main()
