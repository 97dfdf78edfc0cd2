"""Check: how often beliefs contradict one another (Gu et al. 2023, section 6.1: τ)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.coherence.beliefs import STATEMENT, TRUTHS, check_beliefs
from tacit.coherence.coding import Coded, beside, code
from tacit.coherence.joint import jointly_consistent
from tacit.coherence.violations import KINDS, applicable
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.coherence.ontology import Ontology
    from tacit.coherence.structure import Integers

_EVEN = 0.5


@dataclass(frozen=True)
class Count:
    """How many constraints of one type apply, and how many of them are violated."""

    violated: int
    applicable: int

    @property
    def rate(self) -> float | None:
        """The share violated; None when nothing applies."""
        return self.violated / self.applicable if self.applicable else None


@dataclass(frozen=True)
class Check:
    """How far beliefs contradict one another.

    Args:
        counts: For each type of constraint, what applies and what is violated, over all groups.
        believed: How many statements are believed.
        statements: How many rows there are.
        ties: How many have a p of one half exactly, and are not believed.
        missing: How many have no p, and are not believed.
        unasked: Ordered pairs of different items and relations, within groups, without a row.
        groups: One row per group: its columns, statements, believed, for each type
            ``<type>_violated`` and ``<type>_applicable``, violated, applicable, density (violated
            over applicable, null when nothing applies), consistent (whether its believed
            statements can all be true together) and, when asked for, revision_cost.
        revision_cost: The least number of asked statements to change for all groups to be
            consistent, by exact repair; None when it was not asked for.
    """

    counts: Mapping[str, Count]
    believed: int
    statements: int
    ties: int
    missing: int
    unasked: int
    groups: pl.DataFrame
    revision_cost: int | None
    _constraints: pl.DataFrame
    _beliefs: pl.DataFrame
    _coded: Coded
    _relations: tuple[str, ...]

    @property
    def macro(self) -> float | None:
        """The mean of the rates that are defined; None when none is."""
        rates = [count.rate for count in self.counts.values() if count.rate is not None]
        return sum(rates) / len(rates) if rates else None

    @property
    def micro(self) -> float | None:
        """All violated over all applicable; None when nothing applies."""
        violated = sum(count.violated for count in self.counts.values())
        return Count(violated, sum(count.applicable for count in self.counts.values())).rate

    @property
    def density(self) -> float | None:
        """The contradiction density: violated over applicable per group, then averaged."""
        mean = self.groups["density"].mean()
        return float(mean) if isinstance(mean, int | float) else None

    @property
    def consistent(self) -> float | None:
        """The share of groups whose believed statements can all be true together."""
        return (
            float(self.groups["consistent"].sum()) / len(self.groups) if len(self.groups) else None
        )

    @property
    def contradicted(self) -> int:
        """How many groups have any violation."""
        return int((self.groups["violated"] > 0).sum())

    @cached_property
    def violations(self) -> pl.DataFrame:
        """The violated constraints, sorted: which statements clash, and their beliefs.

        Returns:
            The group's columns, ``constraint``, and for each of its statements ``subject_1``,
            ``relation_1``, ``object_1``, ``p_true_1`` (null when missing or not asked) and
            ``believed_1``, and so on to 3; transitive constraints alone have a third.
        """
        return _violations(self._constraints, self._beliefs, self._coded, self._relations)

    def to_json(self) -> dict[str, Any]:
        """The result in the stable shape of ``tacit check --json``."""
        counts = {
            kind: {"violated": each.violated, "applicable": each.applicable, "rate": each.rate}
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
            "groups_with_violations": self.contradicted,
            "jointly_consistent": self.consistent,
            "contradiction_density": self.density,
            "revision_cost": self.revision_cost,
        }


def check(
    beliefs: pl.DataFrame,
    ontology: Ontology,
    believed: str = "p_true",
    *,
    revision_cost: bool = False,
) -> Check:
    """Counts the constraints that beliefs violate, over the statements believed true.

    Args:
        beliefs: Group columns, subject, relation, object, p_true (null = missing).
        ontology: The constraints.
        believed: ``p_true`` (believed when above one half), or a Boolean column.
        revision_cost: Whether to compute, exactly, how many statements must change.

    Raises:
        DataError: The beliefs are malformed, or give a statement twice.
        RequestError: ``believed`` names no such column.
    """
    beliefs = check_beliefs(beliefs, ontology)
    held = _held(beliefs, believed)
    coded = code(beliefs, ontology)
    true = pl.DataFrame(
        {"g": coded.group, "s": coded.subject, "r": coded.relation, "o": coded.object}
    ).filter(held)
    constraints = applicable(true, ontology)
    costs = _revision_costs(coded, ontology, beliefs, held) if revision_cost else None
    consistent = jointly_consistent(coded, held.to_numpy(), ontology)
    told = {"consistent": pl.Series(consistent)}
    told |= {} if costs is None else {"revision_cost": costs}
    groups = _groups(constraints, coded, held, told)
    asked = int((coded.subject != coded.object).sum())
    return Check(
        counts=_counts(constraints),
        believed=int(held.sum()),
        statements=len(beliefs),
        ties=int((beliefs["p_true"] == _EVEN).sum()),
        missing=beliefs["p_true"].null_count(),
        unasked=int((coded.sizes * (coded.sizes - 1)).sum()) * len(ontology.relations) - asked,
        groups=groups,
        revision_cost=None if costs is None else int(costs.sum()),
        _constraints=constraints,
        _beliefs=beliefs.with_columns(held.alias("held")),
        _coded=coded,
        _relations=tuple(ontology.relations),
    )


def _held(beliefs: pl.DataFrame, believed: str) -> pl.Series:
    if believed == "p_true":
        return (beliefs["p_true"] > _EVEN).fill_null(value=False)
    if believed not in beliefs.columns or beliefs[believed].dtype != pl.Boolean:
        raise RequestError(
            f"the beliefs have no column {believed} of True and False; "
            f"expected p_true, or one of {', '.join(TRUTHS)} that is there"
        )
    return beliefs[believed].fill_null(value=False)


def _counts(constraints: pl.DataFrame) -> dict[str, Count]:
    counted = constraints.group_by("kind").agg(pl.col("violated").sum(), pl.len().alias("all"))
    found = {kind: Count(violated, every) for kind, violated, every in counted.iter_rows()}
    return {kind: found.get(kind, Count(0, 0)) for kind in KINDS}


def _groups(
    constraints: pl.DataFrame, coded: Coded, held: pl.Series, told: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """One row per group, in sorted order, with what else is told of each."""
    number = len(coded.groups)
    group = constraints["g"].to_numpy()
    violated = constraints["violated"].to_numpy()
    kind = constraints["kind"].to_physical().to_numpy()
    columns: dict[str, Integers] = {
        "statements": np.bincount(coded.group, minlength=number),
        "believed": np.bincount(coded.group[held.to_numpy()], minlength=number),
    }
    for rank, name in enumerate(KINDS):
        mine = kind == rank
        columns[f"{name}_violated"] = np.bincount(group[mine & violated], minlength=number)
        columns[f"{name}_applicable"] = np.bincount(group[mine], minlength=number)
    columns["violated"] = np.bincount(group[violated], minlength=number)
    columns["applicable"] = np.bincount(group, minlength=number)
    density = pl.when(pl.col("applicable") > 0).then(pl.col("violated") / pl.col("applicable"))
    table = pl.DataFrame({name: values[:number] for name, values in columns.items()})
    return beside(coded.groups, table.with_columns(density=density, **told))


def _revision_costs(
    coded: Coded, ontology: Ontology, beliefs: pl.DataFrame, held: pl.Series
) -> pl.Series:
    """The least number of asked statements to change in each group."""
    from tacit.coherence.solve import Effort, cores
    from tacit.coherence.world import best_world

    believed = held.to_numpy()
    # A statement whose belief is missing may become true or false at no cost.
    known = believed | beliefs["p_true"].is_not_null().to_numpy()
    weights = np.where(known, np.where(believed, 1, -1), 0).astype(np.int64)
    world = best_world(coded, ontology, weights, Effort(processes=cores(), break_ties=False))
    changed = known & (world.row_true != believed)
    costs = np.bincount(coded.group[changed], minlength=len(coded.groups))
    return pl.Series(costs[: len(coded.groups)])


def _violations(
    constraints: pl.DataFrame, beliefs: pl.DataFrame, coded: Coded, relations: tuple[str, ...]
) -> pl.DataFrame:
    rows = pl.DataFrame(
        {
            "g": coded.group,
            "s": coded.subject,
            "r": coded.relation,
            "o": coded.object,
            "p_true": beliefs["p_true"],
            "believed": beliefs["held"],
        }
    )
    keys = ["g", "kind", *(f"{column}{number}" for number in (1, 2, 3) for column in "rso")]
    table = constraints.filter("violated").sort(keys)
    names = {
        "s": pl.Series(coded.items, dtype=pl.String),
        "r": pl.Series(relations, dtype=pl.String),
        "o": pl.Series(coded.items, dtype=pl.String),
    }
    shown = {"constraint": table["kind"].cast(pl.String)}
    for number in (1, 2, 3):
        of = [f"{column}{number}" for column in "sro"]
        told = table.join(
            rows,
            left_on=["g", *of],
            right_on=["g", "s", "r", "o"],
            how="left",
            maintain_order="left",
        )
        for column, name in zip("sro", STATEMENT, strict=True):
            shown[f"{name}_{number}"] = names[column].gather(table[f"{column}{number}"])
        shown[f"p_true_{number}"] = told["p_true"]
        believed = pl.when(pl.col(of[0]).is_not_null()).then(
            pl.col("believed").fill_null(value=False)
        )
        shown[f"believed_{number}"] = told.select(believed).to_series()
    groups = coded.groups.select(pl.all().gather(table["g"]))
    return beside(groups, pl.DataFrame(shown))
