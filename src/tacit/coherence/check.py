"""Consistency check: the rate of constraint violations (τ in section 6.1 of Gu et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tacit.coherence import TIME_LIMIT
from tacit.coherence.beliefs import EVEN, Beliefs
from tacit.coherence.closure import Booleans, Rules
from tacit.coherence.conflicts import conflicts, sentence
from tacit.coherence.ontology import KINDS, PAPERS
from tacit.coherence.repair import deadline_of, weights_of
from tacit.coherence.violations import COUNTS, count, jointly_consistent, violations
from tacit.english import several


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

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, most: int = 20) -> list[str]:
        """Return how many constraints could be decided, and ``most`` conflicts, as text."""
        constraints, sentences = several(self.total.applicable, "constraint"), self.sentences
        decided = (
            f"{self.total.decided:,} of {constraints} between two or three statements could be "
            "decided"
        )
        if self.total.undecided:
            decided += "; the others depend on statements that were not asked or have no belief"
        found = several(len(sentences), "minimal conflict")
        if not sentences and self.conflicting:
            found = f"conflicts in {several(self.conflicting, 'group')}, too large to list"
        more = sentences and not self.all_conflicts
        lines = [f"{number}. {text}" for number, text in enumerate(sentences[:most], 1)]
        lines += [f"and {len(sentences) - most:,} more"] * (len(sentences) > most)
        return [decided, f"at least {found}" if more else found, *lines]

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

    @cached_property
    def conflicting(self) -> int:
        """The number of groups with a conflict (see ``conflicts``)."""
        sides = _sides(self._truth)
        return int((~jointly_consistent(self._beliefs.coded, *sides, self._rules)).sum())

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
        found = violations(coded, *_sides(self._truth), self._rules)
        table = found.sort("g", "kind", *(f"{c}{n}" for n in (1, 2, 3) for c in "rso"))
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
    def conflicts(self) -> pl.DataFrame:
        """The minimal conflicts: beliefs that cannot all be right, the smallest sets first.

        If any belief of a conflict is given up, the others can all be right. For example, "A
        before B", "B before C" and "C before A" cannot all be true. A belief can be part of several
        conflicts. At most 1,000 are listed, and fewer if the search would take minutes;
        ``all_conflicts`` says whether these are all.

        Returns:
            One row per belief of a conflict: the group columns, the column ``conflict``
            (number of the conflict, from 1), ``subject``, ``relation``, ``object``,
            ``p_true``, ``believed``, ``cost`` and ``cheapest``. The column ``cost`` contains the
            absolute log-odds of ``p_true``, which is what repair with the objective ``log-odds``
            pays for changing the belief (13.8 at most). The column ``cheapest`` is True if no
            other belief of the conflict costs less to change.
        """
        found = self._conflicts[0]
        number = np.repeat(np.arange(1, len(found) + 1), [len(rows) for rows in found])
        rows = pl.Series([row for rows in found for row in rows], dtype=pl.Int64)
        coded, p_true = self._beliefs.coded, self._beliefs.p_true.gather(rows)
        codes = self._rows[rows]
        cost = np.abs(weights_of(p_true.to_numpy(), "log-odds"))
        table = pl.DataFrame({"conflict": number, **coded.words(codes), "p_true": p_true})
        table = table.with_columns(believed=self._truth.gather(rows), cost=cost)
        cheapest = pl.col("cost") == pl.col("cost").min().over("conflict")
        return coded.beside(codes["g"], table.with_columns(cheapest=cheapest))

    @property
    def all_conflicts(self) -> bool:
        """Whether ``conflicts`` contains all minimal conflicts."""
        return self._conflicts[1]

    @property
    def sentences(self) -> list[str]:
        """Each minimal conflict as a sentence, with the least costly way out of it."""
        each = self.conflicts.partition_by("conflict", maintain_order=True)
        return [sentence(rows.to_dicts(), self._beliefs.groups) for rows in each]

    @cached_property
    def _conflicts(self) -> tuple[list[list[int]], bool]:
        return conflicts(self._beliefs.coded, *_sides(self._truth), self._rules)

    @cached_property
    def _rows(self) -> pl.DataFrame:
        return self._beliefs.coded.frame.with_row_index("row")

    @property
    def _rules(self) -> Rules:
        return self._beliefs.ontology.rules

    def to_json(self) -> dict[str, Any]:
        """Return the result as a mapping in the stable format of ``tacit check --json``."""
        counts = {kind: count.to_json() for kind, count in self.counts.items()}
        more = {kind: counts.pop(kind) for kind in KINDS if kind not in PAPERS}
        return {
            **counts,
            "macro": self.macro,
            "micro": self.micro,
            "believed": self.believed,
            "statements": self.statements,
            **more,
            "ties": self.ties,
            "missing": self.missing,
            "unasked": self.unasked,
            "groups": len(self.groups),
            "groups_decided": self.decided,
            "groups_with_violations": self.contradicted,
            "groups_with_conflicts": self.conflicting,
            "jointly_consistent": self.consistent,
            "contradiction_density": self.density,
            "revision_cost": self.revision_cost,
            "revision_cost_at_least": self.revision_cost_at_least,
            "revision_cost_at_most": self.revision_cost_at_most,
            "conflicts": self.conflicts.to_dicts(),
            "sentences": self.sentences,
            "all_conflicts": self.all_conflicts,
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
            consistent=jointly_consistent(coded, held, np.zeros_like(held), rules),
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
