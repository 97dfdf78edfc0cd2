"""A model's beliefs about the statements of drawings: from scores, from votes or from a file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tacit.coherence.beliefs import read_beliefs
from tacit.english import number_of, several
from tacit.errors import DataError
from tacit.probes.parts.questions import QUESTION, belief, questions
from tacit.requests import TOO_LONG
from tacit.statistics.intervals import wilson

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
    """Return the questions with the model's scores and beliefs.

    Returns:
        The columns of the questions, and ``text``, ``logprob_true`` and ``logprob_false`` (in nats;
        null when missing), ``p_true`` = P(True)/(P(True) + P(False)) (null when missing), and
        ``filled`` (whether ``p_true`` is the value with which the template replaces missing
        beliefs). A prompt that was skipped as too long has no belief.
    """
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
    """Return each drawing's statements with the beliefs about them.

    Drawings of the same thing share the answer to a question, unless the answers have a column
    ``annotator``. With a column ``annotator``, each drawing has separate answers.
    """
    key = STATEMENT if by_drawing(answers) else QUESTION
    return statements.join(
        answers.select(*key, "p_true"), on=key, how="left", maintain_order="left"
    )


def by_drawing(answers: pl.DataFrame) -> bool:
    """Check whether the answers are separate for each drawing."""
    return "annotator" in answers.columns


def answered_summary(answers: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return summary statistics of the answers to the distinct questions.

    Args:
        answers: The columns of the questions, and ``p_true``. If beliefs can be filled in, there is
            also a column ``filled``. If the questions were asked separately for each drawing,
            a column ``annotator`` names the drawing of each answer.
        bootstrap: The bootstrap over things, for the intervals.

    Returns:
        ``by_drawing`` states whether each drawing has separate answers. If each drawing has
        separate answers, a question about two drawings is counted twice. ``questions``,
        ``missing``, ``filled`` and ``ties`` are counts. A tie is a belief of exactly one half, and
        counts as false. ``true_share`` is the paper's %True: among the questions with a belief, the
        share that the model judges true (None without beliefs). ``true_share_interval`` is the
        interval of this share.
    """
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
    """Return the median of P(true) + P(false) over the questions.

    Args:
        answers: The columns ``logprob_true`` and ``logprob_false``, in nats, with one row per
            question.

    Returns:
        The median over the questions with both log-probabilities; None if there are no such
        questions.
    """
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
    """Return the questions with the votes of the model's sampled replies.

    Returns:
        The columns of the questions, and ``text``, ``votes_true``, ``votes_false``, ``unparsed``,
        ``truncated``, ``p_true``, ``low``, ``high`` and ``filled``, which is always false.
        ``truncated`` counts the unparsed replies that were cut off while reasoning. ``p_true`` is
        the share of votes for true, and ``low`` and ``high`` are the ends of its Wilson 95 % CI.
        All three columns are null when no reply could be parsed.
    """
    import polars as pl

    true = [each.count(*template.positive) for each in votes]
    false = [each.count(*template.negative) for each in votes]
    beliefs = [wilson(yes, yes + no) for yes, no in zip(true, false, strict=True)]
    return questions.with_columns(
        pl.Series("text", [prompt.text for prompt in prompts], pl.String),
        pl.Series("votes_true", true, pl.Int64),
        pl.Series("votes_false", false, pl.Int64),
        pl.Series("unparsed", [each.unparsed for each in votes], pl.Int64),
        pl.Series("truncated", [each.truncated for each in votes], pl.Int64),
        pl.Series("p_true", [one.value for one in beliefs], pl.Float64),
        pl.Series("low", [one.low for one in beliefs], pl.Float64),
        pl.Series("high", [one.high for one in beliefs], pl.Float64),
        filled=pl.lit(value=False),
    )


log = logging.getLogger(__name__)


def answers_in(path: Path, statements: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Return the probe's questions with a file's beliefs; null for questions that the file lacks.

    Without a column ``annotator``, each row of the file states the belief about a question. Such a
    belief applies to all drawings of the thing. With a column ``annotator``, each row of the file
    states the belief about a statement of one drawing. If no two drawings differ in the belief
    about a question, the result has one row per question.

    Args:
        path: A file of beliefs with a column ``thing``, in TSV, CSV, JSONL or Parquet. Additional
            columns other than ``annotator`` are ignored.
        statements: The statements of every drawing, with the columns ``thing``, ``annotator``,
            ``subject``, ``relation`` and ``object``.
        ontology: The relations that the file may use.

    Returns:
        One row per question, with the columns ``thing``, ``subject``, ``relation``, ``object`` and
        ``p_true``. If two drawings differ in the belief about a question, the table has one row per
        statement of each drawing, with the column ``annotator`` after ``thing``.

    Raises:
        DataError: If the file is malformed, contains two different beliefs about a question (or
            about a drawing's statement), matches no question, or contains no belief. If only some
            rows match no question, a warning states their number.
    """
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
    """Return the questions with a file's beliefs in ``p_true``, joined by the key columns."""
    distinct = beliefs.select(*key, "p_true").unique(maintain_order=True)
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
        rows = several(unasked, "row matches", "rows match")
        log.warning(
            "%s: %s none of the questions and %s ignored",
            path,
            rows,
            number_of(unasked, "is", "are"),
        )
    answers = asked.join(distinct, on=key, how="left", maintain_order="left")
    if answers["p_true"].null_count() == answers.height:
        raise DataError("contains no beliefs: p_true is empty for every question", path)
    return answers
