"""Makes beliefs about every pair of parts of every drawing: independent, or nearly consistent.

python benchmarks/random_beliefs.py DRAWINGS beliefs.tsv --kind uniform --seed 0

DRAWINGS is a folder in the everyday-things layout. ``uniform`` draws p from [0, 1] for each
statement; ``near`` takes what the drawing implies, flips one in ten, and draws p from the half
that this says.
"""

from __future__ import annotations

import argparse
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from tacit.coherence.ontology import Ontology
from tacit.sources.drawings import Drawing, read_drawings
from tacit.tables import write_table

FLIPPED = 0.1


def random_beliefs(
    drawings: list[Drawing], ontology: Ontology, kind: str, seed: int
) -> pl.DataFrame:
    """Beliefs about each drawing: every ordered pair of its parts and every relation.

    Args:
        drawings: Whose parts to take.
        ontology: The relations.
        kind: ``uniform`` or ``near``.
        seed: The same seed gives the same beliefs.
    """
    random = np.random.default_rng(seed)
    frames = []
    for drawing in drawings:
        statements = [
            (subject, relation, object_)
            for subject, object_ in permutations(sorted(drawing.parts), 2)
            for relation in ontology.relations
        ]
        p = random.random(len(statements))
        if kind == "near":
            held = implied(drawing.relations, ontology)
            gold = np.array([statement in held for statement in statements])
            flipped = random.random(len(statements)) < FLIPPED
            p = np.where(gold ^ flipped, 0.5 + p / 2, p / 2)
        frames.append(
            pl.DataFrame(statements, schema=["subject", "relation", "object"], orient="row").select(
                pl.lit(drawing.thing).alias("thing"),
                pl.lit(drawing.annotator).alias("annotator"),
                "subject",
                "relation",
                "object",
                pl.Series("p_true", p),
            )
        )
    return pl.concat(frames)


def implied(
    relations: tuple[tuple[str, str, str], ...], ontology: Ontology
) -> set[tuple[str, str, str]]:
    """What is true of a drawing: its relations and all that follows from them."""
    held = set(relations)
    while True:
        more = {(y, r, x) for x, r, y in held if ontology.relations[r].symmetric}
        more |= {
            (y, inverse, x)
            for x, r, y in held
            if (inverse := ontology.relations[r].inverse) is not None
        }
        more |= {
            (x, r, z)
            for x, r, y in held
            for other, s, z in held
            if r == s and y == other and x != z and ontology.relations[r].transitive
        }
        if more <= held:
            return held
        held |= more


def main() -> None:
    """Writes the beliefs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("drawings", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=["uniform", "near"], default="uniform")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    ontology = Ontology.load("parts")
    drawings = read_drawings(chosen.drawings, tuple(ontology.relations))
    write_table(random_beliefs(drawings, ontology, chosen.kind, chosen.seed), chosen.out)


if __name__ == "__main__":
    main()
