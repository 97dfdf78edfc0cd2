"""Solve integer programs in this process or in workers, and stop at the deadline."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from tacit.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.coherence.program import Program, Solution

    Report = Callable[[int, Solution], None]
    SolveOne = Callable[[Program, float, Callable[[Solution], None]], Solution]

# Workers stop slightly before the deadline, so that their last solutions arrive in time.
_MARGIN = 0.05
_LONGEST_MARGIN = 1.0


def solve_in_turn(
    programs: Sequence[Program], solve_one: SolveOne, deadline: float, report: Report
) -> None:
    """Solve integer programs in order; divide the remaining time equally among programs."""
    for number, program in enumerate(programs):
        now = time.monotonic()
        share = now + (deadline - now) / (len(programs) - number)

        def take(solution: Solution, number: int = number) -> None:
            report(number, solution)

        take(solve_one(program, share, take))


@dataclass
class Worker:
    """A process that solves integer programs, and the latest solution of each program."""

    process: subprocess.Popen[bytes]
    solutions: dict[int, Solution]
    reader: threading.Thread

    @classmethod
    def start(cls, programs: Sequence[Program], deadline: float) -> Worker:
        """Start a worker process, and send it the integer programs to solve."""
        # One thread per worker, because the workers already share the cores.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tacit.coherence.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        solutions: dict[int, Solution] = {}
        reader = threading.Thread(target=_read, args=(process.stdout, solutions), daemon=True)
        worker = cls(process, solutions, reader)
        reader.start()
        worker._send(programs, deadline)
        return worker

    def finish(self, deadline: float) -> dict[int, Solution]:
        """Wait for all solutions, but not beyond the deadline; return the solutions received."""
        self.reader.join(None if deadline == math.inf else max(0.0, deadline - time.monotonic()))
        if not self.reader.is_alive() and self.process.wait() != 0:
            raise WorkError(
                f"a worker process of repair exited with code {self.process.returncode}"
            )
        return dict(self.solutions)

    def stop(self) -> None:
        """Kill the worker process, whether or not it has finished."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _send(self, programs: Sequence[Program], deadline: float) -> None:
        if self.process.stdin is None:
            return
        left = deadline - time.monotonic()
        left -= 0.0 if left == math.inf else min(_LONGEST_MARGIN, _MARGIN * left)
        # Monotonic clocks are not comparable between processes, so send the time of day.
        until = time.time() + left
        try:
            with self.process.stdin as stream:
                pickle.dump((list(programs), until), stream)
        except BrokenPipeError as error:
            self.stop()
            raise WorkError(
                "a worker process of repair exited before it read its input; "
                "use one process to repair without workers"
            ) from error


def _read(stream: IO[bytes] | None, solutions: dict[int, Solution]) -> None:
    """Read solutions from a worker process; keep the latest one of each integer program."""
    while stream is not None:
        try:
            number, solution = pickle.load(stream)  # noqa: S301 - our own worker wrote it
        except (EOFError, pickle.UnpicklingError):
            return
        solutions[number] = solution
