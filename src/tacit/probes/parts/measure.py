"""From a model's answers to its beliefs about each drawing (section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.questions import QUESTION
from tacit.probes.parts.template import belief
from tacit.requests import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.parts.template import Template
    from tacit.requests import Prompt, Scores
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
    """The questions with what the model answered.

    Returns:
        The questions' columns and ``text``, ``logprob_true``, ``logprob_false`` (nats; null where
        missing), ``p_true`` = P(True)/(P(True) + P(False)), null where missing, and ``filled``:
        whether p_true stands for a missing one, as the template says; a prompt that was skipped
        as too long stays without a belief.
    """
    import polars as pl

    sides = [template.logprobs(score) for score in scores]
    found = [belief(true, false) for true, false in sides]
    # A prompt that was not asked has no belief to fill in.
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
    """Return each drawing's statements with the belief about each.

    Drawings of a thing share the answer to a question, unless the answers have a column
    ``annotator``: then each drawing has its own.
    """
    key = STATEMENT if by_drawing(answers) else QUESTION
    return statements.join(
        answers.select(*key, "p_true"), on=key, how="left", maintain_order="left"
    )


def by_drawing(answers: pl.DataFrame) -> bool:
    """Return whether each drawing has answers of its own."""
    return "annotator" in answers.columns


def answered_summary(answers: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return how the distinct questions were answered.

    Args:
        answers: The questions' columns and ``p_true``; ``filled`` where beliefs were filled in;
            ``annotator`` where each drawing has answers of its own.
        bootstrap: How intervals are made, over things.

    Returns:
        ``by_drawing`` (whether each drawing has answers of its own, so that a question that two
        drawings share counts twice), the counts ``questions``, ``missing``, ``filled`` and
        ``ties`` (a belief of one half, taken as false), ``true_share`` of the questions with a
        belief (%True; None without any), and ``true_share_interval``.
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
