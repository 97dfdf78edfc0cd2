"""From a model's answers to its beliefs about each drawing (section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.questions import QUESTION
from tacit.probes.parts.template import belief

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.parts.template import Template
    from tacit.prompts import LogProbs, Prompt
    from tacit.statistics import Bootstrap

DRAWING = ("thing", "annotator")
STATEMENT = (*DRAWING, "subject", "relation", "object")
_EVEN = 0.5


def answered(
    questions: pl.DataFrame,
    prompts: Sequence[Prompt],
    scores: Sequence[LogProbs],
    template: Template,
) -> pl.DataFrame:
    """The questions with what the model answered.

    Returns:
        The questions' columns and ``text``, ``logprob_true``, ``logprob_false`` (nats; null where
        missing), ``p_true`` = P(True)/(P(True) + P(False)), null where missing, and ``filled``:
        whether p_true stands for a missing one, as the template says.
    """
    import polars as pl

    sides = [template.logprobs(score) for score in scores]
    found = [belief(true, false) for true, false in sides]
    filled = [p is None and template.filled is not None for p in found]
    return questions.with_columns(
        pl.Series("text", [prompt.text for prompt in prompts], pl.String),
        pl.Series("logprob_true", [true for true, _ in sides], pl.Float64),
        pl.Series("logprob_false", [false for _, false in sides], pl.Float64),
        pl.Series("p_true", [template.filled if p is None else p for p in found], pl.Float64),
        pl.Series("filled", filled, pl.Boolean),
    )


def beliefs(statements: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Each drawing's statements with the belief about each."""
    return statements.join(
        answers.select(*QUESTION, "p_true"), on=QUESTION, how="left", maintain_order="left"
    )


def answered_summary(answers: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """How the distinct questions were answered.

    Args:
        answers: The questions' columns and ``p_true``; ``filled`` where beliefs were filled in.
        bootstrap: How intervals are made, over things.

    Returns:
        The counts ``questions``, ``missing``, ``filled`` and ``ties`` (a belief of one half, taken
        as false), ``true_share`` of the questions with a belief (%True; None without any), and
        ``true_share_interval``.
    """
    import polars as pl

    p = pl.col("p_true").cast(pl.Float64)
    of_thing = answers.group_by("thing").agg(true=(p > _EVEN).sum(), known=p.count())
    share = bootstrap.ratio(of_thing["thing"], of_thing["true"], of_thing["known"])
    return {
        "questions": answers.height,
        "missing": answers["p_true"].null_count(),
        "filled": int(answers["filled"].sum()) if "filled" in answers.columns else 0,
        "ties": int((answers["p_true"] == _EVEN).sum()),
        "true_share": share.value,
        "true_share_interval": share.interval,
    }
