"""Repair: the best assignment that keeps all constraints (Gu et al. 2023, section 5.2).

Unless the time runs out, which of several equally good assignments is chosen depends on the
statements' words alone, never on the order of the rows, the hash seed or the number of processes:

1. A statement is true only if its own weight is positive, or others that are true make it so.
2. An order that nothing argues against (one asymmetric, transitive relation, no negative weight)
   is the one whose forward statements have the least sum of tie-breaking numbers; true are its
   statements of positive weight and what follows from them.
3. Everywhere else the fewest statements are true, then those with the least such sum.

Assignments are equally good when the sums of their weights are, in whole millionths of each weight
(``paper``: in whole weights). The tie-breaking number of a statement is the last 12 bits of the
BLAKE2b digest (2 bytes) of relation, subject and object with tabs between them, the relation being
the first of an inverse pair in the ontology's file.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from tacit.coherence.assignment import best_assignment
from tacit.coherence.beliefs import check_beliefs, group_columns
from tacit.coherence.constraints import beside, code
from tacit.coherence.effort import TIME_LIMIT, effort_of
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.assignment import Assignment
    from tacit.coherence.constraints import Coded, Integers
    from tacit.coherence.enumeration import Floats
    from tacit.coherence.ontology import Ontology


Objective = Literal["paper", "log-odds", "margin"]

_CLIP = 1e-6
# Sums of integers are the same in any order, so equal assignments are found equal.
_UNITS = 1_000_000


def check_objective(objective: str) -> None:
    """Refuses a name that is no objective.

    Raises:
        RequestError: It is none.
    """
    if objective not in get_args(Objective):
        raise RequestError(
            f"the objective is {objective!r}; expected {', '.join(get_args(Objective))}"
        )


def weights_of(p_true: Floats, objective: str) -> Floats:
    """The weight of each statement, positive for it and negative against it.

    Args:
        p_true: Probabilities, nan where the belief is missing, whose weight is 0.
        objective: ``paper``, ``log-odds`` (weights in nats) or ``margin``.
    """
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
    """The weights in whole units: one for ``paper``, else a millionth."""
    units = 1 if objective == "paper" else _UNITS
    return np.rint(weights * units).astype(np.int64)


def unit_of(objective: str) -> float:
    """What one whole unit is worth."""
    return 1.0 if objective == "paper" else 1.0 / _UNITS


@dataclass(frozen=True, repr=False)
class Repaired:
    """The result of a repair.

    Args:
        objective: What was kept as much of as possible.
        beliefs: The beliefs in their order, with the Boolean columns ``believed`` (p above one
            half; a missing belief is not) and ``repaired``.
        groups: How many groups there are.
        optimal: How many of them are proven to have no better assignment.
        value: The weight of the assignment: for ``paper`` the sum of round(100 * p) over the
            statements kept, else the sum of the weights that it agrees with.
        bound: No assignment has a greater value; equal to it when all groups are optimal.
        turned_true: Statements not believed and true in the assignment, missing ones among them.
        turned_false: Statements believed and not true in the assignment.
        free: Statements that are otherwise in another assignment of the same value: only the rule
            among equals decided them.
        settled: Whether ``free`` counts them all. When the time ran out on the way, or assignments
            differ by less than the solver can tell (some millionths of a weight), it may not, and
            the rule may have had fewer assignments to choose from.
        missing: Rows without p.
        inferred: Rows without p that are true in the assignment.
        unasked: Ordered pairs of different items and relations, within groups, without a row.
        status: ``optimal``, or ``timeout`` when the time ran out before every proof was done.
        seconds: How long it took.
        table: One row per group: its columns, statements, missing, value, bound, optimal,
            turned_true, turned_false, free.
        assignment: Every statement true in the assignment, asked or not, sorted: the group's
            columns, subject, relation, object, p_true (null when missing or not asked) and
            ``repaired``, which is True; these are beliefs again, without a violation.

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
            f"turned false; {self.optimal} of {self.groups} groups proven best)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the beliefs before and after."""
        return f"<p>{self!r}</p>{self.beliefs._repr_html_()}"

    def to_json(self) -> dict[str, Any]:
        """The result in the stable shape of ``tacit repair --json``."""
        keys = ("objective", "groups", "optimal", "value", "bound", "turned_true", "turned_false")
        more = ("free", "settled", "missing", "inferred", "unasked", "status")
        stable = {key: getattr(self, key) for key in keys} | {"seconds": self.seconds}
        return stable | {key: getattr(self, key) for key in more}


def repair(
    beliefs: pl.DataFrame,
    ontology: Ontology,
    objective: Objective = "paper",
    time_limit: float | None = TIME_LIMIT,
    processes: int | None = None,
    groups: Sequence[str] | None = None,
) -> Repaired:
    """Finds the best assignment, exactly unless the time runs out.

    Args:
        beliefs: subject, relation, object, p_true (null = missing: weight 0), and the columns of
            groups.
        ontology: The constraints.
        objective: ``paper``, ``log-odds`` or ``margin``.
        time_limit: Seconds after which to stop with the best assignment found and a proven bound;
            None for no limit.
        processes: How many processes may work at once; None for one per core.
        groups: The columns that name a group, as in :func:`tacit.coherence.beliefs.group_columns`.

    Raises:
        DataError: The beliefs are malformed, or give a statement twice.
        RequestError: The objective, the time limit, the number of processes or a group's column is
            invalid.
        RepairError: The assignment breaks a constraint (never expected).
    """
    started = time.monotonic()
    check_objective(objective)
    effort = effort_of(started, time_limit, processes)
    beliefs = check_beliefs(beliefs, ontology, groups)
    coded = code(beliefs, ontology, groups)
    weights = weights_of(beliefs["p_true"].cast(pl.Float64).to_numpy(), objective)
    assignment = best_assignment(coded, ontology, whole_weights(weights, objective), effort)
    rows = _rows(beliefs, weights, assignment)
    table = _table(rows, coded, assignment, objective)
    # The exact sum, correctly rounded, so that it is the same in any order of the rows.
    value = math.fsum(rows["kept"])
    bound = value + float(assignment.room.sum()) * unit_of(objective)
    proven = int(assignment.optimal.sum())
    asked = int((coded.subject != coded.object).sum())
    return Repaired(
        objective=objective,
        beliefs=beliefs.with_columns(rows["believed"], rows["repaired"]),
        groups=len(coded.groups),
        optimal=proven,
        value=_number(value, objective),
        bound=_number(bound, objective),
        turned_true=int(rows["turned_true"].sum()),
        turned_false=int(rows["turned_false"].sum()),
        free=int(rows["free"].sum()),
        settled=assignment.settled,
        missing=int(rows["missing"].sum()),
        inferred=int((rows["missing"] & rows["repaired"]).sum()),
        unasked=int((coded.sizes * (coded.sizes - 1)).sum()) * len(ontology.relations) - asked,
        status="optimal" if proven == len(coded.groups) else "timeout",
        seconds=time.monotonic() - started,
        table=table,
        assignment=_named(
            assignment.statements, coded, beliefs, ontology, group_columns(beliefs, groups)
        ),
    )


def _rows(beliefs: pl.DataFrame, weights: Floats, assignment: Assignment) -> pl.DataFrame:
    believed = (beliefs["p_true"] > 0.5).fill_null(value=False).to_numpy()  # noqa: PLR2004 - even
    true = assignment.row_true
    agreed = np.where(weights > 0, true, ~true)
    return pl.DataFrame(
        {
            "believed": believed,
            "repaired": true,
            "missing": beliefs["p_true"].is_null(),
            "turned_true": ~believed & true,
            "turned_false": believed & ~true,
            "free": assignment.row_free,
            "kept": np.where(agreed, np.abs(weights), 0.0),
        }
    )


def _table(
    rows: pl.DataFrame, coded: Coded, assignment: Assignment, objective: str
) -> pl.DataFrame:
    counts = ["missing", "turned_true", "turned_false", "free"]
    summed = (
        rows.with_columns(g=coded.group)
        .group_by("g")
        # Summed from the least up, the same in any order of the rows.
        .agg(
            pl.len().alias("statements"),
            *(pl.col(name).sum().cast(pl.Int64) for name in counts),
            value=pl.col("kept").sort().sum(),
        )
        .sort("g")
        .with_columns(optimal=assignment.optimal, room=assignment.room * unit_of(objective))
        .with_columns(bound=pl.col("value") + pl.col("room"))
    )
    columns = ["statements", "missing", "value", "bound", "optimal", *counts[1:]]
    return beside(coded.groups, summed.select(columns))


def _named(
    statements: pl.DataFrame,
    coded: Coded,
    beliefs: pl.DataFrame,
    ontology: Ontology,
    groups: list[str],
) -> pl.DataFrame:
    items = pl.Series("items", coded.items, dtype=pl.String)
    relations = pl.Series("relations", list(ontology.relations), dtype=pl.String)
    keys = {"g": coded.group, "s": coded.subject, "r": coded.relation, "o": coded.object}
    asked = pl.DataFrame(keys).with_columns(beliefs["p_true"])
    ordered = statements.sort(list(keys)).join(
        asked, on=list(keys), how="left", maintain_order="left"
    )
    told = ordered.select(
        items.gather(ordered["s"]).alias("subject"),
        relations.gather(ordered["r"]).alias("relation"),
        items.gather(ordered["o"]).alias("object"),
        "p_true",
        repaired=pl.lit(value=True),
    )
    # Without a group's column there is one group, and nothing to name it by.
    if not groups:
        return told
    return beside(coded.groups.select(pl.col(groups).gather(ordered["g"])), told)


def _number(value: float, objective: str) -> float:
    """Whole for ``paper``, whose weights are."""
    return round(value) if objective == "paper" else value
