"""A model's beliefs about statements, from scores, from votes or from a file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tacit.coherence.beliefs import read_beliefs
from tacit.english import several
from tacit.errors import DataError, path_text
from tacit.probes.parts.questions import QUESTION, belief, questions
from tacit.requests import TOO_LONG
from tacit.strings import Spellings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.questions import Template
    from tacit.requests import Prompt, Scores, Votes
    from tacit.statistics import Bootstrap


DRAWING = ("thing", "annotator")
STATEMENT = (*DRAWING, "subject", "relation", "object")
_EVEN = 0.5


def answered(
    questions: pl.DataFrame,
    prompts: Sequence[Prompt],
    scores: Sequence[Scores],
    template: Template,
) -> pl.DataFrame:
    """Return the questions with the model's scores and beliefs."""
    import polars as pl

    sides = [template.logprobs(score) for score in scores]
    found = [belief(true, false) for true, false in sides]
    # A prompt that was skipped has no belief to fill in.
    asked = [all(answer.missing != TOO_LONG for answer in score.answers) for score in scores]
    filled = [
        p is None and template.filled is not None and was_asked
        for p, was_asked in zip(found, asked, strict=True)
    ]
    values = [template.filled if fill else p for p, fill in zip(found, filled, strict=True)]
    return questions.with_columns(
        pl.Series("text", [prompt.text for prompt in prompts], pl.String),
        pl.Series("logprob_true", [true for true, _ in sides], pl.Float64),
        pl.Series("logprob_false", [false for _, false in sides], pl.Float64),
        pl.Series("p_true", values, pl.Float64),
        pl.Series("filled", filled, pl.Boolean),
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


def answered_summary(answers: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return summary statistics of the answers to the distinct questions."""
    import polars as pl

    p = pl.col("p_true").cast(pl.Float64)
    of_thing = answers.group_by("thing").agg(true=(p > _EVEN).sum(), known=p.count())
    share = bootstrap.ratio(of_thing["thing"], of_thing["true"], of_thing["known"])
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
    import polars as pl

    both = answers.select("logprob_true", "logprob_false").drop_nulls()
    mass = both.select(pl.sum_horizontal(pl.all().exp())).to_series().median()
    return float(mass) if isinstance(mass, int | float) else None


def voted(
    questions: pl.DataFrame,
    prompts: Sequence[Prompt],
    votes: Sequence[Votes],
    template: Template,
) -> pl.DataFrame:
    """Return the questions with the votes of the model's sampled replies."""
    import polars as pl

    true = [each.count(*template.positive) for each in votes]
    false = [each.count(*template.negative) for each in votes]
    shares = [yes / (yes + no) if yes + no else None for yes, no in zip(true, false, strict=True)]
    return questions.with_columns(
        pl.Series("text", [prompt.text for prompt in prompts], pl.String),
        pl.Series("votes_true", true, pl.Int64),
        pl.Series("votes_false", false, pl.Int64),
        pl.Series("unparsed", [each.unparsed for each in votes], pl.Int64),
        pl.Series("truncated", [each.truncated for each in votes], pl.Int64),
        pl.Series("p_true", shares, pl.Float64),
        filled=pl.lit(value=False),
    )


log = logging.getLogger(__name__)


def answers_in(path: Path, statements: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Return the probe's questions with the beliefs from a file (null if missing)."""
    import polars as pl

    beliefs = read_beliefs(path, ontology)
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
        shown = ", ".join(map(str, distinct.select(key).row(twice.arg_true()[0])))
        raise DataError(f"has two different beliefs about the same question: {shown}", path)
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
