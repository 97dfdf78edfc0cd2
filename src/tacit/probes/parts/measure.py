"""From a model's answers to beliefs, contradictions, a repaired world and accuracy (section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.questions import QUESTION
from tacit.probes.parts.template import belief

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.parts.template import Template
    from tacit.prompts import LogProbs, Prompt

DRAWING = ("thing", "annotator")


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


def judged(repaired: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """The repaired beliefs with the gold label of each; null where the annotators imply none."""
    return repaired.join(
        gold, on=[*DRAWING, "subject", "relation", "object"], how="left", maintain_order="left"
    )


def accuracy(judged: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """The share of gold statements that are judged as the annotators imply.

    Args:
        judged: Beliefs with ``believed``, ``repaired``, ``p_true`` and ``label``.
        by: Columns to count by; none for all together.

    Returns:
        The columns of ``by`` and ``n`` (gold statements with a belief), ``missing`` (those
        without, left out), ``before`` and ``after`` repair (shares; null when n is 0).
    """
    import polars as pl

    known = pl.col("p_true").is_not_null()
    label = pl.col("label").filter(known)
    counts = [
        known.sum().alias("n"),
        (~known).sum().alias("missing"),
        (pl.col("believed").filter(known) == label).mean().alias("before"),
        (pl.col("repaired").filter(known) == label).mean().alias("after"),
    ]
    gold = judged.filter(pl.col("label").is_not_null())
    if not by:
        return gold.select(counts)
    return gold.group_by(by, maintain_order=True).agg(counts)


def violations(before: Mapping[str, Any], after: Mapping[str, Any]) -> pl.DataFrame:
    """Conditional violation by constraint type, before and after repair (Table 3).

    Args:
        before: ``Check.to_json()`` of the beliefs.
        after: The same of the repaired world.

    Returns:
        Columns constraint, violated_before, applicable_before, rate_before, and the same after.
        A rate is null where nothing applies. ``macro`` averages the types' rates, ``micro`` is
        all that is violated over all that applies; both have no counts of their own here.
    """
    import polars as pl

    types = ("symmetric", "asymmetric", "inverse", "transitive")
    columns: dict[str, list[Any]] = {"constraint": [*types, "macro", "micro"]}
    for when, check in (("before", before), ("after", after)):
        for count in ("violated", "applicable"):
            columns[f"{count}_{when}"] = [*(check[name][count] for name in types), None, None]
        rates = [*(check[name]["rate"] for name in types), check["macro"], check["micro"]]
        columns[f"rate_{when}"] = rates
    schema = {
        name: pl.String if name == "constraint" else pl.Float64 if name[:4] == "rate" else pl.Int64
        for name in columns
    }
    return pl.DataFrame(columns, schema=schema)
