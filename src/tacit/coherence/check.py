"""Consistency check: the rate of constraint violations (τ in section 6.1 of Gu et al. 2023)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.coherence.beliefs import STATEMENT, TRUTHS, carried_columns, check_beliefs
from tacit.coherence.constraints import Coded, beside, code
from tacit.coherence.effort import TIME_LIMIT, effort_of
from tacit.coherence.joint import examine, jointly_consistent, minimal_clash
from tacit.coherence.violations import KINDS, applicable
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.coherence.constraints import Integers
    from tacit.coherence.effort import Effort
    from tacit.coherence.enumeration import Booleans
    from tacit.coherence.joint import Examined
    from tacit.coherence.ontology import Ontology

_EVEN = 0.5
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
        revision_cost: The smallest number of beliefs that must change to make all groups
            consistent, computed by exact repair. ``revision_cost`` is None if it was not requested,
            or if time ran out before the smallest number of changed beliefs was determined for
            every group. The revision cost of a group with a violated constraint is at least 1. If a
            group has a belief about every possible statement, its revision cost is positive only if
            the beliefs violate a constraint. The revision cost can be positive although no
            constraint is violated, because beliefs can require contradictory truth values of a
            statement that has no belief. For example, if a group contains only the beliefs "A above
            B", "B above C" and "C above A", no constraint is violated, but one of the beliefs must
            change because they cannot all be true.
        revision_cost_at_least: A proven lower bound on the revision cost; None if the revision cost
            was not requested.
        revision_cost_at_most: The number of beliefs that change in the best repair found, which is
            an upper bound on the revision cost. ``revision_cost_at_most`` is None if the revision
            cost was not requested.

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
    revision_cost: int | None
    revision_cost_at_least: int | None
    revision_cost_at_most: int | None
    _truth: pl.Series
    _beliefs: pl.DataFrame
    _coded: Coded
    _ontology: Ontology

    def __repr__(self) -> str:
        violated = ", ".join(
            f"{kind} {count.violated} of {count.decided}" for kind, count in self.counts.items()
        )
        return f"Check({self.believed} of {self.statements} believed; violated: {violated})"

    def _repr_html_(self) -> str:
        """Return the counts of each type of constraint as HTML for a notebook."""
        import polars as pl

        rows = [
            {"constraint": kind, "violated": count.violated, "applicable": count.applicable}
            | {"undecided": count.undecided}
            for kind, count in self.counts.items()
        ]
        return pl.DataFrame(rows)._repr_html_()

    @property
    def macro(self) -> float | None:
        """The mean of the constraint types' violation rates.

        The mean is None if no constraint has a known outcome (violated or satisfied).
        """
        rates = [count.rate for count in self.counts.values() if count.rate is not None]
        return sum(rates) / len(rates) if rates else None

    @property
    def micro(self) -> float | None:
        """The violation rate of the constraints of all types together.

        The violation rate is the number of violated constraints, divided by the number of
        constraints that are violated or satisfied. The result is None if no constraint is violated
        or satisfied.
        """
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
        return (
            float(self.groups["consistent"].sum()) / len(self.groups) if len(self.groups) else None
        )

    @property
    def contradicted(self) -> int:
        """The number of groups with at least one violated constraint."""
        return int((self.groups["violated"] > 0).sum())

    @property
    def decided(self) -> int:
        """The number of groups in which at least one constraint is violated or satisfied."""
        return int((self.groups["applicable"] > self.groups["undecided"]).sum())

    @property
    def clashing(self) -> int:
        """The number of groups with an indirect clash (see ``clashes``)."""
        return int(self._clashing.sum())

    @cached_property
    def _violated(self) -> pl.DataFrame:
        statements, held = _statements(self._coded), self._truth.fill_null(value=False)
        known = applicable(statements.filter(held), self._ontology, statements.filter(~self._truth))
        return known.filter("violated")

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
        relations = tuple(self._ontology.relations)
        return _violations(self._violated, self._beliefs, self._coded, relations)

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
        found: list[tuple[int, Integers]] = []
        for group in np.flatnonzero(self._clashing).tolist():
            mine = self._left & (self._coded.group == group)
            while not jointly_consistent(self._coded, mine, self._ontology)[group]:
                rows = minimal_clash(self._coded, mine, self._ontology, group)
                found.append((group, rows))
                mine[rows] = False
        return self._table_of(found)

    @cached_property
    def example_clash(self) -> pl.DataFrame:
        """One indirect clash, with the columns of ``clashes``.

        The example is from the smallest group with an indirect clash. The table has no rows if no
        group has one, or if the group is so large that the search would take more than seconds.
        """
        sizes = np.bincount(self._coded.group[self._left], minlength=len(self._clashing))
        groups = np.flatnonzero(self._clashing & (sizes <= _MOST_SEARCHED))
        if not len(groups):
            return self._table_of([])
        group = int(groups[np.argmin(sizes[groups])])
        rows = minimal_clash(self._coded, self._left, self._ontology, group)
        return self._table_of([(group, rows)])

    def _table_of(self, found: Sequence[tuple[int, Integers]]) -> pl.DataFrame:
        """Return a table with one row per statement of a clash."""
        coded, relations = self._coded, list(self._ontology.relations)
        sizes = [len(rows) for _, rows in found]
        groups = np.repeat([group for group, _ in found], sizes).astype(np.int64)
        rows = np.concatenate([rows for _, rows in found] or [np.zeros(0, dtype=np.int64)])
        items = pl.Series(coded.items, dtype=pl.String)
        table = pl.DataFrame(
            {
                "clash": np.repeat(np.arange(1, len(found) + 1), sizes),
                "subject": items.gather(coded.subject[rows]),
                "relation": pl.Series(relations, dtype=pl.String).gather(coded.relation[rows]),
                "object": items.gather(coded.object[rows]),
                "p_true": self._beliefs["p_true"].gather(rows),
            }
        )
        return beside(coded.groups.select(pl.all().gather(groups)), table)

    @cached_property
    def _left(self) -> Booleans:
        """For each row of the table of beliefs: whether it is believed and violates nothing."""
        parts = [
            self._violated.select("g", *(pl.col(f"{c}{number}").alias(c) for c in "sro"))
            for number in (1, 2, 3)
        ]
        rows = _statements(self._coded).with_row_index("row")
        involved = rows.join(pl.concat(parts), on=["g", "s", "r", "o"], how="semi")["row"]
        left = self._beliefs["believed"].to_numpy().copy()
        left[involved.to_numpy()] = False
        return left

    @cached_property
    def _clashing(self) -> Booleans:
        """For each group: whether its beliefs clash even without those that violate something."""
        return ~jointly_consistent(self._coded, self._left, self._ontology)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a mapping in the stable format of ``tacit check --json``."""
        counts = {
            kind: {
                "violated": each.violated,
                "applicable": each.applicable,
                "undecided": each.undecided,
                "rate": each.rate,
            }
            for kind, each in self.counts.items()
        }
        stable = {
            kind: counts[kind] for kind in ("symmetric", "asymmetric", "inverse", "transitive")
        }
        return {
            **stable,
            "macro": self.macro,
            "micro": self.micro,
            "believed": self.believed,
            "statements": self.statements,
            "implies": counts["implies"],
            "excludes": counts["excludes"],
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
    beliefs: pl.DataFrame,
    ontology: Ontology,
    believed: str = "p_true",
    *,
    groups: Sequence[str] | None = None,
    revision_cost: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> Check:
    """Count the constraints that a table of beliefs violates."""
    effort = effort_of(time.monotonic(), time_limit, break_ties=False)
    beliefs = check_beliefs(beliefs, ontology, groups)
    truth = _truth(beliefs, believed)
    held = truth.fill_null(value=False)
    coded = code(beliefs, ontology, groups)
    costs = _revision_costs(coded, ontology, truth, effort) if revision_cost else None
    known = truth.is_not_null()
    found = examine(coded, held.to_numpy(), (known & ~held).to_numpy(), ontology)
    told = {"consistent": pl.Series(found.consistent)}
    told |= {} if costs is None else costs.to_dict()
    asked = int((coded.subject != coded.object).sum())
    return Check(
        counts={
            kind: Count(
                *(int(of[kind].sum()) for of in (found.violated, found.applicable, found.undecided))
            )
            for kind in KINDS
        },
        believed=int(held.sum()),
        statements=len(beliefs),
        ties=int((beliefs["p_true"] == _EVEN).sum()),
        missing=truth.null_count(),
        unasked=int((coded.sizes * (coded.sizes - 1)).sum()) * len(ontology.relations) - asked,
        groups=_groups(found, coded, held, told),
        revision_cost=None if costs is None else _total(costs["revision_cost"]),
        revision_cost_at_least=None if costs is None else _total(costs["revision_cost_at_least"]),
        revision_cost_at_most=None if costs is None else _total(costs["revision_cost_at_most"]),
        _truth=truth,
        _beliefs=beliefs.select(
            "p_true", held.alias("believed"), *carried_columns(beliefs, groups)
        ),
        _coded=coded,
        _ontology=ontology,
    )


def _statements(coded: Coded) -> pl.DataFrame:
    """Return the group, subject, relation and object of each row as integers."""
    return pl.DataFrame(
        {"g": coded.group, "s": coded.subject, "r": coded.relation, "o": coded.object}
    )


def _truth(beliefs: pl.DataFrame, believed: str) -> pl.Series:
    """Return whether the statement in each row is believed; null if its belief is missing."""
    if believed == "p_true":
        return beliefs["p_true"] > _EVEN
    if believed not in beliefs.columns or beliefs[believed].dtype != pl.Boolean:
        raise RequestError(
            f"the beliefs have no column {believed} of True and False; "
            f"expected p_true, or one of {', '.join(TRUTHS)} if the beliefs have it"
        )
    return beliefs[believed]


def _groups(
    found: Examined, coded: Coded, held: pl.Series, told: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """Return a table with the counts of constraints in each group, sorted by group."""
    number = len(coded.groups)
    named = {
        "violated": found.violated,
        "applicable": found.applicable,
        "undecided": found.undecided,
    }
    columns: dict[str, Integers] = {
        "statements": np.bincount(coded.group, minlength=number),
        "believed": np.bincount(coded.group[held.to_numpy()], minlength=number),
        **{f"{kind}_{name}": of[kind] for kind in KINDS for name, of in named.items()},
        **{name: sum(of.values(), np.zeros(number, np.int64)) for name, of in named.items()},
    }
    decided = pl.col("applicable") - pl.col("undecided")
    density = pl.when(decided > 0).then(pl.col("violated") / decided)
    table = pl.DataFrame({name: values[:number] for name, values in columns.items()})
    return beside(coded.groups, table.with_columns(density=density, **told))


def _revision_costs(
    coded: Coded, ontology: Ontology, truth: pl.Series, effort: Effort
) -> pl.DataFrame:
    """Return the revision cost of each group, with a lower and an upper bound on the cost."""
    from tacit.coherence.assignment import best_assignment

    believed, known = truth.fill_null(value=False).to_numpy(), truth.is_not_null().to_numpy()
    # A statement without a belief can become true or false at no cost.
    weights = np.where(known, np.where(believed, 1, -1), 0).astype(np.int64)
    assignment = best_assignment(coded, ontology, weights, effort)
    changed = known & (assignment.row_true != believed)
    most = np.bincount(coded.group[changed], minlength=len(coded.groups))[: len(coded.groups)]
    least = np.maximum(0, most - np.floor(assignment.room).astype(np.int64))
    bounds = pl.DataFrame({"revision_cost_at_least": least, "revision_cost_at_most": most})
    low, high = pl.col(bounds.columns[0]), pl.col(bounds.columns[1])
    return bounds.select(pl.when(low == high).then(high).alias("revision_cost"), pl.all())


def _total(costs: pl.Series) -> int | None:
    """Return the number of beliefs to change in all groups; None if unknown for a group."""
    return None if costs.null_count() else int(costs.sum())


def _violations(
    violated: pl.DataFrame, beliefs: pl.DataFrame, coded: Coded, relations: tuple[str, ...]
) -> pl.DataFrame:
    rows = _statements(coded).with_row_index("row")
    keys = ["g", "kind", *(f"{column}{number}" for number in (1, 2, 3) for column in "rso")]
    table = violated.sort(keys)
    names = {
        "s": pl.Series(coded.items, dtype=pl.String),
        "r": pl.Series(relations, dtype=pl.String),
        "o": pl.Series(coded.items, dtype=pl.String),
    }
    shown = {"constraint": table["kind"].cast(pl.String)}
    for number in (1, 2, 3):
        of = [f"{column}{number}" for column in "sro"]
        row = table.join(
            rows,
            left_on=["g", *of],
            right_on=["g", "s", "r", "o"],
            how="left",
            maintain_order="left",
        )["row"]
        for column, name in zip("sro", STATEMENT, strict=True):
            shown[f"{name}_{number}"] = names[column].gather(table[f"{column}{number}"])
        for name in beliefs.columns:
            shown[f"{name}_{number}"] = beliefs[name].gather(row)
    groups = coded.groups.select(pl.all().gather(table["g"]))
    return beside(groups, pl.DataFrame(shown))
