"""Rankings as tables: ranks of concepts and of people's responses, and the best candidates.

A word has no rank and no log-probability if the tokenizer cannot encode it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import polars as pl

from tacit.probes.assumptions import MAIN, TABLES
from tacit.probes.base import Answers, Requests
from tacit.requests import RankingPrompt


@cache
def chance_mrr(candidates: int) -> float:
    """Return the expected reciprocal rank of a target whose rank is uniformly random."""
    return sum(1 / rank for rank in range(candidates, 0, -1)) / candidates


def chance_precision(responses: int, candidates: int) -> float:
    """Return the expected average precision of a uniformly random ranking."""
    alone = chance_mrr(candidates)
    return alone if responses == 1 else alone + (responses - 1) / (candidates - 1) * (1 - alone)


def retrieval(answers: Answers) -> pl.DataFrame:
    """Return the rank of the correct concept in each retrieval prompt."""
    whole = _rankings(answers, "retrieval")
    keys = answers.groups["retrieval"].keys.columns
    own = _targets(answers, "retrieval").filter(pl.col("answer") == pl.col("word"))
    joined = whole.join(own, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return TABLES["retrieval"].frame(
        joined.with_columns(logprob="score", renormalised=pl.col("score") - pl.col("normaliser"))
    )


def retrieval_top(answers: Answers) -> pl.DataFrame:
    """Return the best candidates of the prompts of Figure 2 of Weir et al. (2020)."""
    best = _best(answers, "retrieval").filter(pl.col("category").is_null(), order=MAIN)
    return TABLES["retrieval_top"].frame(
        best.with_columns(renormalised=pl.col("logprob") - pl.col("normaliser"))
    )


_PROMPT = ["relation", "preface", "over", "concept"]


def elicitation(answers: Answers, responses: pl.DataFrame) -> pl.DataFrame:
    """Return the rank of each response's most probable spelling, among all other words.

    ``responses`` has the columns ``relation``, ``concept``, ``word``, ``frequency`` and
    ``spellings``. The less probable spellings of responses are no candidates.
    """
    targets = _targets(answers, "elicitation").select(
        *_PROMPT, "rank", spelling="answer", logprob="score", target=pl.int_range(pl.len())
    )
    prompts = answers.groups["elicitation"].keys.select(_PROMPT)
    given = prompts.join(responses, on=["relation", "concept"], maintain_order="left_right")
    given = given.with_row_index("response")
    best = (
        given.select("response", *_PROMPT, spelling="spellings")
        .explode("spelling")
        .join(targets, on=[*_PROMPT, "spelling"])
        .sort("logprob", "target", descending=[True, False], nulls_last=True)
        .unique("response", keep="first", maintain_order=True)
    )
    others = targets.join(best, on="target", how="anti").drop_nulls("logprob")
    above = (
        best.join(others.select(*_PROMPT, other="logprob"), on=_PROMPT)
        .filter(pl.col("other") >= pl.col("logprob"))
        .group_by("response")
        .agg(above=pl.len())
    )
    ranks = best.join(above, on="response", how="left").select(
        "response", "spelling", "logprob", rank=pl.col("rank") - pl.col("above").fill_null(0)
    )
    beside = others.group_by(_PROMPT).agg(beside=pl.len())
    whole = _rankings(answers, "elicitation")
    table = given.join(ranks, on="response", how="left", maintain_order="left")
    for more in (whole, beside):
        table = table.join(more, on=_PROMPT, how="left", maintain_order="left")
    ranked = pl.col("candidates") - pl.col("beside").fill_null(0)
    return TABLES["elicitation"].frame(table.with_columns(candidates=ranked))


def elicitation_top(answers: Answers) -> pl.DataFrame:
    """Return the best candidates of each elicitation prompt, by decreasing probability."""
    return TABLES["elicitation_top"].frame(_best(answers, "elicitation"))


def prince(answers: Answers, meant: pl.DataFrame) -> pl.DataFrame:
    """Return the best candidates for Ellen Prince's examples, and her other words.

    ``meant`` has a row per word that she gives, in ``word``.
    """
    prompt = ["concept", "part"]
    best = _best(answers, "prince")
    others = answers.frame("prince").rename({"answer": "word", "rank": "place", "score": "logprob"})
    rest = others.join(best, on=[*prompt, "word"], how="anti")
    table = pl.concat([best, rest], how="diagonal_relaxed")
    order = answers.groups["prince"].keys.with_row_index("at").select(*prompt, "at")
    table = (
        table.join(order, on=prompt, maintain_order="left")
        .sort("at", maintain_order=True)
        .join(
            meant.with_columns(target=True),
            on=[*prompt, "word"],
            how="left",
            maintain_order="left",
        )
    )
    return TABLES["prince"].frame(table.with_columns(pl.col("target").fill_null(value=False)))


def questions(requests: Mapping[str, Requests], answers: Answers) -> pl.DataFrame:
    """Return a row per text and vocabulary that were ranked."""
    distinct = {
        (prompt.text, prompt.vocabulary.digest): (prompt, ranking)
        for name, group in requests.items()
        for prompt, ranking in zip(group.requests, answers.groups[name].answers, strict=True)
        if isinstance(prompt, RankingPrompt)
    }
    return TABLES["questions"].frame(
        {
            "text": prompt.text,
            "words": len(prompt.vocabulary),
            "normaliser": ranking.normaliser,
            "several": ranking.several,
            "missing": ranking.missing,
            "top": [{"word": word, "logprob": logprob} for word, logprob in ranking.top],
        }
        for prompt, ranking in distinct.values()
    )


def digests(answers: Answers) -> dict[str, dict[str, str | None]]:
    """Return the digest of each set of candidates; None if some of them have no score.

    Sets are named by ``retrieval`` and the wording, or by the candidates and the relation of
    elicitation.
    """
    by_name: dict[str, dict[str, str | None]] = {}
    for group, of, name in (
        ("retrieval", pl.lit("retrieval"), "wording"),
        ("elicitation", pl.col("over"), "relation"),
    ):
        # Of a prompt without a ranking, no candidate is known to have no score.
        lacking = pl.col("missing").filter(pl.col("normaliser").is_not_null()) > 0
        sets = _rankings(answers, group).group_by(of.alias("of"), name, maintain_order=True)
        digest = pl.when(~lacking.any()).then(pl.col("digest").first())
        for key, last, one in sets.agg(digest).iter_rows():
            by_name.setdefault(key, {})[last] = one
    return by_name


def _rankings(answers: Answers, group: str) -> pl.DataFrame:
    """Return the keys of each ranking, its normaliser, and the number of ranked candidates."""
    answered = answers.groups[group]
    missing = pl.Series([each.missing for each in answered.answers], dtype=pl.Int64)
    return answered.keys.with_columns(
        normaliser=pl.Series([each.normaliser for each in answered.answers], dtype=pl.Float64),
        missing=missing,
        candidates=pl.col("words") - missing,
    )


def _targets(answers: Answers, group: str) -> pl.DataFrame:
    """Return the answers to a group of ranking prompts; an empty group has the same columns."""
    targets = answers.frame(group)
    lacking = {"rank", "tokens"}.difference(targets.columns)
    return targets.with_columns(pl.lit(None, pl.Int64).alias(name) for name in lacking)


def _best(answers: Answers, group: str) -> pl.DataFrame:
    """Return the keys and the normaliser of each ranking with each of its best candidates."""
    ranked: Any = answers.groups[group].answers
    rows = [
        (at, number, word, logprob, ranking.normaliser)
        for at, ranking in enumerate(ranked)
        for number, (word, logprob) in enumerate(ranking.top, 1)
    ]
    names = {"at": pl.Int64, "place": pl.Int64, "word": pl.String}
    schema = {**names, "logprob": pl.Float64, "normaliser": pl.Float64}
    best = pl.DataFrame(rows, schema, orient="row")
    return answers.groups[group].keys[best["at"]].with_columns(best.drop("at").get_columns())
