"""Word frequencies of concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def mean_zipf(concepts: pl.DataFrame, questions: int) -> pl.Series:
    """Return, for each question, the mean Zipf frequency of its concepts."""
    import polars as pl
    from wordfreq import zipf_frequency

    if concepts.is_empty():
        return pl.Series([None] * questions, dtype=pl.Float64)
    names = concepts["concept"].unique().sort()
    zipf = pl.DataFrame({"concept": names, "zipf": [zipf_frequency(one, "en") for one in names]})
    # Sorted, because a sum of floats depends on the order of the rows.
    means = (
        concepts.join(zipf, on="concept")
        .sort("question", "concept")
        .group_by("question", maintain_order=True)
        .agg(pl.col("zipf").mean())
    )
    rows = pl.DataFrame({"question": pl.Series(range(questions), dtype=means["question"].dtype)})
    return rows.join(means, on="question", how="left", maintain_order="left")["zipf"]
