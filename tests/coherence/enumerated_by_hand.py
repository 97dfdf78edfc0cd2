"""All assignments of a few items, from the constraints' definitions and nothing of Tacit's."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import permutations

import numpy as np

from tacit.coherence.ontology import Ontology

Statement = tuple[str, str, str]
Assignments = np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def linked(ontology: Ontology) -> list[list[str]]:
    """Relations that some constraint joins, directly or through others."""
    names = list(ontology.relations)
    ends = [
        (name, other)
        for name, each in ontology.relations.items()
        for other in (*each.implies, *each.excludes, each.inverse)
        if other is not None
    ]
    sets = {name: {name} for name in names}
    for one, other in ends:
        union = sets[one] | sets[other]
        for name in union:
            sets[name] = union
    return [list(each) for each in dict.fromkeys(tuple(sorted(sets[name])) for name in names)]


@lru_cache
def all_assignments(
    name: str, relations: tuple[str, ...], items: tuple[str, ...]
) -> tuple[list[Statement], Assignments]:
    """Every consistent truth assignment to all statements between different items."""
    ontology = Ontology.load(name)
    statements = [(x, r, y) for x, y in permutations(items, 2) for r in relations]
    number = {statement: position for position, statement in enumerate(statements)}
    clauses = list(clauses_of(ontology, number, items))
    assignments = np.zeros((1, 0), dtype=bool)
    for last in range(len(statements)):
        assignments = np.concatenate(
            [
                np.column_stack([assignments, np.zeros(len(assignments), dtype=bool)]),
                np.column_stack([assignments, np.ones(len(assignments), dtype=bool)]),
            ]
        )
        for true, then in clauses:
            if max(*true, last if then is None else then) == last and last in {*true, then}:
                premises = assignments[:, list(true)].all(axis=1)
                assignments = assignments[
                    ~premises if then is None else ~premises | assignments[:, then]
                ]
    return statements, assignments


def clauses_of(
    ontology: Ontology, number: Mapping[Statement, int], items: tuple[str, ...]
) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """(premises, conclusion) of each constraint; without a conclusion the premises clash."""
    for (x, r, y), here in number.items():
        relation = ontology.relations[r]
        follows = [(x, other, y) for other in relation.implies]
        follows += [(y, r, x)] * relation.symmetric
        follows += [(y, relation.inverse, x)] if relation.inverse else []
        clashes = [(x, other, y) for other in relation.excludes]
        clashes += [(y, r, x)] * relation.asymmetric
        clashes += [(x, r, z) for z in {*items} - {x, y} if relation.functional]
        clashes += [(z, r, y) for z in {*items} - {x, y} if relation.inverse_functional]
        yield from (((here,), number[each]) for each in follows if each in number)
        yield from (((here, number[each]), None) for each in clashes if each in number)
        others = set(items) - {x, y} if relation.transitive else set()
        yield from (((here, number[y, r, z]), number[x, r, z]) for z in sorted(others))
