"""Repair beside other solvers on one formula of all constraints; tables of docs/performance.md.

python benchmarks/repair.py                    one group of 4 to 14 parts, beside RC2
python benchmarks/repair.py drawings FOLDER    all drawings, each objective, two kinds of beliefs
python benchmarks/repair.py orders             one order of 12 to 60 items, beside CP-SAT
python benchmarks/repair.py groups             20 groups of 8 to 12 parts, beside CP-SAT

Each solver stops after --cut-off seconds, and has one thread. RC2 runs in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from itertools import permutations
from multiprocessing.queues import Queue
from pathlib import Path

import numpy as np
import polars as pl
from random_beliefs import random_beliefs  # type: ignore[import-not-found]  # beside this file

from tacit import check, repair
from tacit.coherence import Objective
from tacit.coherence.ontology import Ontology
from tacit.coherence.repair import weights_of, whole_weights
from tacit.sources.drawings import read_drawings

Statement = tuple[str, str, str]

OBJECTIVES: tuple[Objective, ...] = ("paper", "log-odds", "margin")
FLIPPED = 0.1
# The sizes at which no solver proves an optimum of positive weights by listing orders.
ORDERS = {"log-odds": (12, 16, 20, 25, 30, 40, 60), "paper": (20, 25, 30, 40, 60)}


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    tables = ["parts", "drawings", "orders", "groups"]
    parser.add_argument("table", nargs="?", choices=tables, default="parts")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--cut-off", type=float, default=60.0)
    parser.add_argument("--alone", action="store_true", help="Tacit without the other solver")
    chosen = parser.parse_args()
    if chosen.table == "drawings":
        if chosen.folder is None:
            parser.error("name the folder of the drawings")
        compare_drawings(chosen.folder)
    elif chosen.table == "parts":
        compare_parts(chosen.cut_off)
    else:
        {"orders": compare_orders, "groups": compare_groups}[chosen.table](
            chosen.cut_off, alone=chosen.alone
        )


def compare_parts(cut_off: float) -> None:
    """One group of n parts, all 14 relations, independent uniform beliefs."""
    ontology = Ontology.load("parts")
    # The first repair in a process also loads what it needs.
    repair(uniform(3, ontology), ontology)
    print(f"{'parts':>5} {'RC2 (s)':>10} {'Tacit (s)':>10} {'ratio':>12}  same value")
    for n in range(4, 15):
        beliefs = uniform(n, ontology)
        seconds, value = by_rc2(beliefs, ontology, "paper", cut_off)
        started = time.perf_counter()
        found = repair(beliefs, ontology)
        ours = time.perf_counter() - started
        text = f"{seconds:.3f}" if value is not None else f"> {cut_off:.0f}"
        ratio = f"{'' if value is not None else '> '}{seconds / ours:,.0f}"
        same = "-" if value is None else str(value == found.value)
        print(f"{n:>5} {text:>10} {ours:>10.4f} {ratio:>12}  {same}", flush=True)


def compare_drawings(folder: Path) -> None:
    """All drawings: how many are proven optimal, how long it takes, what is still violated."""
    ontology = Ontology.load("parts")
    drawings = read_drawings(folder, tuple(ontology.relations))
    print("beliefs objective groups optimal value seconds violated")
    for kind in ("uniform", "near"):
        beliefs = random_beliefs(drawings, ontology, kind, seed=0)
        for objective in OBJECTIVES:
            started = time.perf_counter()
            found = repair(beliefs, ontology, objective)
            seconds = time.perf_counter() - started
            counts = check(found.beliefs, ontology, "repaired").counts.values()
            violated = sum(count.violated for count in counts)
            numbers = f"{found.groups} {found.optimal} {found.value:.6f} {seconds:.2f} {violated}"
            print(kind, objective, numbers, flush=True)


def compare_orders(cut_off: float, *, alone: bool) -> None:
    """One order relation with its inverse: signed (log-odds) and positive (paper) weights."""
    print("items objective beliefs | Tacit: value bound seconds ties | CP-SAT: value bound seconds")
    for objective, sizes in ORDERS.items():
        for kind in ("uniform", "near"):
            for n in sizes:
                beliefs = uniform(n, one_order()) if kind == "uniform" else nearly_ordered(n)
                line = compared(beliefs, one_order(), objective, cut_off, alone=alone)
                print(n, objective, kind, *line, flush=True)


def compare_groups(cut_off: float, *, alone: bool) -> None:
    """Groups of 8 to 12 parts, beliefs about every pair and relation."""
    print("group parts objective | Tacit: value bound seconds ties | CP-SAT: value bound seconds")
    ontology = Ontology.load("parts")
    for objective in OBJECTIVES:
        for group in range(20):
            n = 8 + group % 5
            beliefs = uniform(n, ontology, seed=group)
            line = compared(beliefs, ontology, objective, cut_off, alone=alone)
            print(group, n, objective, *line, flush=True)


def compared(
    beliefs: pl.DataFrame, ontology: Ontology, objective: str, cut_off: float, *, alone: bool
) -> list[str]:
    """Tacit's value, bound and seconds, then those of CP-SAT, in whole units of weight."""
    started = time.perf_counter()
    found = repair(beliefs, ontology, objective, time_limit=cut_off)  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    unit = 1 if objective == "paper" else 1_000_000
    ties = "settled" if found.settled else "open"
    ours = [f"{found.value * unit:.0f}", f"{found.bound * unit:.0f}", f"{seconds:.2f}", ties]
    if alone:
        return ["|", *ours]
    value, bound, seconds = by_cp_sat(beliefs, ontology, objective, cut_off)
    return ["|", *ours, "|", f"{value:.0f}", f"{bound:.0f}", f"{seconds:.2f}"]


def uniform(n: int, ontology: Ontology, seed: int | None = None) -> pl.DataFrame:
    """Independent beliefs, uniform in [0, 1]."""
    statements = all_statements(n, ontology)
    random = np.random.default_rng(n if seed is None else seed)
    return as_beliefs(statements, random.random(len(statements)))


def nearly_ordered(n: int) -> pl.DataFrame:
    """Beliefs that follow a hidden order of the items, one in ten of them reversed."""
    statements = all_statements(n, one_order())
    random = np.random.default_rng(n)
    place = dict(zip(items_of(n), random.permutation(n).tolist(), strict=True))
    gold = np.array([(place[x] < place[y]) == (r == "above") for x, r, y in statements])
    flipped = random.random(len(statements)) < FLIPPED
    p = random.random(len(statements)) / 2
    return as_beliefs(statements, np.where(gold ^ flipped, 0.5 + p, p))


def one_order() -> Ontology:
    """Above and below alone."""
    parts = Ontology.load("parts")
    return Ontology("order", {name: parts.relations[name] for name in ("above", "below")})


def items_of(n: int) -> list[str]:
    """The names of n items."""
    return [f"part {number:02d}" for number in range(n)]


def all_statements(n: int, ontology: Ontology) -> list[Statement]:
    """Every ordered pair of items with every relation."""
    return [(x, r, y) for x, y in permutations(items_of(n), 2) for r in ontology.relations]


def as_beliefs(statements: list[Statement], p: np.ndarray) -> pl.DataFrame:
    """A table of beliefs."""
    frame = pl.DataFrame(statements, schema=["subject", "relation", "object"], orient="row")
    return frame.with_columns(p_true=pl.Series(p))


def weighted(beliefs: pl.DataFrame, objective: str) -> tuple[dict[Statement, int], list[str]]:
    """The whole weight of each statement, and all items."""
    weights = whole_weights(weights_of(beliefs["p_true"].to_numpy(), objective), objective)
    statements = list(beliefs.select("subject", "relation", "object").iter_rows())
    problem = dict(zip(statements, weights.tolist(), strict=True))
    return problem, sorted({subject for subject, _, _ in statements})


def by_cp_sat(
    beliefs: pl.DataFrame, ontology: Ontology, objective: str, cut_off: float
) -> tuple[float, float, float]:
    """The value and the bound of CP-SAT, and the seconds that it took."""
    from maxsat import hard_clauses  # type: ignore[import-not-found]  # beside this file
    from ortools.sat.python import cp_model

    problem, items = weighted(beliefs, objective)
    number = {statement: position for position, statement in enumerate(problem, 1)}
    model = cp_model.CpModel()
    variables = [model.new_bool_var("")] + [model.new_bool_var("") for _ in number]
    for clause in hard_clauses(number, items, ontology):
        model.add_bool_or(variables[x] if x > 0 else variables[-x].negated() for x in clause)
    terms = [weight * variables[number[each]] for each, weight in problem.items()]
    against = -sum(min(weight, 0) for weight in problem.values())
    model.maximize(sum(terms) + against)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = cut_off
    solver.parameters.num_workers = 1
    started = time.perf_counter()
    solver.solve(model)
    seconds = time.perf_counter() - started
    return solver.objective_value, solver.best_objective_bound, seconds


def by_rc2(
    beliefs: pl.DataFrame, ontology: Ontology, objective: str, cut_off: float
) -> tuple[float, int | None]:
    """Seconds that RC2 took, and its optimum; None when it was stopped."""
    context = multiprocessing.get_context("spawn")
    answers: Queue[tuple[float, int]] = context.Queue()
    arguments = (*weighted(beliefs, objective), ontology, answers)
    process = context.Process(target=run_rc2, args=arguments)
    process.start()
    # The process loads its libraries first, which is not counted against it.
    process.join(cut_off + 5)
    if process.is_alive():
        process.kill()
        process.join()
        return cut_off, None
    seconds, value = answers.get()
    return (seconds, value) if seconds <= cut_off else (cut_off, None)


def run_rc2(
    problem: dict[Statement, int],
    items: list[str],
    ontology: Ontology,
    answers: Queue[tuple[float, int]],
) -> None:
    """Solves one problem with RC2 and reports its seconds."""
    from maxsat import best_value  # beside this file

    started = time.perf_counter()
    value = best_value(problem, items, ontology)
    answers.put((time.perf_counter() - started, value))


if __name__ == "__main__":
    main()
