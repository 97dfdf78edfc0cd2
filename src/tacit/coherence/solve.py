"""Sends each problem to the cheapest exact solver that fits, on one core or on several."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.ordering import MOST_ITEMS, best_order, closure
from tacit.coherence.problems import tie_numbers
from tacit.coherence.program import Program, Solution, solve_program
from tacit.coherence.structure import clauses_of
from tacit.coherence.worlds import all_worlds, best_worlds
from tacit.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.problems import Bucket
    from tacit.coherence.structure import Family, Integers
    from tacit.coherence.worlds import Booleans, Floats

# Starting a worker takes about this many seconds, so less work is done on the spot.
_WORTH_WORKERS = 1.5
_PAIR = 2


@dataclass(frozen=True)
class Effort:
    """How long and on how many cores to work, and whether ties matter.

    Args:
        deadline: The `time.monotonic` at which to stop.
        processes: How many processes may work at once.
        break_ties: Whether to choose among best worlds by the rule, and count free statements.
    """

    deadline: float = float("inf")
    processes: int = 1
    break_ties: bool = True


@dataclass(frozen=True)
class Answers:
    """The chosen worlds of a bucket's problems.

    Args:
        true: Which statements are true, shape (p, v).
        free: Which statements the tie rule alone decided, shape (p, v).
        bound: What no world of the problem exceeds, shape (p,).
        optimal: Whether the world is proven best, shape (p,).
        settled: Whether the tie rule chose among all best worlds, shape (p,).
    """

    true: Booleans
    free: Booleans
    bound: Floats
    optimal: Booleans
    settled: Booleans


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def solve(
    buckets: Sequence[Bucket], families: Sequence[Family], items: Sequence[str], effort: Effort
) -> list[Answers]:
    """Solves all problems.

    Args:
        buckets: The problems.
        families: The ontology's families.
        items: The names of the items, which the tie rule reads.
        effort: How long and on how many cores to work.

    Returns:
        The answers for each bucket, the same for any number of processes unless time runs out.

    Raises:
        WorkError: A worker process died.
    """
    answers = []
    hard: list[tuple[Answers, int, Program]] = []
    for bucket in buckets:
        family = families[bucket.family]
        answer = _blank(bucket)
        answers.append(answer)
        listed = _solve_listed(bucket, family, items, answer)
        hard += [
            (answer, problem, _program(bucket, family, items, problem, effort))
            for problem in np.flatnonzero(~listed).tolist()
        ]
    hard.sort(key=lambda each: _seconds(each[2]))
    solutions = _solve_hard([program for _, _, program in hard], effort)
    for (answer, problem, _), solution in zip(hard, solutions, strict=True):
        answer.true[problem] = solution.true
        answer.free[problem] = solution.free
        answer.bound[problem] = solution.bound
        answer.optimal[problem] = solution.optimal
        answer.settled[problem] = solution.settled
    return answers


def solve_one(program: Program, deadline: float = float("inf")) -> Solution:
    """Solves one problem: an order at no loss by its own methods, else the general way."""
    if not program.total:
        return solve_program(program, deadline)
    n = program.n
    index = clauses_of(program.family, n).index
    weights = np.where(index >= 0, program.weights[index], 0)[0]
    ties = np.where(index >= 0, program.ties[index], 0)[0]
    if n <= MOST_ITEMS:
        order, free = best_order(weights, ties)
        rank = np.argsort(order)
        forward = rank[:, None] < rank[None, :]
        value = float(weights[forward].sum())
        world = _closed(forward & (weights > 0), index)
        return Solution(world, _listed(free, index), value, optimal=True)
    solution = solve_program(program, deadline)
    forward = (index[0] >= 0) & solution.true[index[0]] & (weights > 0)
    return replace(solution, true=_closed(forward, index))


def _blank(bucket: Bucket) -> Answers:
    shape = bucket.weights.shape
    return Answers(
        np.zeros(shape, dtype=bool),
        np.zeros(shape, dtype=bool),
        np.zeros(shape[0]),
        np.ones(shape[0], dtype=bool),
        np.ones(shape[0], dtype=bool),
    )


def _solve_listed(
    bucket: Bucket, family: Family, items: Sequence[str], answer: Answers
) -> Booleans:
    """Solves the problems whose worlds can all be listed, and says which they are, shape (p,)."""
    n = bucket.items.shape[1]
    worlds = all_worlds(family, n)
    if worlds is None:
        return np.zeros(len(bucket.group), dtype=bool)
    # Orders of three items and more have their own rule among equals (`best_order`).
    ordered = (bucket.weights >= 0).all(axis=1) if family.order and n > _PAIR else np.array(False)  # noqa: FBT003
    listed: Booleans = np.broadcast_to(~ordered, len(bucket.group))
    problems = np.flatnonzero(listed)
    # Few problems at a time, so that the table of their worlds stays small.
    step = max(1, 4_000_000 // len(worlds))
    for begin in range(0, len(problems), step):
        some = problems[begin : begin + step]
        ties = partial(_ties_of, bucket, family, items, some)
        best = best_worlds(worlds, bucket.weights[some], ties)
        answer.true[some] = best.true
        answer.free[some] = best.free
        answer.bound[some] = (bucket.weights[some] * best.true).sum(axis=1)
    return listed


def _ties_of(
    bucket: Bucket, family: Family, items: Sequence[str], problems: Integers, row: int
) -> Integers:
    return _ties(bucket, family, items, int(problems[row]))


def _program(
    bucket: Bucket, family: Family, items: Sequence[str], problem: int, effort: Effort
) -> Program:
    weights = bucket.weights[problem]
    return Program(
        family,
        bucket.items.shape[1],
        weights,
        _ties(bucket, family, items, problem),
        total=family.order and bool((weights >= 0).all()),
        break_ties=effort.break_ties,
    )


def _ties(bucket: Bucket, family: Family, items: Sequence[str], problem: int) -> Integers:
    return tie_numbers(family, [items[item] for item in bucket.items[problem]])


def _closed(arcs: Booleans, index: Integers) -> Booleans:
    return _listed(closure(arcs), index)


def _listed(pairs: Booleans, index: Integers) -> Booleans:
    """The pairs of items, shape (n, n), as a list of the statements of an order, shape (v,)."""
    statements = np.zeros(index.max() + 1, dtype=bool)
    statements[index[0][index[0] >= 0]] = pairs[index[0] >= 0]
    return statements


def _seconds(program: Program) -> float:
    """About how long a problem takes."""
    if program.total and program.n <= MOST_ITEMS:
        return 4e-4 + 5e-8 * program.n * 2.0**program.n
    return 4e-3 * 1.25 ** min(program.n, 60) * len(program.family.classes)


def _solve_hard(programs: list[Program], effort: Effort) -> list[Solution]:
    count = min(effort.processes, len(programs))
    if count <= 1 or sum(map(_seconds, programs)) < _WORTH_WORKERS:
        return [solve_one(program, effort.deadline) for program in programs]
    # Dealt out like cards, each worker gets as many long ones as the others.
    hands = [programs[start::count] for start in range(count)]
    workers: list[subprocess.Popen[bytes]] = []
    try:
        for hand in hands[1:]:
            workers.append(_start())
            _hand_over(workers[-1], hand, effort.deadline)
        solutions: list[list[Solution]] = [
            [solve_one(program, effort.deadline) for program in hands[0]]
        ]
        solutions += [_finish(worker) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            if worker.stdout is not None:
                worker.stdout.close()
    return [solutions[number % count][number // count] for number in range(len(programs))]


def _start() -> subprocess.Popen[bytes]:
    # One thread each: the workers share the cores already.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "tacit.coherence.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )


def _hand_over(worker: subprocess.Popen[bytes], hand: list[Program], deadline: float) -> None:
    if worker.stdin is None:
        return
    try:
        with worker.stdin:
            pickle.dump((hand, deadline - time.monotonic()), worker.stdin)
    except BrokenPipeError as error:
        raise WorkError(
            "a process that solves problems ended before it had read them; "
            "use one process to do without it"
        ) from error


def _finish(worker: subprocess.Popen[bytes]) -> list[Solution]:
    output = worker.stdout.read() if worker.stdout is not None else b""
    if worker.wait() != 0:
        raise WorkError(f"a process that solves problems ended with code {worker.returncode}")
    solutions: list[Solution] = pickle.loads(output)  # noqa: S301 - our own worker wrote it
    return solutions
