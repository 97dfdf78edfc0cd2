"""Answers to yes/no questions and to anchor questions, as queries over the scores of a run.

A frame of scores has a row per question, meta-prompt and answer: ``score`` (a log-probability, or a
number of votes; null if missing) and ``most`` (the highest value that it can have).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.options import Method
from tacit.probes.consistency.questions import BY_CHOICE, CHOICE, VERIFY


@dataclass(frozen=True)
class ModelAnswers:
    """The tables ``facts``, ``links``, ``fact_answers`` and ``anchors`` of a run, and the choices.

    ``choices`` is from ``features.by_choice``; ``others`` is the table ``other_answers``.
    """

    facts: pl.DataFrame
    links: pl.DataFrame
    fact_answers: pl.DataFrame
    anchors: pl.DataFrame
    choices: pl.DataFrame
    others: pl.DataFrame | None = None

    @cached_property
    def answers_by_anchor(self) -> pl.DataFrame:
        return self.links.join(self.fact_answers, on="fact", maintain_order="left")


def is_sampled(scores: pl.DataFrame) -> bool:
    return "unparsed" in scores.columns


def labelled(scores: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return scores of answer words with the ``pair`` of each word and whether it is ``positive``.

    ``named`` is the pair that the prompt names. A prompt without a parsed reply has no votes.
    """
    words = [
        {"word": word, "pair": "/".join(pair), "positive": at == 0}
        for pair in pairs
        for at, word in enumerate(pair)
    ]
    prompt = scores.columns[: scores.columns.index("answer")]
    if is_sampled(scores):
        voted = pl.col("score").sum().over(prompt) > 0
        scores = scores.with_columns(pl.when(voted).then("score"), most=pl.lit(None, pl.Float64))
    table = scores.rename({"pair": "named", "answer": "word"})
    return table.join(pl.DataFrame(words), on="word", how="left", maintain_order="left")


def yes_or_no(
    scores: pl.DataFrame, how: Method, key: Sequence[str] = ("question",)
) -> pl.DataFrame:
    """Answer yes/no questions: ``yes`` (null if unknown), ``margin``, ``tied``, and who decided.

    The margin of an answer is null if a missing score could change it. ``meta``, ``pair`` and
    ``word`` are the prompt and the word of the highest score, where a single one decides.
    """
    scores = _asked(scores, how)
    if how.preset == "votes":
        return _by_votes(scores, key)
    if is_sampled(scores):  # a pair that no reply names does not decide
        pair = pl.col("score").sum().over(*key, "meta", "pair")
        scores = scores.with_columns(pl.when(pair > 0).then("score"))
    if how.preset == "count":
        return _by_count(scores, key)
    return _by_best(calibrated(scores) if how.preset == "calibrated" else scores, key)


def _asked(scores: pl.DataFrame, how: Method) -> pl.DataFrame:
    return scores.filter(meta=how.meta, pair=how.pair) if how.preset == "single" else scores


def calibrated(scores: pl.DataFrame) -> pl.DataFrame:
    """Subtract from each score the mean of its meta-prompt and word over all questions.

    The first score is subtracted before the mean, so that equal scores stay equal. A mean without a
    score that could be anything is unknown.
    """
    of, score = ("meta", "word"), pl.col("score")
    beyond = score - score.drop_nulls().first().over(of)
    unknown = (score.is_null() & (pl.col("most").fill_null(-math.inf) > -math.inf)).any().over(of)
    return scores.with_columns(
        score=pl.when(~unknown).then(beyond - beyond.mean().over(of)),
        most=pl.when(unknown).then(math.inf).otherwise(-math.inf),
    )


def _by_best(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as the word with the highest score says."""
    score = pl.col("score")
    parts: dict[str, pl.Expr] = {}
    for side, positive in (("yes", True), ("no", False)):
        of = pl.col("positive") == positive
        unseen = pl.col("most").filter(of & score.is_null())
        parts |= {
            side: score.filter(of).max().fill_null(-math.inf),
            f"may_{side}": unseen.max().fill_null(-math.inf),
            f"{side}_row": pl.col("row").filter(of).get(score.filter(of).arg_max()),
        }
    best = scores.with_row_index("row").group_by(key, maintain_order=True).agg(**parts)
    yes, no, may_yes, may_no = map(pl.col, ("yes", "no", "may_yes", "may_no"))
    lower, higher = pl.min_horizontal(yes, no), pl.max_horizontal(yes, no)
    known = (
        (pl.max_horizontal(may_yes, may_no) <= higher)
        & (pl.max_horizontal(yes, may_yes) > -math.inf)
        & (pl.max_horizontal(no, may_no) > -math.inf)
    )
    loser_may = pl.when(yes > no).then(may_no).otherwise(may_yes)
    winner = pl.when(yes > no).then("yes_row").otherwise("no_row")
    best = best.select(
        *key,
        yes=pl.when(known).then(yes > no),
        margin=pl.when(known & (loser_may <= lower)).then(yes - no),
        row=pl.when(known).then(winner),
    )
    decided = scores.select("meta", "pair", "word").select(pl.all().gather(best["row"]))
    return pl.concat([_tied(best.drop("row")), decided], how="horizontal")


def _by_count(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as most pairs of a meta-prompt and two answer words say."""
    yes, no = (pl.col("score").filter(pl.col("positive") == side).first() for side in (True, False))
    contests = scores.group_by(*key, "meta", "pair", maintain_order=True).agg(lead=yes - no)
    known = pl.col("lead").count() > 0
    return _together(contests, key, pl.when(known).then(pl.col("lead").sign().sum()))


def _by_votes(scores: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Answer as most replies to all prompts say; the margin is a difference of shares."""
    yes, no = (pl.col("score").filter(pl.col("positive") == side).sum() for side in (True, False))
    return _together(scores, key, pl.when(yes + no > 0).then((yes - no) / (yes + no)))


def _together(rows: pl.DataFrame, key: Sequence[str], margin: pl.Expr) -> pl.DataFrame:
    """Answer by a margin to which all prompts contribute, so that no single one decides."""
    margins = rows.group_by(key, maintain_order=True).agg(margin=margin)
    none = pl.lit(None, pl.String)
    return _tied(margins.select(*key, yes=pl.col("margin") > 0, margin="margin")).with_columns(
        meta=pl.lit(None, pl.Int64), pair=none, word=none
    )


def _tied(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.with_columns(tied=(answers["margin"] == 0).fill_null(value=False))


def scores_of_choices(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of choices as answers to anchor questions, and what to divide them by.

    Choices that were scored as texts are compared by byte (``bytes``), options as they are.
    """
    size = pl.col("choice").str.len_bytes().cast(pl.Int64)
    unit = pl.lit(1) if "label_mass" in scores.columns else size
    return scores.rename({"answer": "choice"}).with_columns(bytes=size, unit=unit)


def values_of_choices(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the ``value`` of each ``choice``, by which those of an ``anchor`` are compared.

    Of choices that were scored as answers, it is the highest score per byte (of options: the
    highest score) over all prompt variants; null if a missing score could exceed it. Else it is
    the margin of the answer to the question whether the choice is the answer. ``meta`` and ``pair``
    say whose it is.
    """
    if "word" in scores.columns:
        how = Method().of_replies() if is_sampled(scores) else Method()
        return yes_or_no(scores, how, BY_CHOICE).rename({"margin": "value"})
    per_byte = scores.with_columns(pl.col("score", "most") / pl.col("unit"))
    score = pl.col("score")
    hidden = pl.col("most").filter(score.is_null()).max().fill_null(-math.inf)
    at = score.arg_max()
    return per_byte.group_by(BY_CHOICE, maintain_order=True).agg(
        value=pl.when(hidden <= score.max()).then(score.max()),
        meta=pl.col("meta").get(at),
        pair=pl.col("pair").get(at),
    )


def anchor_answers(scores: pl.DataFrame) -> pl.DataFrame:
    """Answer anchor questions by the ``choice`` of the highest value (null if unknown).

    Of several best choices (``tied``), the first is the answer; with sampled replies, none.
    """
    value = pl.col("value")
    known = value.is_not_null().all()
    at, margin = value.arg_max(), value.max() - value.top_k(2).min()
    tied = known & (margin == 0)
    answered = known & ~tied if is_sampled(scores) else known
    return (
        values_of_choices(scores)
        .group_by("anchor", maintain_order=True)
        .agg(
            pl.when(answered).then(pl.col("choice", "meta", "pair").get(at)),
            margin=pl.when(answered).then(margin),
            tied=tied,
        )
    )


def answers_about_facts(asked: pl.DataFrame, scores: pl.DataFrame, how: Method) -> pl.DataFrame:
    """Answer the questions about facts and negatives: the table ``fact_answers``."""
    sampled = is_sampled(scores)
    how = how.of_replies() if sampled else how
    answers = yes_or_no(scores, how)
    if sampled:
        answers = answers.join(_votes(_asked(scores, how)), on="question", maintain_order="left")
    table = asked.join(answers, on="question", how="left", maintain_order="left")
    right = pl.col("yes") == (pl.col("expected") == "yes")
    return TABLES["fact_answers"].frame(table, right=right)


def _votes(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the share of “yes” among the parsed replies, and the numbers of unparsed replies."""
    score = pl.col("score")
    yes, parsed = score.filter(pl.col("positive")).sum(), score.sum()
    share = scores.group_by("question").agg(share=pl.when(parsed > 0).then(yes / parsed))
    prompts = scores.unique(["question", "meta", "named"])
    unread = prompts.group_by("question").agg(pl.col("unparsed", "truncated").sum())
    return share.join(unread, on="question")


def anchors_with_answers(
    asked: pl.DataFrame, background: pl.DataFrame, answers: Mapping[str, pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return the tables ``anchors`` and ``other_answers``; answers are by method of answering.

    Results come from the answers by the first method; those by the others have a table of their
    own, if there are any.
    """
    solutions = asked.select("anchor", "answer")
    first, *others = (
        solutions.join(chosen, on="anchor", how="left", maintain_order="left")
        .with_columns(method=pl.lit(method), right=pl.col("choice") == pl.col("answer"))
        .drop("answer")
        for method, chosen in answers.items()
    )
    table = asked.join(background, on="anchor", how="left", maintain_order="left")
    table = table.with_columns(pl.col("facts", "positives", "negatives").fill_null(0))
    table = TABLES["anchors"].frame(table.join(first, on="anchor", maintain_order="left"))
    return table, TABLES["other_answers"].frame(pl.concat(others)) if others else None


def scored_words(scores: pl.DataFrame, *key: str) -> pl.DataFrame:
    """Return scores of answer words as log-probabilities, or as votes with their shares."""
    if not is_sampled(scores):
        return scores.rename({"score": "logprob"})
    votes = pl.col("score")
    share = votes / votes.sum().over(*key, "meta", "named")
    return scores.with_columns(votes=votes.cast(pl.Int64), share=share)


def score_tables(scores: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return the scores of choices, and those of answer words about choices, if there are any."""
    choices = TABLES["choices"].frame([])
    if CHOICE in scores:
        given = scores[CHOICE].rename({"score": "logprob"})
        choices = TABLES["choices"].frame(given, per_byte=pl.col("logprob") / pl.col("unit"))
    tables = {"choices": choices}
    if VERIFY in scores:
        given = scored_words(scores[VERIFY], *BY_CHOICE)
        tables["verifications"] = TABLES["verifications"].frame(given)
    return tables
