"""Word frequencies of concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def mean_zipf(concepts: pl.DataFrame, questions: int) -> pl.Series:
    """Return, for each question, the mean Zipf frequency of its concepts.

    The Zipf frequency of a word is the base-10 logarithm of its number of occurrences per billion
    words. The Zipf frequency of a concept is 0 if any word of the concept is unknown to wordfreq.

    Args:
        concepts: Table with the columns ``question`` and ``concept``, such as
            ``Background.concepts``.
        questions: The number of questions.

    Returns:
        One value per question; null for a question without concepts.
    """
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
