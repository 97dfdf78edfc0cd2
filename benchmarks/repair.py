"""Repair against the old way (one formula, RC2), side by side; the tables of docs/performance.md.

python benchmarks/repair.py                    both ways, 4 to 14 parts
python benchmarks/repair.py orders             one order of 8 to 40 items, three solvers
python benchmarks/repair.py limits             one order of 20 to 120 items, value and bound
python benchmarks/repair.py drawings FOLDER    all drawings, each objective, two kinds of beliefs

RC2 runs in a process of its own, which is stopped at the cut-off.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from random_beliefs import random_beliefs  # type: ignore[import-not-found]  # beside this file
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tacit.coherence.check import check
from tacit.coherence.ontology import Ontology
from tacit.coherence.repair import repair, weights_of, whole_weights
from tacit.sources.drawings import read_drawings

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

    from tacit.coherence.repair import Objective

    Statement = tuple[str, str, str]

CUT_OFF = 60.0
OBJECTIVES: tuple[Objective, ...] = ("paper", "log-odds", "margin")
# One program of all constraints is posed up to this many items.
MOST_WRITTEN = 20


def main() -> None:
    """Prints the table asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "table", nargs="?", choices=["parts", "orders", "limits", "drawings"], default="parts"
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--cut-off", type=float, default=CUT_OFF)
    chosen = parser.parse_args()
    if chosen.table == "drawings":
        if chosen.folder is None:
            parser.error("name the folder of the drawings")
        compare_drawings(chosen.folder)
    elif chosen.table == "limits":
        compare_limits(chosen.cut_off)
    elif chosen.table == "orders":
        compare_orders(chosen.cut_off)
    else:
        compare_parts(chosen.cut_off)


def compare_parts(cut_off: float) -> None:
    """One group of n parts, all 14 relations, independent uniform beliefs."""
    ontology = Ontology.load("parts")
    # The first repair in a process also loads what it needs.
    repair(uniform(3, ontology), ontology)
    print(f"{'parts':>5} {'RC2 (s)':>10} {'Tacit (s)':>10} {'ratio':>12}  same value")
    for n in range(4, 15):
        beliefs = uniform(n, ontology)
        seconds, value = by_rc2(beliefs, ontology, "paper", cut_off)
        begun = time.perf_counter()
        found = repair(beliefs, ontology, processes=1)
        ours = time.perf_counter() - begun
        told = f"{seconds:.3f}" if value is not None else f"> {cut_off:.0f}"
        ratio = f"{'' if value is not None else '> '}{seconds / ours:,.0f}"
        same = "-" if value is None else str(value == found.value)
        print(f"{n:>5} {told:>10} {ours:>10.4f} {ratio:>12}  {same}", flush=True)


def compare_orders(cut_off: float) -> None:
    """One transitive pair of relations over n items: signed and positive weights."""
    print(
        f"{'items':>5} {'weights':>9} {'beliefs':>8} {'Tacit (s)':>10} {'gap %':>6} {'ties':>7} ",
        end="",
    )
    print(f"{'RC2 (s)':>9} {'stratified':>10}  same value")
    for objective in ("log-odds", "paper"):
        for kind in ("uniform", "near"):
            # Who did not finish with fewer items is not asked with more.
            stopped: set[bool] = set()
            for n in (8, 10, 12, 16, 20, 25, 30, 40):
                compare_order(n, (objective, kind), cut_off, stopped)


def compare_order(n: int, case: tuple[str, str], cut_off: float, stopped: set[bool]) -> None:
    """Prints one line of the table of orders."""
    ontology = one_order()
    objective, kind = case
    beliefs = uniform(n, ontology) if kind == "uniform" else nearly_ordered(n)
    begun = time.perf_counter()
    found = repair(beliefs, ontology, objective, time_limit=cut_off, processes=1)  # type: ignore[arg-type]
    ours = time.perf_counter() - begun
    gap = 100 * (found.bound - found.value) / found.value
    told = []
    same = []
    for stratified in (False, True):
        if stratified in stopped:
            told.append("-")
            continue
        seconds, value = by_rc2(beliefs, ontology, objective, cut_off, stratified=stratified)
        told.append(f"{seconds:.2f}" if value is not None else f"> {cut_off:.0f}")
        if value is None:
            stopped.add(stratified)
        else:
            weights = whole_weights(weights_of(beliefs["p_true"].to_numpy(), objective), objective)
            true = found.beliefs["repaired"].to_numpy()
            kept = int(np.abs(weights[np.where(weights > 0, true, ~true)]).sum())
            same.append(kept == value)
    weights_are = "signed" if objective == "log-odds" else "positive"
    ties = "settled" if found.settled else "open"
    print(f"{n:>5} {weights_are:>9} {kind:>8} {ours:>10.3f} {gap:>6.2f} {ties:>7} ", end="")
    print(f"{told[0]:>9} {told[1]:>10}  {all(same) if same else '-'}", flush=True)


def compare_limits(cut_off: float) -> None:
    """What a time limit leaves, and HiGHS on one program with every constraint written down."""
    print(
        f"{'items':>5} {'objective':>9} {'value':>10} {'bound':>10} {'gap %':>6} {'s':>6} ", end=""
    )
    print(f"{'HiGHS value':>11} {'bound':>10} {'s':>6}")
    ontology = one_order()
    for n in (20, 60, 90, 120):
        beliefs = uniform(n, ontology)
        for objective in OBJECTIVES:
            begun = time.perf_counter()
            found = repair(beliefs, ontology, objective, time_limit=cut_off, processes=1)
            ours = time.perf_counter() - begun
            gap = 100 * (found.bound - found.value) / found.value
            line = f"{n:>5} {objective:>9} {found.value:>10.1f} {found.bound:>10.1f} {gap:>6.2f}"
            print(f"{line} {ours:>6.1f} ", end="")
            if n > MOST_WRITTEN:
                print(f"{'-':>11} {'-':>10} {'-':>6}", flush=True)
                continue
            value, bound, seconds = one_program(n, beliefs, objective, cut_off)
            told = "-" if value is None else f"{value:.1f}"
            print(f"{told:>11} {bound:>10.1f} {seconds:>6.1f}", flush=True)


def one_program(
    n: int, beliefs: pl.DataFrame, objective: str, cut_off: float
) -> tuple[float | None, float, float]:
    """The value and bound that HiGHS finds for above and below, and the seconds it took."""
    number = {pair: k for k, pair in enumerate(permutations(items_of(n), 2))}
    weights = weights_of(beliefs["p_true"].to_numpy(), objective)
    gain = np.zeros(len(number))
    rows = zip(beliefs["subject"], beliefs["relation"], beliefs["object"], weights, strict=True)
    for x, relation, y, weight in rows:
        gain[number[(x, y) if relation == "above" else (y, x)]] += weight
    entries: list[tuple[int, int, float]] = []
    count = 0
    for x, y in permutations(items_of(n), 2):
        entries += [(count, number[x, y], 1.0), (count, number[y, x], 1.0)]
        count += 1
    for x, y, z in permutations(items_of(n), 3):
        chain = ((number[x, y], 1.0), (number[y, z], 1.0), (number[x, z], -1.0))
        entries += [(count, column, entry) for column, entry in chain]
        count += 1
    places = np.array([entry[:2] for entry in entries]).T
    matrix = csr_array(([entry[2] for entry in entries], tuple(places)), shape=(count, len(number)))
    begun = time.perf_counter()
    answer = milp(
        -gain,
        integrality=np.ones(len(number), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, -np.inf, 1.0),
        options={"mip_rel_gap": 0.0, "time_limit": cut_off},
    )
    seconds = time.perf_counter() - begun
    # Repair also counts the weights against the statements that stay false.
    against = float(-np.minimum(weights, 0).sum())
    value = None if answer.fun is None else against - answer.fun
    bound = float("inf") if answer.mip_dual_bound is None else against - answer.mip_dual_bound
    return value, bound, seconds


def compare_drawings(folder: Path) -> None:
    """All drawings: how many are proven optimal, how long it takes, what is still violated."""
    ontology = Ontology.load("parts")
    drawings = read_drawings(folder, tuple(ontology.relations))
    head = f"{'beliefs':>8} {'objective':>9} {'groups':>7} {'optimal':>8}"
    print(f"{head} {'seconds':>8} {'violated':>9}")
    for kind in ("uniform", "near"):
        beliefs = random_beliefs(drawings, ontology, kind, seed=0)
        for objective in OBJECTIVES:
            begun = time.perf_counter()
            found = repair(beliefs, ontology, objective)
            seconds = time.perf_counter() - begun
            counts = check(found.beliefs, ontology, "repaired").counts.values()
            violated = sum(count.violated for count in counts)
            line = f"{kind:>8} {objective:>9} {found.groups:>7} {found.optimal:>8} {seconds:>8.2f}"
            print(f"{line} {violated:>9}", flush=True)


def uniform(n: int, ontology: Ontology) -> pl.DataFrame:
    """Independent beliefs, uniform in [0, 1]."""
    statements = all_statements(n, ontology)
    p = np.random.default_rng(n).random(len(statements))
    return as_beliefs(statements, p)


def nearly_ordered(n: int) -> pl.DataFrame:
    """Beliefs that follow a hidden order of the items, one in ten of them flipped."""
    statements = all_statements(n, one_order())
    random = np.random.default_rng(n)
    place = dict(zip(items_of(n), random.permutation(n).tolist(), strict=True))
    gold = np.array([(place[x] < place[y]) == (r == "above") for x, r, y in statements])
    flipped = random.random(len(statements)) < 0.1  # noqa: PLR2004 - as the docstring says
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


def by_rc2(
    beliefs: pl.DataFrame,
    ontology: Ontology,
    objective: str,
    cut_off: float,
    *,
    stratified: bool = False,
) -> tuple[float, int | None]:
    """Seconds that RC2 took, and its optimum; None when it was stopped."""
    weights = whole_weights(weights_of(beliefs["p_true"].to_numpy(), objective), objective)
    statements = list(beliefs.select("subject", "relation", "object").iter_rows())
    problem = dict(zip(statements, weights.tolist(), strict=True))
    items = sorted({subject for subject, _, _ in statements})
    context = multiprocessing.get_context("spawn")
    answers: Queue[tuple[float, int]] = context.Queue()
    process = context.Process(target=run_rc2, args=(problem, items, ontology, stratified, answers))
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
    stratified: bool,  # noqa: FBT001 - a process takes its arguments by position
    answers: Queue[tuple[float, int]],
) -> None:
    """Solves one problem with RC2 and says how long it took."""
    from maxsat import best_value  # type: ignore[import-not-found]  # beside this file

    begun = time.perf_counter()
    value = best_value(problem, items, ontology, stratified=stratified)
    answers.put((time.perf_counter() - begun, value))


if __name__ == "__main__":
    main()
