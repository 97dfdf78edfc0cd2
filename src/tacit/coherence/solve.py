"""Solve each repair problem with the cheapest exact method."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.closure import Booleans, Floats, Integers, Rules, close
from tacit.coherence.constraints import clauses_of
from tacit.coherence.enumeration import all_assignments, best_assignments
from tacit.coherence.integer_program import Program, Solution, solve_program
from tacit.coherence.orders import MOST_ITEMS, best_orders
from tacit.errors import WorkError

if TYPE_CHECKING:
    from tacit.coherence.problems import Bucket

_PAIR = 2
# Larger orders take their turn among the other problems, by size.
_MOST_TOGETHER = 11
_MOST_CELLS = 4_000_000
# Problems that take less time, in seconds, are not worth a process.
_PATIENCE = 2.0


@dataclass(frozen=True)
class Solutions:
    """The chosen assignment for each repair problem in a bucket of similar problems."""

    true: Booleans
    free: Booleans
    bound: Floats
    optimal: Booleans
    settled: Booleans


def solve(
    buckets: Sequence[Bucket], deadline: float = math.inf, *, break_ties: bool = True
) -> list[Solutions]:
    """Solve all problems; the smallest first, each with an equal share of the time that is left."""
    answers = []
    hard: list[tuple[Solutions, int, Program]] = []
    for bucket in buckets:
        rules, n = bucket.rules, bucket.items.shape[1]
        answer = _blank(bucket)
        answers.append(answer)
        # Orders of three or more items have a separate tie rule (`best_orders`).
        total: Booleans = np.asarray((bucket.weights >= 0).all(axis=1) & rules.order)
        solved = _solve_listed(bucket, ~total | (n <= _PAIR), answer)
        ordered = np.flatnonzero(total & ~solved)
        if ordered.size and n <= _MOST_TOGETHER:
            found = _ordered(rules, n, bucket.weights[ordered], bucket.ties(ordered))
            for of, values in zip((answer.true, answer.free, answer.bound), found, strict=True):
                of[ordered] = values
            solved[ordered] = True
        rest = np.flatnonzero(~solved)
        for problem, ties in zip(rest.tolist(), bucket.ties(rest), strict=True):
            weights = bucket.weights[problem]
            program = Program(rules, n, weights, ties, bool(total[problem]), break_ties)
            hard.append((answer, problem, program))
    hard.sort(key=lambda each: each[2].n)
    programs = [program for _, _, program in hard]
    solutions, slow = solve_in_turn(programs, deadline, _PATIENCE)
    if slow:
        apart = _solve_apart([programs[number] for number in slow], deadline)
        for number, solution in zip(slow, apart, strict=True):
            solutions[number] = solution
    for (answer, problem, _), solution in zip(hard, solutions, strict=True):
        answer.true[problem] = solution.true
        answer.free[problem] = solution.free
        answer.bound[problem] = solution.bound
        answer.optimal[problem] = solution.optimal
        answer.settled[problem] = solution.settled
    return answers


def solve_in_turn(
    programs: Sequence[Program], deadline: float, patience: float = math.inf
) -> tuple[list[Solution], list[int]]:
    """Solve problems in order, each with an equal share of the time that is left.

    Also return the numbers of the problems that ``patience``, in seconds, left unsolved.
    """
    solutions, slow = [], []
    for number, program in enumerate(programs):
        now = time.monotonic()
        share = now + (deadline - now) / (len(programs) - number)
        limit = min(share, now + patience)
        solutions.append(solve_one(program, limit))
        if limit < share and not (solutions[-1].optimal and time.monotonic() < limit):
            slow.append(number)
    return solutions, slow


def _solve_apart(programs: Sequence[Program], deadline: float) -> list[Solution]:
    """Solve problems in a process, which Ctrl-C ends at once; a running HiGHS ignores it."""
    command = [sys.executable, "-P", "-m", "tacit.coherence.solver_process"]
    given = pickle.dumps((programs, deadline - time.monotonic()))
    ran = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=False)  # noqa: S603 - our own module
    if ran.returncode:
        raise WorkError(f"the solver process of repair exited with code {ran.returncode}")
    solutions: list[Solution] = pickle.loads(ran.stdout)  # noqa: S301 - from our own process
    return solutions


def solve_one(program: Program, deadline: float = math.inf) -> Solution:
    """Solve one problem by dynamic programming or as an integer program."""
    rules, n, weights = program.rules, program.n, program.weights
    if program.total and n <= MOST_ITEMS:
        true, free, bound = _ordered(rules, n, weights[None], program.ties[None])
        return Solution(true[0], free[0], float(bound[0]), optimal=True)
    solution = solve_program(program, deadline)
    if not program.total:
        return solution
    return replace(solution, true=_implied((solution.true & (weights > 0))[None], rules, n)[0])


def _ordered(
    rules: Rules, n: int, weights: Integers, ties: Integers
) -> tuple[Booleans, Booleans, Integers]:
    """Order all items of each problem; return true and free statements, and the total weights.

    A statement is true only if it has a positive weight or is implied by others.
    """
    index = clauses_of(rules, n).index[0]
    pairs = index >= 0
    orders, free = best_orders(*(np.where(pairs, each[:, index], 0) for each in (weights, ties)))
    rank = np.argsort(orders, axis=1)
    forward = (rank[:, :, None] < rank[:, None, :])[:, pairs]
    return _implied(forward & (weights > 0), rules, n), free[:, pairs], (weights * forward).sum(1)


def _implied(true: Booleans, rules: Rules, n: int) -> Booleans:
    """Add to the statements of an order, one problem per row, those that they imply."""
    clauses = clauses_of(rules, n)
    found = true[:, clauses.index] & (clauses.index >= 0)
    close(found, rules)
    listed: Booleans = found[:, *clauses.variables.T]
    return listed


def _blank(bucket: Bucket) -> Solutions:
    shape = bucket.weights.shape
    return Solutions(
        np.zeros(shape, dtype=bool),
        np.zeros(shape, dtype=bool),
        np.zeros(shape[0]),
        np.ones(shape[0], dtype=bool),
        np.ones(shape[0], dtype=bool),
    )


def _solve_listed(bucket: Bucket, suitable: Booleans, answer: Solutions) -> Booleans:
    """Solve suitable problems by enumeration if there are few assignments; return the solved."""
    assignments = all_assignments(bucket.rules, bucket.items.shape[1])
    if assignments is None:
        return np.zeros_like(suitable)
    problems = np.flatnonzero(suitable)
    # Process few problems at a time to limit the size of the table.
    step = max(1, _MOST_CELLS // len(assignments))
    for some in (problems[begin : begin + step] for begin in range(0, len(problems), step)):
        weights, items = bucket.weights[some], bucket.items[some]
        true, free = best_assignments(assignments, weights, replace(bucket, items=items).ties)
        answer.true[some], answer.free[some] = true, free
        answer.bound[some] = (weights * true).sum(axis=1)
    return suitable
