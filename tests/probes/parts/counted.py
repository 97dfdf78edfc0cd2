from __future__ import annotations

from tacit.coherence.ontology import KINDS, Ontology


def count_by_hand(
    ontology: Ontology, held: set[tuple[str, str, str]]
) -> dict[str, tuple[int, int]]:
    """(violated, applicable) of each type, one constraint at a time."""
    applies: dict[str, dict[object, bool]] = {kind: {} for kind in KINDS}
    for x, r, y in held:
        relation = ontology.relations[r]
        if relation.symmetric:
            applies["symmetric"][r, frozenset((x, y))] = (y, r, x) not in held
        if relation.asymmetric:
            applies["asymmetric"][r, frozenset((x, y))] = (y, r, x) in held
        if relation.inverse:
            partner = (y, relation.inverse, x)
            applies["inverse"][frozenset(((x, r, y), partner))] = partner not in held
        for other in relation.implies:
            applies["implies"][x, r, y, other] = (x, other, y) not in held
        for s, another in ontology.relations.items():
            if s in relation.excludes or r in another.excludes:
                applies["excludes"][x, y, frozenset((r, s))] = (x, s, y) in held
        for y2, r2, z in held:
            if relation.transitive and r2 == r and y2 == y and z != x:
                applies["transitive"][x, r, y, z] = (x, r, z) not in held
    return {kind: (sum(found.values()), len(found)) for kind, found in applies.items()}
