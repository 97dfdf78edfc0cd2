"""Answers to yes/no questions and to anchor questions, as queries over the scores of a run.

A frame of scores has a row per question, meta-prompt and answer: ``score`` (a log-probability, or a
number of votes; null if missing) and ``most`` (the highest value that it can have).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

Preset = Literal["max", "single", "count", "calibrated", "votes"]


@dataclass(frozen=True)
class Method:
    """A method of answering yes/no questions; ``votes`` is ``max`` for sampled replies."""

    preset: Preset = "max"
    meta: int | None = None
    pair: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        wanted = self.preset == "single"
        if (self.meta is not None) != wanted or (self.pair is not None) != wanted:
            raise RequestError(
                "the answering method single requires a meta-prompt (--meta) and a label pair "
                "(--pair); other methods accept neither"
            )

    def of_replies(self) -> Method:
        """Return the method for sampled replies."""
        return replace(self, preset="votes") if self.preset == "max" else self

    @property
    def label(self) -> str | None:
        """The pair as text, such as ``Yes/No``."""
        return None if self.pair is None else "/".join(self.pair)

    def inputs(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the scores that the method uses."""
        if self.preset != "single":
            return scores
        return scores.filter(meta=self.meta, pair=self.label)


@dataclass(frozen=True)
class ModelAnswers:
    """Answers by background question, the tables ``facts``, ``links`` and ``anchors``, and choices.

    ``background`` is from ``yes_or_no``, ``choices`` from ``features.by_choice``.
    """

    background: pl.DataFrame
    facts: pl.DataFrame
    links: pl.DataFrame
    anchors: pl.DataFrame
    choices: pl.DataFrame


def labelled(scores: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return scores of answer words with the ``pair`` of each word and whether it is ``positive``.

    ``named`` is the pair that the prompt names. A prompt without a parsed reply has no votes.
    """
    import polars as pl

    words = [
        {"word": word, "pair": "/".join(pair), "positive": at == 0}
        for pair in pairs
        for at, word in enumerate(pair)
    ]
    prompt = scores.columns[: scores.columns.index("answer")]
    if "unparsed" in scores.columns:
        voted = pl.col("score").sum().over(prompt) > 0
        scores = scores.with_columns(pl.when(voted).then("score"), most=pl.lit(None, pl.Float64))
    table = scores.rename({"pair": "named", "answer": "word"})
    return table.join(pl.DataFrame(words), on="word", how="left", maintain_order="left")


def scores_of_choices(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of anchor questions by the index of the ``choice``, with its ``bytes``."""
    import polars as pl

    prompt = ("anchor", "meta", "pair")
    return scores.rename({"answer": "text"}).with_columns(
        choice=pl.int_range(pl.len(), dtype=pl.Int64).over(prompt),
        bytes=pl.col("text").str.len_bytes().cast(pl.Int64),
    )


def yes_or_no(
    scores: pl.DataFrame, how: Method, key: Sequence[str] = ("question",)
) -> pl.DataFrame:
    """Answer yes/no questions: ``yes`` (null if unknown), ``margin``, ``tied``, and who decided.

    The margin of an answer is null if a missing score could change it. ``meta``, ``pair`` and
    ``word`` are the prompt and the word of the highest score, where a single one decides.
    """
    import polars as pl

    scores = how.inputs(scores)
    if how.preset == "votes":
        return _by_votes(scores, key)
    if "unparsed" in scores.columns:  # a pair that no reply names does not decide
        pair = pl.col("score").sum().over(*key, "meta", "pair")
        scores = scores.with_columns(pl.when(pair > 0).then("score"))
    if how.preset == "count":
        return _by_count(scores, key)
    return _by_best(calibrated(scores) if how.preset == "calibrated" else scores, key)


def calibrated(scores: pl.DataFrame) -> pl.DataFrame:
    """Subtract from each score the mean of its meta-prompt and word over all questions.

    The first score is subtracted before the mean, so that equal scores stay equal. A mean without a
    score that could be anything is unknown.
    """
    import polars as pl

    of, score = ("meta", "word"), pl.col("score")
    beyond = score - score.drop_nulls().first().over(of)
    unknown = (score.is_null() & (pl.col("most").fill_null(-math.inf) > -math.inf)).any().over(of)
    return scores.with_columns(
        score=pl.when(~unknown).then(beyond - beyond.mean().over(of)),
        most=pl.when(unknown).then(math.inf).otherwise(-math.inf),
    )


def _by_best(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as the word with the highest score says."""
    import polars as pl

    score, sides = pl.col("score"), {"yes": True, "no": False}
    best, hidden, row = {}, {}, {}
    for side, positive in sides.items():
        of = pl.col("positive") == positive
        best[side] = score.filter(of).max().fill_null(-math.inf)
        hidden[f"{side}_hidden"] = pl.col("most").filter(of & score.is_null()).max()
        row[f"{side}_row"] = pl.col("row").filter(of).get(score.filter(of).arg_max())
    found = (
        scores.with_row_index("row")
        .group_by(key, maintain_order=True)
        .agg(**best, **{k: v.fill_null(-math.inf) for k, v in hidden.items()}, **row)
    )
    yes, no, may_yes, may_no = (pl.col(name) for name in (*best, *hidden))
    lower, higher = pl.min_horizontal(yes, no), pl.max_horizontal(yes, no)
    known = (
        (pl.max_horizontal(may_yes, may_no) <= higher)
        & (pl.max_horizontal(yes, may_yes) > -math.inf)
        & (pl.max_horizontal(no, may_no) > -math.inf)
    )
    loser_may = pl.when(yes > no).then(may_no).otherwise(may_yes)
    winner = pl.when(yes > no).then("yes_row").otherwise("no_row")
    found = found.select(
        *key,
        yes=pl.when(known).then(yes > no),
        margin=pl.when(known & (loser_may <= lower)).then(yes - no),
        row=pl.when(known).then(winner),
    )
    decided = scores.select("meta", "pair", "word").select(pl.all().gather(found["row"]))
    return pl.concat([_tied(found.drop("row")), decided], how="horizontal")


def _by_count(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as most pairs of a meta-prompt and two answer words say."""
    import polars as pl

    yes, no = (pl.col("score").filter(pl.col("positive") == side).first() for side in (True, False))
    contests = scores.group_by(*key, "meta", "pair", maintain_order=True).agg(lead=yes - no)
    known = pl.col("lead").count() > 0
    margin = pl.when(known).then(pl.col("lead").sign().sum())
    found = contests.group_by(key, maintain_order=True).agg(margin=margin)
    return _undecided(found.select(*key, yes=pl.col("margin") > 0, margin="margin"))


def _by_votes(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as most replies to all prompts say; the margin is a difference of shares."""
    import polars as pl

    yes, no = (pl.col("score").filter(pl.col("positive") == side).sum() for side in (True, False))
    found = scores.group_by(key, maintain_order=True).agg(
        margin=pl.when(yes + no > 0).then((yes - no) / (yes + no))
    )
    return _undecided(found.select(*key, yes=pl.col("margin") > 0, margin="margin"))


def _undecided(found: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    none = pl.lit(None, pl.String)
    return _tied(found).with_columns(meta=pl.lit(None, pl.Int64), pair=none, word=none)


def _tied(found: pl.DataFrame) -> pl.DataFrame:
    return found.with_columns(tied=(found["margin"] == 0).fill_null(value=False))


def values_of_choices(scores: pl.DataFrame) -> pl.DataFrame:
    """Return each choice's ``value``: its highest score per byte over all prompt variants.

    The value is null if a missing score could exceed it. ``meta`` and ``pair`` say whose it is.
    """
    import polars as pl

    per_byte = scores.with_columns(pl.col("score", "most") / pl.col("bytes"))
    score = pl.col("score")
    hidden = pl.col("most").filter(score.is_null()).max().fill_null(-math.inf)
    at = score.arg_max()
    return per_byte.group_by("anchor", "choice", maintain_order=True).agg(
        value=pl.when(hidden <= score.max()).then(score.max()),
        meta=pl.col("meta").get(at),
        pair=pl.col("pair").get(at),
    )


def anchor_values(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the ``value`` by which the choices of anchor questions are compared."""
    if "word" not in scores.columns:
        return values_of_choices(scores)
    how = Method().of_replies() if "unparsed" in scores.columns else Method()
    return yes_or_no(scores, how, ("anchor", "choice")).rename({"margin": "value"})


def anchor_answers(scores: pl.DataFrame) -> pl.DataFrame:
    """Answer anchor questions from the scores of their choices, or of questions about each."""
    return chosen(anchor_values(scores), sampled="unparsed" in scores.columns)


def chosen(values: pl.DataFrame, *, sampled: bool = False) -> pl.DataFrame:
    """Select the choice of the highest value: ``choice`` (null if unknown), ``margin``, ``tied``.

    Of several best choices, the first is selected; with sampled replies, none.
    """
    import polars as pl

    value = pl.col("value")
    known = value.is_not_null().all()
    at, margin = value.arg_max(), value.max() - value.top_k(2).min()
    tied = known & (margin == 0)
    answered = known & ~tied if sampled else known
    return values.group_by("anchor", maintain_order=True).agg(
        pl.when(answered).then(pl.col("choice", "meta", "pair").get(at)),
        margin=pl.when(answered).then(margin),
        tied=tied,
    )
