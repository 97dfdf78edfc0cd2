"""Compute vote shares of sampled replies, with confidence intervals.

Replies that cannot be parsed are counted separately and do not count as votes. Wilson's interval
assumes that all replies are independent and that an answer has the same probability in all prompts.
If the probability of an answer differs between prompts, the vote share varies less than Wilson's
interval assumes, so the interval is not too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.statistics.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.prompt_variants import Floats, Inputs, Ints
    from tacit.requests import Votes


COLUMNS = ("share", "low", "high", "unparsed", "truncated")


@dataclass(frozen=True)
class Unread:
    """Numbers of unparsed replies to background questions, shape (questions, variants).

    Args:
        unparsed: Number of replies that could not be parsed.
        truncated: Number of unparsed replies that ended before the model had finished its
            reasoning.
    """

    unparsed: Ints
    truncated: Ints

    @classmethod
    def of(cls, votes: Sequence[Votes], variants: int) -> Unread:
        """Count the replies that could not be parsed.

        Args:
            votes: The vote counts for each prompt, sorted by question and then by prompt variant.
            variants: The number of prompt variants.
        """
        unparsed, truncated = (
            np.array([getattr(each, name) for each in votes], dtype=np.int64).reshape(-1, variants)
            for name in ("unparsed", "truncated")
        )
        return cls(unparsed, truncated)


def of_questions(
    votes: Floats, unread: Unread, inputs: Inputs, positive: Ints, negative: Ints
) -> pl.DataFrame:
    """Compute the share of positive replies to each background question.

    Args:
        votes: Vote counts of the inputs (each a prompt variant with one answer word), shape
            (questions, inputs). If none of the replies to a prompt could be parsed, all vote counts
            of the prompt are NaN.
        unread: For each background question and prompt variant, the number of unparsed replies and
            the number of truncated replies.
        inputs: The inputs to which the columns of ``votes`` belong, in the order of the columns.
        positive: The indices of the inputs whose answer word is positive.
        negative: The indices of the inputs whose answer word is negative.

    Returns:
        Table with one row per question and the columns ``share``, ``low``, ``high``, ``unparsed``
        and ``truncated``. ``share`` is the number of positive replies divided by the number of
        parsed replies. ``low`` and ``high`` are the ends of Wilson's 95 % interval of ``share``.
        ``share``, ``low`` and ``high`` are null if none of the replies could be parsed.
        ``unparsed`` and ``truncated`` include only replies to prompt variants with a positive or a
        negative answer word, such as "Yes" or "No".
    """
    counts = np.nan_to_num(votes)
    yes, no = (counts[:, side].sum(axis=1) for side in (positive, negative))
    variants = sorted({inputs.variants[at] for at in (*positive, *negative)})
    unreadable = (each[:, variants].sum(axis=1) for each in (unread.unparsed, unread.truncated))
    return _vote_table(yes, yes + no, *unreadable)


def of_inputs(votes: Floats, unread: Unread, inputs: Inputs) -> pl.DataFrame:
    """Compute the share of each answer word among the parsed replies to each prompt.

    Returns:
        Table with one row per combination of question and input (prompt variant with one answer
        word). The table has the same columns as the result of ``of_questions``.
    """
    variants = np.array(inputs.variants)
    counts = np.nan_to_num(votes)
    parsed = np.zeros(unread.unparsed.shape)
    np.add.at(parsed.T, variants, counts.T)
    unreadable = (each[:, variants].ravel() for each in (unread.unparsed, unread.truncated))
    return _vote_table(counts.ravel(), parsed[:, variants].ravel(), *unreadable)


def _vote_table(yes: Floats, of: Floats, unparsed: Ints, truncated: Ints) -> pl.DataFrame:
    import polars as pl

    pairs = list(zip(yes.astype(int).tolist(), of.astype(int).tolist(), strict=True))
    shares = {pair: wilson(*pair) for pair in set(pairs)}
    ends = [(shares[pair].value, shares[pair].low, shares[pair].high) for pair in pairs]
    table = pl.DataFrame(ends, dict.fromkeys(COLUMNS[:3], pl.Float64), orient="row")
    return table.with_columns(
        pl.Series("unparsed", unparsed, pl.Int64), pl.Series("truncated", truncated, pl.Int64)
    )
