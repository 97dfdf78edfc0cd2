"""What accuracy owes to a judge's leaning alone (METHODS, section 4, Parts).

Repair under the paper's objective makes more statements true. Part of what it gains is therefore
had by any judge who says "true" more often; these are the judges to compare with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def shifted(beliefs: pl.DataFrame, world: str) -> pl.Series:
    """The beliefs with the threshold moved so that as many are true as in a repaired world.

    The order of the beliefs is kept: a statement is true when its belief is above the threshold.
    At the threshold itself only some can be true; each counts with the share that is.

    Args:
        beliefs: ``p_true`` (null where missing) and a Boolean column named ``world``.
        world: The repaired world.

    Returns:
        For each row the share, 0 to 1, of it that is true; null where the belief is missing.
    """
    import polars as pl

    known = beliefs.filter(pl.col("p_true").is_not_null())
    true = int(known[world].sum())
    p = pl.col("p_true")
    if not true:
        return beliefs.select(pl.when(p.is_not_null()).then(0.0))[:, 0]
    threshold = known["p_true"].sort(descending=True)[true - 1]
    above = int((known["p_true"] > threshold).sum())
    tied = int((known["p_true"] == threshold).sum())
    share = (
        pl.when(p > threshold).then(1.0).when(p == threshold).then((true - above) / tied)
    ).otherwise(0.0)
    return beliefs.select(pl.when(p.is_not_null()).then(share))[:, 0]


def of_relation_majority() -> pl.Expr:
    """Whether the label is the one that most statements of the same relation have; ties are true.

    An expression over the columns ``relation`` and ``label``.
    """
    import polars as pl

    mostly_true = pl.col("label").mean().over("relation") >= 1 / 2
    return pl.col("label") == mostly_true
