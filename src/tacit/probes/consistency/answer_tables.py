"""The tables of a model's answers: to background questions, to anchor questions, and all scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Method
    from tacit.sources.anchors import Anchor


def facts(asked: pl.DataFrame, answered: pl.DataFrame) -> pl.DataFrame:
    """Return the facts with the answers to the questions about each and its negative."""
    import polars as pl

    for side, gold in (("positive", True), ("negative", False)):
        own = answered.select(
            (pl.col("yes") == gold).alias(f"{side}_right"),
            pl.exclude("yes").name.prefix(f"{side}_"),
        )
        asked = asked.join(own, on=f"{side}_question", how="left", maintain_order="left")
    return TABLES["facts"].frame(asked)


def with_votes(answered: pl.DataFrame, scores: pl.DataFrame, how: Method) -> pl.DataFrame:
    """Add the share of “yes” among the parsed replies, and the numbers of unparsed replies."""
    import polars as pl

    used, score = how.inputs(scores), pl.col("score")
    yes, parsed = score.filter(pl.col("positive")).sum(), score.sum()
    share = used.group_by("question").agg(share=pl.when(parsed > 0).then(yes / parsed))
    prompts = used.unique(["question", "meta", "named"])
    unread = prompts.group_by("question").agg(pl.col("unparsed", "truncated").sum())
    return answered.join(share, on="question", maintain_order="left").join(
        unread, on="question", maintain_order="left"
    )


def anchors(
    of: Sequence[Anchor],
    background: pl.DataFrame,
    frequency: pl.Series,
    chosen: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """Return the anchor questions with their background scores and the model's answers.

    The columns of all methods of answering but the first have the method's name as prefix.
    """
    import polars as pl

    table = pl.DataFrame(
        {
            "anchor": [anchor.id for anchor in of],
            "question": [anchor.question for anchor in of],
            "concept": pl.Series([anchor.concept for anchor in of], dtype=pl.String),
            "cluster": [anchor.concept or f"anchor {anchor.id}" for anchor in of],
            "answer": [None if a.answer is None else a.choices[a.answer] for a in of],
            "frequency": frequency,
        }
    ).with_row_index("at")
    table = _beside(table, background).with_columns(
        pl.col("facts", "positives", "negatives").fill_null(0)
    )
    for number, (way, found) in enumerate(chosen.items()):
        named = with_choices(of, found)
        table = _beside(table, named if not number else named.select("anchor", _prefixed(way)))
    return TABLES["anchors"].frame(table)


def with_choices(of: Sequence[Anchor], chosen: pl.DataFrame) -> pl.DataFrame:
    """Return selected choices as text, and whether they are right."""
    import polars as pl

    picked = chosen.select("anchor", "choice").rows()
    right = [None if choice is None else choice == of[at].answer for at, choice in picked]
    texts = [None if choice is None else of[at].choices[choice] for at, choice in picked]
    return chosen.with_columns(
        choice=pl.Series(texts, dtype=pl.String), right=pl.Series(right, dtype=pl.Boolean)
    )


def _beside(anchors: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    own = columns.with_columns(pl.col("anchor").cast(pl.UInt32))
    return anchors.join(own, left_on="at", right_on="anchor", how="left", maintain_order="left")


def _prefixed(way: str) -> pl.Expr:
    import polars as pl

    return pl.exclude("anchor").name.prefix(f"{way}_")


def questions(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the score of every answer word in every background prompt."""
    return TABLES["questions"].frame(_scored(scores))


def verifications(of: Sequence[Anchor], scores: pl.DataFrame) -> pl.DataFrame:
    """Return the score of every answer word in the prompts about every choice."""
    return TABLES["verifications"].frame(_named(of, _scored(scores)))


def choices(of: Sequence[Anchor], scores: pl.DataFrame | None) -> pl.DataFrame:
    """Return the log-probability of every choice in every prompt variant."""
    import polars as pl

    if scores is None:
        return TABLES["choices"].frame([])
    table = scores.rename({"score": "logprob"})
    table = table.with_columns(per_byte=pl.col("logprob") / pl.col("bytes"))
    return TABLES["choices"].frame(_named(of, table))


def _named(of: Sequence[Anchor], scores: pl.DataFrame) -> pl.DataFrame:
    """Replace the indices of anchor questions and of choices by ids and texts."""
    import polars as pl

    texts = [
        (at, c, one.id, text) for at, one in enumerate(of) for c, text in enumerate(one.choices)
    ]
    names = pl.DataFrame(texts, ["anchor", "choice", "id", "name"], orient="row")
    named = scores.join(names, on=["anchor", "choice"], how="left", maintain_order="left")
    return named.drop("anchor", "choice").rename({"id": "anchor", "name": "choice"})


def _scored(scores: pl.DataFrame) -> pl.DataFrame:
    """Return scores of answer words as log-probabilities or votes."""
    import polars as pl

    if "unparsed" not in scores.columns:
        return scores.rename({"score": "logprob"})
    prompt = [name for name in ("question", "anchor", "choice") if name in scores.columns]
    votes = pl.col("score")
    share = votes / votes.sum().over(*prompt, "meta", "named")
    return scores.with_columns(votes=votes.cast(pl.Int64), share=share)
