"""Compute the consistent assignment of truth values with the largest total weight."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.coherence.constraints import clauses_of, compile_ontology
from tacit.coherence.problems import orders_at_no_loss, split, variables_of
from tacit.coherence.solve import solve
from tacit.coherence.violations import applicable
from tacit.english import several
from tacit.errors import RepairError

if TYPE_CHECKING:
    from tacit.coherence.constraints import Coded, Family, Integers
    from tacit.coherence.effort import Effort
    from tacit.coherence.enumeration import Booleans, Floats
    from tacit.coherence.ontology import Ontology
    from tacit.coherence.problems import Bucket
    from tacit.coherence.solve import Answers

# Approximate time to verify one transitive constraint on a busy machine.
_SECONDS_PER_CHAIN = 5e-7


@dataclass(frozen=True)
class Assignment:
    """A consistent assignment of truth values to statements."""

    row_true: Booleans
    row_free: Booleans
    room: Floats
    optimal: Booleans
    settled: bool
    statements: pl.DataFrame


def best_assignment(
    coded: Coded, ontology: Ontology, weights: Integers, effort: Effort
) -> Assignment:
    """Find the consistent assignment of truth values with the largest total weight."""
    families, named = compile_ontology(ontology)
    places = [named[name] for name in ontology.relations]
    variables = variables_of(coded, weights, families, places)
    buckets = split(variables, families)
    chains = sum(
        bucket.weights.shape[0] * bucket.items.shape[1] ** 3
        for bucket in buckets
        if families[bucket.family].transitive
    )
    answers = solve(buckets, families, coded.items, _less(effort, _SECONDS_PER_CHAIN * chains))
    true = np.zeros(len(variables.weight), dtype=bool)
    # A variable outside all problems could be true at no loss only if its weight is 0.
    free = orders_at_no_loss(variables, families) & (variables.weight == 0)
    room = np.zeros(len(coded.groups))
    optimal = np.ones(len(coded.groups), dtype=bool)
    for bucket, answer in zip(buckets, answers, strict=True):
        true[bucket.variables] = answer.true[tuple(bucket.places.T)]
        free[bucket.variables] = answer.free[tuple(bucket.places.T)]
        np.add.at(room, bucket.group, answer.bound - (bucket.weights * answer.true).sum(axis=1))
        np.logical_and.at(optimal, bucket.group, answer.optimal)
    statements = _statements(buckets, answers, families, ontology)
    verify(statements, ontology)
    settled = all(bool(answer.settled.all()) for answer in answers)
    return Assignment(
        true[variables.of_row], free[variables.of_row], room, optimal, settled, statements
    )


def _less(effort: Effort, seconds: float) -> Effort:
    """Return the settings with an earlier deadline, to leave time for verifying the result."""
    left = effort.deadline - time.monotonic()
    if left == math.inf:
        return effort
    return replace(effort, deadline=effort.deadline - min(seconds, 0.2 * max(0.0, left)))


def verify(statements: pl.DataFrame, ontology: Ontology) -> None:
    """Verify that an assignment violates no constraint, by the method of ``tacit check``."""
    broken = applicable(statements, ontology).filter("violated")
    irreflexive = [
        number for number, each in enumerate(ontology.relations.values()) if each.irreflexive
    ]
    own = statements.filter((pl.col("s") == pl.col("o")) & pl.col("r").is_in(irreflexive))
    if len(broken) or len(own):
        shown = (broken if len(broken) else own).row(0, named=True)
        raise RepairError(
            f"the repaired beliefs violate {several(len(broken) + len(own), 'constraint')}, for "
            f"example {shown}; this is a bug in Tacit: please report it with the beliefs and the "
            "ontology"
        )


def _statements(
    buckets: list[Bucket],
    answers: list[Answers],
    families: tuple[Family, ...],
    ontology: Ontology,
) -> pl.DataFrame:
    """Return every statement assigned true, with any inverse or symmetric counterpart."""
    _, places = compile_ontology(ontology)
    found = [pl.DataFrame(schema=dict.fromkeys(("g", "s", "r", "o"), pl.Int64))]
    for bucket, answer in zip(buckets, answers, strict=True):
        family = families[bucket.family]
        described = clauses_of(family, bucket.items.shape[1]).variables
        for number, name in enumerate(ontology.relations):
            place = places[name]
            if place.family != bucket.family:
                continue
            mine = np.flatnonzero(described[:, 0] == place.position)
            problem, which = np.nonzero(answer.true[:, mine])
            ends = described[mine][which][:, 1:]
            one, other = bucket.items[problem, ends[:, 0]], bucket.items[problem, ends[:, 1]]
            group = bucket.group[problem]
            symmetric = family.classes[place.position].symmetric
            if not place.turned:
                found.append(_frame(group, one, number, other))
            if place.turned or symmetric:
                apart = np.flatnonzero((one != other) | place.turned)
                found.append(_frame(group[apart], other[apart], number, one[apart]))
    return pl.concat(found)


def _frame(group: Integers, subject: Integers, relation: int, object_: Integers) -> pl.DataFrame:
    numbers = np.full(len(group), relation, dtype=np.int64)
    return pl.DataFrame({"g": group, "s": subject, "r": numbers, "o": object_})
