"""The old way: one weighted MaxSAT formula for all of a group's statements, solved by RC2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from pysat.examples.rc2 import RC2, RC2Stratified
from pysat.formula import WCNF

from tacit.coherence.ontology import Ontology

Statement = tuple[str, str, str]


def best_value(
    weights: Mapping[Statement, int],
    items: Sequence[str],
    ontology: Ontology,
    *,
    stratified: bool = False,
) -> int:
    """The largest sum of the weights that a consistent assignment agrees with.

    Args:
        weights: A whole weight per statement, positive for it and negative against it.
        items: All items.
        ontology: The constraints.
        stratified: Whether to use RC2's stratified form.
    """
    formula = WCNF()
    number = {
        (x, relation, y): position
        for position, (relation, (x, y)) in enumerate(
            (
                (relation, pair)
                for relation in ontology.relations
                for pair in permutations(items, 2)
            ),
            1,
        )
    }
    for clause in hard_clauses(number, items, ontology):
        formula.append(clause)
    for statement, weight in weights.items():
        if weight:
            literal = number[statement]
            formula.append([literal if weight > 0 else -literal], weight=abs(weight))
    if not formula.soft:
        return 0
    solver = RC2Stratified if stratified else RC2
    with solver(formula) as rc2:
        rc2.compute()
        return int(sum(formula.wght) - rc2.cost)


def hard_clauses(
    number: Mapping[Statement, int], items: Sequence[str], ontology: Ontology
) -> Iterator[list[int]]:
    """Every constraint between any items, as a clause."""
    for (x, r, y), here in number.items():
        relation = ontology.relations[r]
        reverse = number[y, r, x]
        if relation.symmetric:
            yield [-here, reverse]
        if relation.asymmetric:
            yield [-here, -reverse]
        if relation.inverse is not None:
            yield [-here, number[y, relation.inverse, x]]
        for other in relation.implies:
            yield [-here, number[x, other, y]]
        for other in relation.excludes:
            yield [-here, -number[x, other, y]]
        if relation.transitive:
            for z in items:
                if z not in {x, y}:
                    yield [-here, -number[y, r, z], number[x, r, z]]
