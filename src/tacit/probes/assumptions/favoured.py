"""The words that a model favours whatever the concept (Weir et al. 2020, footnote 16).

"Has legs", "made of wood", "is dangerous": a word that stands first for most concepts tells of the
model, not of the concept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NEAR_THE_TOP = 5
"""A word is shown when it is among so many best candidates of a prompt."""

_GROUP = ("relation", "preface")
_PROMPT = (*_GROUP, "concept")


def favoured(elicitation: pl.DataFrame, top: pl.DataFrame) -> pl.DataFrame:
    """How often each word is a model's first or among its first five, over the vocabulary.

    Args:
        elicitation: relation, preface, concept, word and spelling of people's responses.
        top: relation, preface, over, concept, place, word and logprob of the best candidates.

    Returns:
        relation, preface, word (among the first five of a prompt), ``prompts``, ``first`` (at how
        many of them it stands first), ``share`` (of them), ``right`` (how often people named it
        where it stands first), ``in_top5``, ``probability`` (mean over the ``stored`` prompts in
        whose stored top it is: elsewhere it was not kept, so the mean over all is lower). The most
        often first stand first, equal ones by name.
    """
    import polars as pl

    best = top.filter(pl.col("over") == "vocabulary").join(
        _accepted(elicitation), on=[*_PROMPT, "word"], how="left", maintain_order="left"
    )
    asked = best.group_by(_GROUP, maintain_order=True).agg(prompts=pl.col("concept").n_unique())
    first = pl.col("place") == 1
    words = best.group_by(*_GROUP, "word", maintain_order=True).agg(
        first=first.sum(),
        right=(first & pl.col("accepted").is_not_null()).sum(),
        in_top5=(pl.col("place") <= NEAR_THE_TOP).sum(),
        probability=pl.col("logprob").exp().mean(),
        stored=pl.len(),
    )
    counts = ("prompts", "first", "right", "in_top5", "stored")
    return (
        asked.with_row_index("at")
        .join(words, on=_GROUP)
        .filter(pl.col("in_top5") > 0)
        .sort("at", "first", "word", descending=[False, True, False])
        .with_columns(pl.col(counts).cast(pl.Int64))
        .with_columns(share=pl.col("first") / pl.col("prompts"))
        .select(
            *(*_GROUP, "word", "prompts", "first", "share", "right", "in_top5"),
            *("probability", "stored"),
        )
    )


def _accepted(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Each prompt's words that are people's: as they wrote them, and as the model spells them."""
    import polars as pl

    spelt = [elicitation.select(*_PROMPT, word=pl.col(column)) for column in ("word", "spelling")]
    return pl.concat(spelt).drop_nulls("word").unique().with_columns(accepted=pl.lit(value=True))
