"""A model's beliefs about statements, from scores, from votes or from a file."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tacit.coherence.beliefs import REQUIRED, read_beliefs
from tacit.coherence.ontology import Ontology
from tacit.english import several
from tacit.errors import DataError, path_text
from tacit.findings.findings import Findings
from tacit.probes.parts.questions import QUESTION, Template, questions
from tacit.requests import TOO_LONG, ZERO
from tacit.statistics import Bootstrap
from tacit.strings import Spellings

log = logging.getLogger(__name__)

DRAWING = ("thing", "annotator")
STATEMENT = (*DRAWING, "subject", "relation", "object")
_EVEN = 0.5


def ontology_of(findings: Findings) -> Ontology:
    own = findings.summary.get("ontology")
    return Ontology.of(own) if own else Ontology.load("parts")


def scored(frame: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Return the log-probabilities of true and false, and the belief, of each question.

    ``frame`` is that of ``Answers.frame`` for scores.
    """
    score = pl.when(missing=ZERO).then(-math.inf).otherwise("score")

    def side(answers: Sequence[str]) -> pl.Expr:
        mine = score.filter(pl.col("answer").is_in(answers))
        there = score.count() > 0 if template.lacking == "zero" else mine.null_count() == 0
        some = mine.filter(mine > -math.inf)
        total = some.max() + (some - some.max()).exp().sum().log()
        return pl.when(there).then(total.fill_null(-math.inf))

    margin = pl.col("logprob_true") - pl.col("logprob_false")
    # Both formulas are equal; each is exact for margins at which the other overflows.
    small = margin.exp() / (1 + margin.exp())
    belief = pl.when(margin >= 0).then(1 / (1 + (-margin).exp())).otherwise(small)
    # A prompt that was skipped has no belief to fill in.
    asked = pl.col("missing").ne_missing(pl.lit(TOO_LONG)).all()
    may_fill = asked & pl.lit(template.filled is not None)
    sides = {"logprob_true": side(template.true), "logprob_false": side(template.false)}
    return (
        frame.group_by(QUESTION, maintain_order=True)
        .agg(**sides, filled=may_fill)
        .with_columns(p_true=belief)
        .with_columns(filled=pl.col("filled") & pl.col("p_true").is_null())
        .with_columns(p_true=pl.when("filled").then(template.filled).otherwise("p_true"))
        .select(*QUESTION, *sides, "p_true", "filled")
    )


def voted(frame: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Return the votes for true and false, and the share of true, of each question."""

    def count(answers: Sequence[str]) -> pl.Expr:
        return pl.col("score").filter(pl.col("answer").is_in(answers)).sum().cast(pl.Int64)

    true, both = pl.col("votes_true"), pl.col("votes_true") + pl.col("votes_false")
    return (
        frame.group_by(QUESTION, maintain_order=True)
        .agg(
            votes_true=count(template.true),
            votes_false=count(template.false),
            unparsed=pl.col("unparsed").first(),
            truncated=pl.col("truncated").first(),
        )
        .with_columns(p_true=pl.when(both > 0).then(true / both), filled=pl.lit(value=False))
    )


def beliefs(statements: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return each drawing's statements with the beliefs about them."""
    key = STATEMENT if by_drawing(answers) else QUESTION
    return statements.join(
        answers.select(*key, "p_true"), on=key, how="left", maintain_order="left"
    )


def by_drawing(answers: pl.DataFrame) -> bool:
    """Check whether ``answers`` contains separate beliefs for each drawing."""
    return "annotator" in answers.columns


def answered_summary(answers: pl.DataFrame) -> dict[str, Any]:
    """Return summary statistics of the answers to the distinct questions."""
    p = pl.col("p_true").cast(pl.Float64)
    of_thing = answers.group_by("thing").agg(true=(p > _EVEN).sum(), known=p.count())
    share = Bootstrap().ratio(of_thing["thing"], of_thing["true"], of_thing["known"])
    return {
        "by_drawing": by_drawing(answers),
        "questions": answers.height,
        "missing": answers["p_true"].null_count(),
        "filled": int(answers["filled"].sum()) if "filled" in answers.columns else 0,
        "ties": int((answers["p_true"] == _EVEN).sum()),
        "true_share": share.value,
        "true_share_interval": share.interval,
    }


def answer_probability(answers: pl.DataFrame) -> float | None:
    """Return the median of P(true) + P(false) over the questions."""
    both = answers.select("logprob_true", "logprob_false").drop_nulls()
    mass = both.select(pl.sum_horizontal(pl.all().exp())).to_series().median()
    return float(mass) if isinstance(mass, int | float) else None


def option_probability(frame: pl.DataFrame) -> float | None:
    """Return the median probability of the options' labels, if the server states it."""
    mass = frame["label_mass"].median()
    return float(mass) if isinstance(mass, int | float) else None


def answers_in(path: Path, statements: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Return the probe's questions with the beliefs from a file (null if missing)."""
    beliefs = read_beliefs(path, ontology, required=REQUIRED).table
    if "thing" not in beliefs.columns:
        raise DataError(
            "has no column thing; expected the thing that each statement is about", path
        )
    if "annotator" not in beliefs.columns:
        return _answers(path, beliefs, questions(statements), QUESTION)
    # The annotator of a thing without drawing is "", which files store as a missing value.
    named = beliefs.with_columns(pl.col("annotator").cast(pl.String).fill_null(""))
    own = _answers(path, named, statements.select(STATEMENT), STATEMENT)
    shared = own.select(*QUESTION, "p_true").unique(maintain_order=True)
    return own if shared.select(QUESTION).is_duplicated().any() else shared


def _answers(
    path: Path, beliefs: pl.DataFrame, asked: pl.DataFrame, key: Sequence[str]
) -> pl.DataFrame:
    """Join the questions with the beliefs in a file by the key columns."""
    spelled = Spellings(text for name in key for text in asked[name].unique(maintain_order=True))
    distinct = spelled.within(beliefs, key).select(*key, "p_true").unique(maintain_order=True)
    spelled.notice(path)
    twice = distinct.select(key).is_duplicated()
    if twice.any():
        repeated = ", ".join(map(str, distinct.select(key).row(twice.arg_true()[0])))
        raise DataError(f"has two different beliefs about the same question: {repeated}", path)
    unasked = distinct.join(asked, on=key, how="anti").height
    if unasked == distinct.height:
        raise DataError(
            "matches none of the questions; write things, annotators and parts as in the drawings, "
            "in lower case",
            path,
        )
    if unasked:
        log.warning(
            "%s: ignored %s none of the questions",
            path_text(path),
            several(unasked, "row that matches", "rows that match"),
        )
    answers = asked.join(distinct, on=key, how="left", maintain_order="left")
    if answers["p_true"].null_count() == answers.height:
        raise DataError("contains no beliefs: p_true is empty for every question", path)
    return answers
