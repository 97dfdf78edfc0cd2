"""From a model's sampled replies to its beliefs: the share of true among those that could be read.

A question to which no reply could be read has no belief, whatever the template puts in the place of
missing ones: nothing is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.statistics.shares import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.parts.template import Template
    from tacit.requests import Prompt, Votes


def voted(
    questions: pl.DataFrame,
    prompts: Sequence[Prompt],
    votes: Sequence[Votes],
    template: Template,
) -> pl.DataFrame:
    """The questions with what the model replied.

    Returns:
        The questions' columns and ``text``, ``votes_true``, ``votes_false``, ``unparsed``,
        ``truncated`` (of the unparsed, those cut while thinking), ``p_true`` with ``low`` and
        ``high`` (Wilson's 95 % interval), all three null where no reply could be read, and
        ``filled``, which is false.
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
