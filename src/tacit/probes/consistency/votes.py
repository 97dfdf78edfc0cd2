"""Compute vote shares of sampled replies, with confidence intervals.

Replies that cannot be parsed are counted separately, and are not votes for any answer. Replies to
several prompts are treated as independent draws with a common probability of each answer. If the
probability of an answer differs between prompts, the vote share varies less than Wilson's interval
assumes, so the interval is conservative (too wide rather than too narrow).
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
    """Counts of unparsed replies to background questions, shape (questions, variants).

    Args:
        unparsed: Number of replies that could not be parsed.
        truncated: Number of unparsed replies that were cut off while the model was reasoning.
    """

    unparsed: Ints
    truncated: Ints

    @classmethod
    def of(cls, votes: Sequence[Votes], variants: int) -> Unread:
        """Count the replies that could not be parsed.

        Args:
            votes: The votes on each question's prompt variants, ordered by question and prompt
                variant.
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
        votes: Vote counts, shape (questions, inputs); NaN if no reply to a prompt variant could be
            parsed.
        unread: The counts of replies that could not be parsed.
        inputs: The inputs, one per column of ``votes``.
        positive: The inputs that count as positive answers.
        negative: The inputs that count as negative answers.

    Returns:
        Table with one row per question and the columns ``share``, ``low``, ``high``, ``unparsed``
        and ``truncated``. ``share`` is the share of positive replies. ``low`` and ``high`` are the
        ends of the share's 95 % interval by Wilson's method. ``share``, ``low`` and ``high`` are
        null if no reply could be parsed. ``unparsed`` and ``truncated`` are numbers of replies to
        the prompt variants in use.
    """
    counts = np.nan_to_num(votes)
    yes, no = (counts[:, side].sum(axis=1) for side in (positive, negative))
    variants = sorted({inputs.variants[at] for at in (*positive, *negative)})
    unreadable = (each[:, variants].sum(axis=1) for each in (unread.unparsed, unread.truncated))
    return _vote_table(yes, yes + no, *unreadable)


def of_inputs(votes: Floats, unread: Unread, inputs: Inputs) -> pl.DataFrame:
    """Compute the share of each answer word among the replies to its prompt.

    Returns:
        Table with one row per question and input, and the columns of ``of_questions``.
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
