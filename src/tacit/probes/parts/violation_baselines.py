"""Baselines of the violation rate: always answering true, and shuffled beliefs.

The micro rate is computed over the constraints of all types together, so the type with the most
constraints has the most weight. The number of applicable transitive constraints grows with the
square of the share of believed statements. A model that believes many statements at random can have
a lower micro violation rate than a model with more knowledge. To interpret a model's violation
rate, Tacit compares it with the violation rates of two baselines that have no knowledge. The
baseline ``always_true`` believes every statement about which the model has a belief. To obtain the
baseline ``shuffled``, Tacit randomly permutes the model's beliefs among the statements derived from
the same annotator's drawing.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from tacit.probes.parts.beliefs import DRAWING, STATEMENT
from tacit.probes.parts.repaired import TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl

    from tacit.coherence.check import Check
    from tacit.coherence.ontology import Ontology

SHUFFLES = 5
"""Number of permutations over which the violation rate of shuffled beliefs is averaged."""
SEED = 0


def baselines(
    beliefs: pl.DataFrame, ontology: Ontology, shuffles: int = SHUFFLES, seed: int = SEED
) -> pl.DataFrame:
    """Compute the violation rates of two baselines without knowledge, by constraint type.

    If the model has no belief about a statement, the baselines ``always_true`` and ``shuffled``
    have no belief about the statement. A constraint that depends on a missing belief is undecided
    for the model and for both baselines.

    Args:
        beliefs: A table with the columns ``thing``, ``annotator``, ``subject``, ``relation``,
            ``object`` and ``p_true`` (null if the belief is missing).
        ontology: The relations and their constraints.
        shuffles: The number of permutations of the beliefs.
        seed: Seed of the permutations.

    Returns:
        A table with the columns ``constraint``, ``always_true`` and ``shuffled``. The value of
        ``constraint`` is a type of constraint (such as ``symmetric``), or one of the overall rates
        ``macro`` and ``micro``. The column ``shuffled`` contains the violation rate of the shuffled
        beliefs, averaged over the permutations in which the rate is defined. An undefined rate is
        null.
    """
    import numpy as np
    import polars as pl

    from tacit.coherence.check import check

    beliefs = beliefs.select(*STATEMENT, "p_true").sort(STATEMENT)
    known = beliefs["p_true"].is_not_null()
    true = _rates(check(beliefs.with_columns(p_true=pl.when(known).then(1.0)), ontology))
    generator = np.random.default_rng(seed)
    drawn = [_rates(check(shuffled(beliefs, generator), ontology)) for _ in range(shuffles)]
    rows = [
        (name, true[name], _mean([rates[name] for rates in drawn]))
        for name in (*TYPES, "macro", "micro")
    ]
    schema = {"constraint": pl.String, "always_true": pl.Float64, "shuffled": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def shuffled(beliefs: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    """Shuffle the known beliefs among the statements about the same drawing.

    The share of believed statements in each drawing does not change.

    Args:
        beliefs: A table with the columns ``thing``, ``annotator``, ``subject``, ``relation``,
            ``object`` and ``p_true`` (null if the belief is missing).
        generator: The random-number generator.

    Returns:
        The rows of ``beliefs`` with permuted values of ``p_true``; rows with a missing belief come
        last.
    """
    import polars as pl

    missing = beliefs.filter(pl.col("p_true").is_null())
    known = beliefs.filter(pl.col("p_true").is_not_null())
    known = known.with_columns(order=pl.Series(generator.permutation(known.height)))
    permuted = known.with_columns(pl.col("p_true").sort_by("order").over(DRAWING))
    return pl.concat([permuted.drop("order"), missing])


def _rates(found: Check) -> dict[str, float | None]:
    each = {name: found.counts[name].rate for name in TYPES}
    return {**each, "macro": found.macro, "micro": found.micro}


def _mean(rates: Sequence[float | None]) -> float | None:
    defined = [rate for rate in rates if rate is not None]
    return fmean(defined) if defined else None
