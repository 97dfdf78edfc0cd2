"""Baselines of the violation rate: always answering true, and shuffled beliefs."""

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
    """Compute the violation rates of two baselines without knowledge, by constraint type."""
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
    """Shuffle the known beliefs among the statements about the same drawing."""
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
