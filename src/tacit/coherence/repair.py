"""Weighted MaxSAT repair: the best consistent assignment (Gu et al. 2023, section 5.2)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from tacit.coherence import TIME_LIMIT, Objective
from tacit.coherence.beliefs import EVEN, STATEMENT, Beliefs
from tacit.coherence.closure import Floats, Integers
from tacit.coherence.coded import Coded
from tacit.coherence.ontology import Ontology
from tacit.coherence.problems import Assignment, best_assignment
from tacit.errors import RequestError

_CLIP = 1e-6
# Integer sums are exact in any order, so assignments of equal value compare equal.
_UNITS = 1_000_000
_COUNTS = ("missing", "turned_true", "turned_false", "free")


def check_objective(objective: str) -> None:
    """Check that ``objective`` is the name of a repair objective."""
    if objective not in get_args(Objective):
        raise RequestError(
            f"the objective is {objective!r}; expected {', '.join(get_args(Objective))}"
        )


def weights_of(p_true: Floats, objective: str) -> Floats:
    """Return the weight of each statement for the given repair objective."""
    p = np.where(np.isnan(p_true), 0.5, p_true)
    if objective == "paper":
        # NumPy rounds halves to even, as Python does.
        weights = np.rint(100 * p)
    elif objective == "log-odds":
        p = np.clip(p, _CLIP, 1 - _CLIP)
        weights = np.log(p / (1 - p))
    else:
        weights = p - 0.5
    return np.where(np.isnan(p_true), 0.0, weights)


def whole_weights(weights: Floats, objective: str) -> Integers:
    """Return each weight as an integer number of units; see ``unit_of``."""
    units = 1 if objective == "paper" else _UNITS
    return np.rint(weights * units).astype(np.int64)


def unit_of(objective: str) -> float:
    """Return the weight that one integer unit of ``whole_weights`` represents."""
    return 1.0 if objective == "paper" else 1.0 / _UNITS


def deadline_of(time_limit: float | None) -> float:
    """Return the time, on the clock ``time.monotonic``, at which exact repair must end."""
    if time_limit is not None and not time_limit > 0:
        raise RequestError(f"the time limit is {time_limit}; expected more than 0 seconds")
    return math.inf if time_limit is None else time.monotonic() + time_limit


@dataclass(frozen=True, repr=False)
class Repaired:
    """The result of a repair.

    Args:
        objective: The objective that was maximized.
        beliefs: The beliefs in their original order, with three additional Boolean columns.
            ``believed`` is True if ``p_true`` is above one half, and null if ``p_true`` is missing.
            ``repaired`` is True if the statement is true in the assignment that repair returns.
            ``free`` is True if the statement has the opposite truth value in another, equally good
            assignment.
        groups: Number of groups of beliefs.
        optimal: Number of groups of beliefs whose assignment is proven optimal.
        value: The objective value of the returned assignment. For the objective ``paper``, the
            value is the sum of round(100 * p_true) of all statements that are true in the
            assignment. For the objectives ``log-odds`` and ``margin``, each statement whose truth
            value matches the sign of its weight adds its absolute weight to the value. A true
            statement matches a positive weight, and a false statement matches a negative weight.
        bound: An upper bound on the value of every consistent assignment. If the assignment of
            every group is proven optimal, the bound equals ``value``.
        turned_true: The number of statements that are true in the assignment but not believed.
            ``turned_true`` includes statements that have no belief but are true in the assignment.
        turned_false: Number of statements that are believed but false in the assignment.
        free: The number of statements whose truth value was decided only by the tie rule, because
            the statement has the opposite truth value in another, equally good assignment.
        settled: Whether repair considered all equally good assignments before the tie rule chose
            one of them. If ``settled`` is False, repair may have overlooked equally good
            assignments, and the count ``free`` may be too small. ``settled`` is False if time ran
            out, or if the objective values of two assignments are so close that the solver cannot
            distinguish them.
        missing: Number of rows of the table of beliefs in which ``p_true`` is null.
        inferred: The number of rows of the table of beliefs that have no ``p_true`` but whose
            statement is true in the assignment.
        unasked: The number of possible statements that have no row in the table of beliefs. A
            possible statement connects any two different items of one group by any relation.
        status: ``optimal``, or ``timeout`` if time ran out before the assignments of all groups
            were proven optimal.
        seconds: Duration of the repair, in seconds.
        table: One row per group, with the group columns and the columns ``statements``,
            ``missing``, ``value``, ``bound``, ``optimal``, ``turned_true``, ``turned_false`` and
            ``free``.
        assignment: A sorted table of all statements that are true in the assignment, even those
            without a row in the table of beliefs. The columns are the group columns, ``subject``,
            ``relation``, ``object``, ``p_true`` (null if the statement has no belief) and
            ``repaired``. The column ``repaired`` is True in every row. If the statements listed in
            ``assignment`` are true and all other statements are false, no constraint is violated.
            ``assignment`` can itself be used as a table of beliefs.

    Examples:
        >>> import tacit
        >>> row = {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9}
        >>> repaired = tacit.repair([row])
        >>> repaired.status, repaired.turned_false
        ('optimal', 0)
    """

    objective: str
    beliefs: pl.DataFrame
    groups: int
    optimal: int
    value: float
    bound: float
    turned_true: int
    turned_false: int
    free: int
    settled: bool
    missing: int
    inferred: int
    unasked: int
    status: Literal["optimal", "timeout"]
    seconds: float
    table: pl.DataFrame
    assignment: pl.DataFrame

    def __repr__(self) -> str:
        return (
            f"Repaired({self.objective}; {self.turned_true} turned true, {self.turned_false} "
            f"turned false; {self.optimal} of {self.groups} groups proven optimal)"
        )

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: a summary of the repair, and the table of beliefs."""
        return f"<p>{self!r}</p>{self.beliefs._repr_html_()}"

    def to_json(self) -> dict[str, Any]:
        """Return the result as a mapping in the stable format of ``tacit repair --json``."""
        first = ("objective", "groups", "optimal", "value", "bound", "turned_true", "turned_false")
        more = ("seconds", "free", "settled", "missing", "inferred", "unasked", "status")
        return {key: getattr(self, key) for key in first + more}


def changes(repaired: pl.DataFrame, groups: Sequence[str]) -> list[str]:
    """Return each statement that repair turned true or false as text, the surest belief first."""
    before = pl.col("believed").fill_null(value=False)
    found = repaired.filter(before != pl.col("repaired"))
    sure = (pl.col("p_true") - EVEN).abs()
    found = found.sort(sure, descending=True, nulls_last=True, maintain_order=True)
    return [_change(row, groups) for row in found.iter_rows(named=True)]


def _change(row: Mapping[str, Any], groups: Sequence[str]) -> str:
    where = ", ".join(f"{name} {row[name]}" for name in groups)
    statement = " ".join(row[name] for name in STATEMENT)
    p = "no belief" if row["p_true"] is None else f"{row['p_true']:.2f}"
    turned = "added" if row["repaired"] else "dropped"
    return f"{turned}: {f'{where}: ' if where else ''}{statement} ({p})"


def default_objective(ontology: Ontology) -> Objective:
    """Return the paper's objective for the paper's relations, log-odds for any other."""
    parts = Ontology.load("parts").fingerprint
    return "paper" if ontology.fingerprint == parts else "log-odds"


def repair(
    beliefs: Beliefs, objective: Objective | None = None, time_limit: float | None = TIME_LIMIT
) -> Repaired:
    """Find the best consistent assignment; the result is exact unless time runs out."""
    started = time.monotonic()
    objective = default_objective(beliefs.ontology) if objective is None else objective
    check_objective(objective)
    deadline = deadline_of(time_limit)
    coded = beliefs.coded
    weights = weights_of(beliefs.p_true.to_numpy(), objective)
    assignment = best_assignment(beliefs, whole_weights(weights, objective), deadline)
    rows = _rows(beliefs, weights, assignment)
    # The exact sum, correctly rounded, does not depend on the order of the rows.
    value = math.fsum(rows["kept"])
    bound = value + float(assignment.room.sum()) * unit_of(objective)
    if objective == "paper":  # weights are integers
        value, bound = round(value), round(bound)
    proven = int(assignment.optimal.sum())
    counts: Any = rows.select(pl.col(_COUNTS).sum()).row(0, named=True)
    return Repaired(
        objective=objective,
        beliefs=beliefs.table.with_columns(rows.select("believed", "repaired", "free")),
        groups=len(coded.groups),
        optimal=proven,
        value=value,
        bound=bound,
        settled=assignment.settled,
        inferred=int((rows["missing"] & rows["repaired"]).sum()),
        unasked=coded.unasked,
        status="optimal" if proven == len(coded.groups) else "timeout",
        seconds=time.monotonic() - started,
        table=_table(rows, coded, assignment, objective),
        assignment=_named(assignment.statements, beliefs),
        **counts,
    )


def _rows(beliefs: Beliefs, weights: Floats, assignment: Assignment) -> pl.DataFrame:
    believed, true = beliefs.believed(), pl.Series(assignment.row_true)
    before = believed.fill_null(value=False)
    agreed = np.where(weights > 0, assignment.row_true, ~assignment.row_true)
    return pl.DataFrame(
        {
            "believed": believed,
            "repaired": true,
            "missing": believed.is_null(),
            "turned_true": ~before & true,
            "turned_false": before & ~true,
            "free": assignment.row_free,
            "kept": np.where(agreed, np.abs(weights), 0.0),
        }
    )


def _table(
    rows: pl.DataFrame, coded: Coded, assignment: Assignment, objective: str
) -> pl.DataFrame:
    summed = (
        rows.with_columns(g=coded.group)
        .group_by("g")
        # Sum in ascending order, so that the result does not depend on the order of the rows.
        .agg(
            pl.len().alias("statements"),
            pl.col(_COUNTS).sum().cast(pl.Int64),
            value=pl.col("kept").sort().sum(),
        )
        .sort("g")
        .with_columns(optimal=assignment.optimal, room=assignment.room * unit_of(objective))
        .with_columns(bound=pl.col("value") + pl.col("room"))
    )
    columns = ["statements", "missing", "value", "bound", "optimal", *_COUNTS[1:]]
    return coded.beside(summed["g"], summed.select(columns))


def _named(statements: pl.DataFrame, beliefs: Beliefs) -> pl.DataFrame:
    keys, coded = list("gsro"), beliefs.coded
    asked = coded.frame.with_columns(beliefs.table["p_true"])
    ordered = statements.sort(keys).join(asked, on=keys, how="left", maintain_order="left")
    named = pl.DataFrame(coded.words(ordered)).with_columns(
        ordered["p_true"], repaired=pl.lit(value=True)
    )
    # Without group columns, there is a single group without a name.
    return coded.beside(ordered["g"], named) if beliefs.groups else named
