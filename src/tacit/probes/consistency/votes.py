"""Vote shares of sampled replies, with confidence intervals.

Replies that cannot be parsed are counted separately and support no answer. Replies to several
prompts are treated as draws of one share. If the prompts' true shares differ, these draws vary
less, so Wilson's interval is conservative (rather too wide than too narrow).
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
    """Replies to background questions that could not be parsed; shape (questions, variants).

    Args:
        unparsed: Number of replies that could not be parsed.
        truncated: How many of these were cut off while the model was reasoning.
    """

    unparsed: Ints
    truncated: Ints

    @classmethod
    def of(cls, votes: Sequence[Votes], variants: int) -> Unread:
        """Count the replies that could not be parsed.

        Args:
            votes: For each question in turn, the votes on its prompt variants in order.
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
    """Compute each background question's share of positive replies.

    Args:
        votes: Shape (questions, inputs); NaN if no reply to a prompt variant could be parsed.
        unread: The counts of replies that could not be parsed.
        inputs: The inputs of the columns of ``votes``.
        positive: The inputs that count as positive answers.
        negative: The inputs that count as negative answers.

    Returns:
        One row per question: ``share`` of positive answers with ``low`` and ``high`` (Wilson's 95 %
        interval), null if no reply could be parsed; ``unparsed`` and, of these, ``truncated``
        replies to the prompt variants that count.
    """
    counts = np.nan_to_num(votes)
    yes, no = (counts[:, side].sum(axis=1) for side in (positive, negative))
    variants = sorted({inputs.variants[at] for at in (*positive, *negative)})
    unreadable = (each[:, variants].sum(axis=1) for each in (unread.unparsed, unread.truncated))
    return _vote_table(yes, yes + no, *unreadable)


def of_inputs(votes: Floats, unread: Unread, inputs: Inputs) -> pl.DataFrame:
    """Compute each answer word's share of the replies to its prompt.

    Returns:
        One row per question and input, with the columns of ``of_questions``.
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
