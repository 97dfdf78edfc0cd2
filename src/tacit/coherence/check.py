"""Consistency check: the rate of constraint violations (τ in section 6.1 of Gu et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tacit.coherence import TIME_LIMIT
from tacit.coherence.beliefs import EVEN, Beliefs
from tacit.coherence.closure import Booleans, Integers
from tacit.coherence.ontology import KINDS
from tacit.coherence.repair import deadline_of
from tacit.coherence.violations import (
    COUNTS,
    count,
    jointly_consistent,
    minimal_clash,
    violations,
)

_MOST_SEARCHED = 60  # statements of a group in which a clash is found within seconds


@dataclass(frozen=True)
class Count:
    """The numbers of applicable, violated and undecided constraints of one type."""

    violated: int
    applicable: int
    undecided: int = 0

    @property
    def decided(self) -> int:
        """The number of applicable constraints whose outcome is known: violated or satisfied."""
        return self.applicable - self.undecided

    @property
    def rate(self) -> float | None:
        """The share of violated constraints among the violated and satisfied constraints."""
        return self.violated / self.decided if self.decided else None

    def to_json(self) -> dict[str, Any]:
        """Return the counts and the rate as a mapping."""
        return {**asdict(self), "rate": self.rate}


@dataclass(frozen=True, repr=False)
class Check:
    """The constraint violations in a set of beliefs.

    Args:
        counts: The numbers of applicable, violated and undecided constraints of each type, summed
            over all groups.
        believed: Number of believed statements.
        statements: Number of rows in the table of beliefs.
        ties: Number of statements whose ``p_true`` is exactly one half; such statements count as
            not believed.
        missing: Number of statements whose belief is missing. A statement with a missing belief
            counts neither as believed nor as disbelieved. A constraint is undecided if its outcome
            depends on a missing belief.
        unasked: The number of statements without a row in the table of beliefs. The possible
            statements of a group are all combinations of a relation of the ontology with two
            different items of the group, in either order.
        groups: A table with one row per group. The columns are the group columns, ``statements``,
            ``believed``, three counts for each type of constraint (``<type>_violated``,
            ``<type>_applicable`` and ``<type>_undecided``), ``violated``, ``applicable``,
            ``undecided``, ``density`` and ``consistent``. The column ``density`` contains the share
            of violated constraints among the group's violated and satisfied constraints, or null if
            all constraints of the group are undecided. The column ``consistent`` is True if the
            believed statements of the group can all be true together. If the revision cost was
            requested, ``groups`` also has the columns ``revision_cost`` (null if time ran out
            before the cost was determined), ``revision_cost_at_least`` and
            ``revision_cost_at_most``.

    Examples:
        >>> import tacit
        >>> row = {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9}
        >>> tacit.check([row]).believed
        1
    """

    counts: Mapping[str, Count]
    believed: int
    statements: int
    ties: int
    missing: int
    unasked: int
    groups: pl.DataFrame
    _beliefs: Beliefs
    _truth: pl.Series

    def __repr__(self) -> str:
        violated = ", ".join(
            f"{kind} {count.violated} of {count.decided}" for kind, count in self.counts.items()
        )
        return f"Check({self.believed} of {self.statements} believed; violated: {violated})"

    def _repr_html_(self) -> str:
        """Return the counts of each type of constraint as HTML for a notebook."""
        rows = [{"constraint": kind, **asdict(count)} for kind, count in self.counts.items()]
        return pl.DataFrame(rows)._repr_html_()

    @property
    def macro(self) -> float | None:
        """The mean violation rate of the constraint types; None if no constraint is decided."""
        rates = [count.rate for count in self.counts.values() if count.rate is not None]
        return sum(rates) / len(rates) if rates else None

    @property
    def micro(self) -> float | None:
        """The violation rate of the constraints of all types together."""
        return self.total.rate

    @property
    def total(self) -> Count:
        """The counts of constraints, summed over all types."""
        each = self.counts.values()
        return Count(
            sum(count.violated for count in each),
            sum(count.applicable for count in each),
            sum(count.undecided for count in each),
        )

    @property
    def density(self) -> float | None:
        """The contradiction density, which is the mean of the groups' violation rates."""
        mean = self.groups["density"].mean()
        return float(mean) if isinstance(mean, int | float) else None

    @property
    def consistent(self) -> float | None:
        """The share of groups in which the believed statements can all be true together."""
        true = int(self.groups["consistent"].sum())
        return true / len(self.groups) if len(self.groups) else None

    @property
    def contradicted(self) -> int:
        """The number of groups with at least one violated constraint."""
        return int((self.groups["violated"] > 0).sum())

    @property
    def decided(self) -> int:
        """The number of groups in which at least one constraint is violated or satisfied."""
        return int((self.groups["applicable"] > self.groups["undecided"]).sum())

    @property
    def revision_cost(self) -> int | None:
        """The smallest number of beliefs that must change to make all groups consistent.

        None if the cost was not requested, or if time ran out. The cost can be positive although no
        constraint is violated: of the beliefs "A above B", "B above C" and "C above A", one must
        change, because they require contradictory truth values of statements without a belief.
        """
        return self._total("revision_cost")

    @property
    def revision_cost_at_least(self) -> int | None:
        """A proven lower bound on the revision cost; None if the cost was not requested."""
        return self._total("revision_cost_at_least")

    @property
    def revision_cost_at_most(self) -> int | None:
        """The number of beliefs that change in the best repair found; None if not requested."""
        return self._total("revision_cost_at_most")

    def _total(self, cost: str) -> int | None:
        """Return the number of beliefs to change in all groups; None if unknown for a group."""
        costs = self.groups[cost] if cost in self.groups.columns else pl.Series([None])
        return None if costs.null_count() else int(costs.sum())

    @property
    def clashing(self) -> int:
        """The number of groups with an indirect clash (see ``clashes``)."""
        return int(self._clashing.sum())

    @cached_property
    def violations(self) -> pl.DataFrame:
        """The violated constraints as a sorted table, with their statements and beliefs.

        Returns:
            The group columns, the column ``constraint``, and the columns ``subject_1``,
            ``relation_1``, ``object_1``, ``p_true_1`` and ``believed_1`` of the constraint's first
            statement. The columns that are copied unchanged from the table of beliefs have the
            suffix ``_1`` if their values belong to the constraint's first statement. The columns of
            the second statement have the suffix ``_2``, and the columns of the third statement have
            the suffix ``_3``. Only transitive constraints consist of three statements.
        """
        coded, carried = self._beliefs.coded, self._beliefs.table.select(*self._beliefs.carried)
        table = self._violated.sort("g", "kind", *(f"{c}{n}" for n in (1, 2, 3) for c in "rso"))
        columns = {"constraint": table["kind"].cast(pl.String)}
        for number in (1, 2, 3):
            codes = _statement(table, number)
            row = codes.join(self._rows, on=["g", *"sro"], how="left", maintain_order="left")["row"]
            shown = coded.words(codes) | {"p_true": self._beliefs.p_true.gather(row)}
            shown["believed"] = self._truth.fill_null(value=False).gather(row)
            shown |= carried.select(pl.all().gather(row)).to_dict()
            columns |= {f"{name}_{number}": values for name, values in shown.items()}
        return coded.beside(table["g"], pl.DataFrame(columns))

    @cached_property
    def clashes(self) -> pl.DataFrame:
        """The indirect clashes: believed statements that cannot all be true, in minimal sets.

        The search can take minutes if a group has hundreds of believed statements.

        For example, "A before B", "B before C" and "C before A" cannot all be true, but no
        constraint is violated if there is no belief about "A before C". Statements of violated
        constraints are left out, because the table ``violations`` contains them. If any statement
        of a clash is left out, the others can all be true together. No statement is part of two
        clashes, and without the statements of all clashes, the remaining statements can all be
        true.

        Returns:
            One row per statement of a clash: the group columns, the column ``clash`` (number of the
            clash, from 1), and the columns ``subject``, ``relation``, ``object`` and ``p_true``.
        """
        coded, rules = self._beliefs.coded, self._beliefs.ontology.rules
        found: list[Integers] = []
        for group in np.flatnonzero(self._clashing).tolist():
            mine = self._left & (coded.group == group)
            while not jointly_consistent(coded, mine, rules)[group]:
                rows = minimal_clash(coded, mine, rules, group)
                found.append(rows)
                mine[rows] = False
        return self._table_of(found)

    @cached_property
    def example_clash(self) -> pl.DataFrame:
        """One indirect clash, with the columns of ``clashes``.

        The example is from the smallest group with an indirect clash. The table has no rows if no
        group has one, or if the group is so large that the search would take more than seconds.
        """
        coded, rules = self._beliefs.coded, self._beliefs.ontology.rules
        sizes = np.bincount(coded.group[self._left], minlength=len(self._clashing))
        groups = np.flatnonzero(self._clashing & (sizes <= _MOST_SEARCHED))
        smallest = groups[np.argsort(sizes[groups], kind="stable")[:1]].tolist()
        return self._table_of([minimal_clash(coded, self._left, rules, one) for one in smallest])

    def _table_of(self, found: Sequence[Integers]) -> pl.DataFrame:
        """Return a table with one row per statement of a clash."""
        number = np.repeat(np.arange(1, len(found) + 1), [len(rows) for rows in found])
        codes = self._rows[np.concatenate([*found, np.zeros(0, dtype=np.int64)])]
        coded, p_true = self._beliefs.coded, self._beliefs.p_true.gather(codes["row"])
        table = pl.DataFrame({"clash": number, **coded.words(codes), "p_true": p_true})
        return coded.beside(codes["g"], table)

    @cached_property
    def _rows(self) -> pl.DataFrame:
        return self._beliefs.coded.frame.with_row_index("row")

    @cached_property
    def _violated(self) -> pl.DataFrame:
        rules = self._beliefs.ontology.rules
        return violations(self._beliefs.coded, *_sides(self._truth), rules)

    @cached_property
    def _left(self) -> Booleans:
        """For each row of the table of beliefs: whether it is believed and violates nothing."""
        parts = pl.concat(_statement(self._violated, number) for number in (1, 2, 3))
        involved = self._rows.join(parts, on=["g", *"sro"], how="semi")["row"]
        left, _ = _sides(self._truth)
        left[involved.to_numpy()] = False
        return left

    @cached_property
    def _clashing(self) -> Booleans:
        """For each group: whether its beliefs clash even without those that violate something."""
        return ~jointly_consistent(self._beliefs.coded, self._left, self._beliefs.ontology.rules)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a mapping in the stable format of ``tacit check --json``."""
        counts = {kind: count.to_json() for kind, count in self.counts.items()}
        implies, excludes = counts.pop("implies"), counts.pop("excludes")
        return {
            **counts,
            "macro": self.macro,
            "micro": self.micro,
            "believed": self.believed,
            "statements": self.statements,
            "implies": implies,
            "excludes": excludes,
            "ties": self.ties,
            "missing": self.missing,
            "unasked": self.unasked,
            "groups": len(self.groups),
            "groups_decided": self.decided,
            "groups_with_violations": self.contradicted,
            "groups_with_clashes": self.clashing,
            "jointly_consistent": self.consistent,
            "contradiction_density": self.density,
            "revision_cost": self.revision_cost,
            "revision_cost_at_least": self.revision_cost_at_least,
            "revision_cost_at_most": self.revision_cost_at_most,
        }


def check(
    beliefs: Beliefs,
    truth: pl.Series | None = None,
    *,
    revision_cost: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> Check:
    """Count the constraints that beliefs violate; ``truth``, if given, says which are believed."""
    deadline, coded, rules = deadline_of(time_limit), beliefs.coded, beliefs.ontology.rules
    truth = beliefs.believed() if truth is None else truth
    held, denied = _sides(truth)
    number = len(coded.groups)
    columns = {
        "statements": np.bincount(coded.group, minlength=number),
        "believed": np.bincount(coded.group[held], minlength=number),
        **count(coded, held, denied, rules),
    }
    decided = pl.col("applicable") - pl.col("undecided")
    table = (
        pl.DataFrame(columns)
        .with_columns(**{of: pl.sum_horizontal(f"{kind}_{of}" for kind in KINDS) for of in COUNTS})
        .with_columns(
            density=pl.when(decided > 0).then(pl.col("violated") / decided),
            consistent=jointly_consistent(coded, held, rules),
        )
    )
    if revision_cost:
        table = table.hstack(_revision_costs(beliefs, held, denied, deadline))
    return Check(
        counts={
            kind: Count(**{of: int(table[f"{kind}_{of}"].sum()) for of in COUNTS}) for kind in KINDS
        },
        believed=int(held.sum()),
        statements=len(truth),
        ties=int((beliefs.p_true == EVEN).sum()),
        missing=truth.null_count(),
        unasked=coded.unasked,
        groups=coded.beside(np.arange(number), table),
        _beliefs=beliefs,
        _truth=truth,
    )


def _statement(violated: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the group, subject, relation and object of the first, second or third statement."""
    return violated.select("g", **{code: f"{code}{number}" for code in "sro"})


def _sides(truth: pl.Series) -> tuple[Booleans, Booleans]:
    """Return which rows are true, and which are false; neither if the truth value is missing."""
    true, false = truth.fill_null(value=False), (~truth).fill_null(value=False)
    return true.to_numpy().copy(), false.to_numpy()


def _revision_costs(
    beliefs: Beliefs, believed: Booleans, disbelieved: Booleans, deadline: float
) -> pl.DataFrame:
    """Return the revision cost of each group, with a lower and an upper bound on the cost."""
    from tacit.coherence.problems import best_assignment

    # A statement without a belief can become true or false at no cost.
    weights = believed.astype(np.int64) - disbelieved
    assignment = best_assignment(beliefs, weights, deadline, break_ties=False)
    changed = np.where(assignment.row_true, disbelieved, believed)
    most = np.bincount(beliefs.coded.group[changed], minlength=len(assignment.room))
    least = np.maximum(0, most - np.floor(assignment.room).astype(np.int64))
    low, high = pl.col("revision_cost_at_least"), pl.col("revision_cost_at_most")
    bounds = pl.DataFrame({"revision_cost_at_least": least, "revision_cost_at_most": most})
    return bounds.select(pl.when(low == high).then(high).alias("revision_cost"), low, high)
