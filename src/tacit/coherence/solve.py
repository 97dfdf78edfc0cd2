"""Solve each repair problem with the fastest exact solver, in one or several processes."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.constraints import clauses_of
from tacit.coherence.enumeration import all_assignments, best_assignments
from tacit.coherence.ordering import MOST_ITEMS, best_order, closure
from tacit.coherence.problems import tie_numbers
from tacit.coherence.program import Program, Solution, quick_solution, solve_program
from tacit.coherence.workers import Worker, solve_in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.coherence.constraints import Family, Integers
    from tacit.coherence.effort import Effort
    from tacit.coherence.enumeration import Booleans, Floats
    from tacit.coherence.problems import Bucket


# A worker takes half of this to start, so shorter work is done sooner in this process.
_WORTH_WORKERS = 3.0
# The share of the remaining time for fallback solutions.
_QUICK_SHARE = 0.1
_PAIR = 2


@dataclass(frozen=True)
class Answers:
    """The chosen assignment for each repair problem in a bucket of similar problems."""

    true: Booleans
    free: Booleans
    bound: Floats
    optimal: Booleans
    settled: Booleans


def solve(
    buckets: Sequence[Bucket], families: Sequence[Family], items: Sequence[str], effort: Effort
) -> list[Answers]:
    """Solve all repair problems."""
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


def solve_one(
    program: Program,
    deadline: float = math.inf,
    report: Callable[[Solution], None] | None = None,
) -> Solution:
    """Solve one integer program by dynamic programming or by ``solve_program``."""
    if not program.total:
        return solve_program(program, deadline, report)
    if program.n <= MOST_ITEMS:
        index = clauses_of(program.family, program.n).index
        weights = np.where(index >= 0, program.weights[index], 0)[0]
        ties = np.where(index >= 0, program.ties[index], 0)[0]
        order, free = best_order(weights, ties)
        rank = np.argsort(order)
        forward = rank[:, None] < rank[None, :]
        value = float(weights[forward].sum())
        assignment = _closed(forward & (weights > 0), index)
        return Solution(assignment, _listed(free, index), value, optimal=True)

    def take(solution: Solution) -> None:
        if report is not None:
            report(_least(solution, program))

    return _least(solve_program(program, deadline, take), program)


def _least(solution: Solution, program: Program) -> Solution:
    """Keep a statement true only if its weight is positive or other true statements imply it."""
    index = clauses_of(program.family, program.n).index
    weights = np.where(index >= 0, program.weights[index], 0)[0]
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
    """Solve a bucket's problems by enumeration where possible; return which are solved."""
    n = bucket.items.shape[1]
    assignments = all_assignments(family, n)
    if assignments is None:
        return np.zeros(len(bucket.group), dtype=bool)
    # Orders of three or more items have a separate tie rule (`best_order`).
    ordered = (bucket.weights >= 0).all(axis=1) if family.order and n > _PAIR else np.array(False)  # noqa: FBT003
    listed: Booleans = np.broadcast_to(~ordered, len(bucket.group))
    problems = np.flatnonzero(listed)
    # Process few problems at a time to limit the size of the table.
    step = max(1, 4_000_000 // len(assignments))
    for begin in range(0, len(problems), step):
        some = problems[begin : begin + step]
        ties = partial(_ties_of, bucket, family, items, some)
        best = best_assignments(assignments, bucket.weights[some], ties)
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
    """Convert a matrix of item pairs, shape (n, n), to truth values of statements, shape (v,)."""
    statements = np.zeros(index.max() + 1, dtype=bool)
    statements[index[0][index[0] >= 0]] = pairs[index[0] >= 0]
    return statements


def _seconds(program: Program) -> float:
    """Estimate the time to solve a program, in seconds."""
    if program.total and program.n <= MOST_ITEMS:
        return 4e-4 + 5e-8 * program.n * 2.0**program.n
    return 1.3e-3 * 1.25 ** min(program.n, 60) * len(program.family.classes)


def _solve_hard(programs: list[Program], effort: Effort) -> list[Solution]:
    """Solve integer programs in this process, in worker processes, or in both."""
    solutions: dict[int, Solution] = {}
    limited = effort.deadline < math.inf
    alone = min(effort.processes, len(programs)) <= 1 and not limited
    if alone or sum(map(_seconds, programs)) < _WORTH_WORKERS:
        solve_in_turn(programs, solve_one, effort.deadline, solutions.__setitem__)
        return [solutions[number] for number in range(len(programs))]
    if limited:
        solutions = _short_solutions(programs, effort.deadline)
        solutions |= _quick_solutions(programs, effort.deadline)
    done = {number for number, each in solutions.items() if each.optimal and each.settled}
    left = [number for number in range(len(programs)) if number not in done]
    count = min(effort.processes, len(left))
    # Programs are sorted by cost, so dealing them out in turn balances the workers.
    hands = [left[start::count] for start in range(count)]
    # A worker can be killed at the deadline, but a solver in this process cannot.
    own = [] if limited else hands.pop(0)
    workers: list[Worker] = []
    try:
        for hand in hands:
            mine = [programs[number] for number in hand]
            workers.append(Worker.start(mine, effort.deadline))
        for number in own:
            solutions[number] = solve_one(programs[number])
        for hand, worker in zip(hands, workers, strict=True):
            found = worker.finish(effort.deadline)
            solutions |= {hand[number]: solution for number, solution in found.items()}
    finally:
        for worker in workers:
            worker.stop()
    for number, program in enumerate(programs):
        if number not in solutions:
            solutions[number] = _quick_solution(program, effort.deadline)
    return [solutions[number] for number in range(len(programs))]


def _short_solutions(programs: list[Program], deadline: float) -> dict[int, Solution]:
    """Solve the easiest integer programs in this process, without starting a worker."""
    costs = itertools.accumulate(map(_seconds, programs))
    short = sum(cost < _WORTH_WORKERS / 2 for cost in costs)
    found: dict[int, Solution] = {}
    solve_in_turn(programs[:short], solve_one, deadline, found.__setitem__)
    return found


def _quick_solutions(programs: list[Program], deadline: float) -> dict[int, Solution]:
    """Compute approximate solutions of slow integer programs as a fallback."""
    long = [number for number, program in enumerate(programs) if _seconds(program) > 1]
    found = {}
    for done, number in enumerate(long):
        now = time.monotonic()
        share = now + _QUICK_SHARE * (deadline - now) / (len(long) - done)
        found[number] = _quick_solution(programs[number], share)
    return found


def _quick_solution(program: Program, deadline: float) -> Solution:
    solution = quick_solution(program, deadline)
    return _least(solution, program) if program.total else solution
