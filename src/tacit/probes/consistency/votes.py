"""What sampled replies tell of a question: the share of those that say so, with its interval.

Replies that could not be read are counted, and count for no side. Those to several prompts are
taken together as draws of one share; where the prompts' shares differ, such draws vary less, and
Wilson's interval is rather too wide than too narrow.
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
    """Replies to background questions that could not be read; shape (questions, variants).

    Args:
        unparsed: How many they are.
        truncated: How many of them were cut while the model was thinking.
    """

    unparsed: Ints
    truncated: Ints

    @classmethod
    def of(cls, votes: Sequence[Votes], variants: int) -> Unread:
        """Counts them.

        Args:
            votes: For one question after the other, those on its variants in their order.
            variants: How many variants there are.
        """
        unparsed, truncated = (
            np.array([getattr(each, name) for each in votes], dtype=np.int64).reshape(-1, variants)
            for name in ("unparsed", "truncated")
        )
        return cls(unparsed, truncated)


def of_questions(
    votes: Floats, unread: Unread, inputs: Inputs, positive: Ints, negative: Ints
) -> pl.DataFrame:
    """How each background question is answered by all replies that count.

    Args:
        votes: Shape (questions, inputs); nan where no reply to a variant could be read.
        unread: What could not be read.
        inputs: What the columns of votes are.
        positive: The inputs that count as positive answers.
        negative: Those that count as negative ones.

    Returns:
        A row per question: ``share`` of positive answers with ``low`` and ``high`` (Wilson's 95 %
        interval), null where no reply could be read; ``unparsed`` and of these ``truncated``
        replies to the variants that count.
    """
    counts = np.nan_to_num(votes)
    yes, no = (counts[:, side].sum(axis=1) for side in (positive, negative))
    variants = sorted({inputs.variants[at] for at in (*positive, *negative)})
    unreadable = (each[:, variants].sum(axis=1) for each in (unread.unparsed, unread.truncated))
    return _vote_table(yes, yes + no, *unreadable)


def of_inputs(votes: Floats, unread: Unread, inputs: Inputs) -> pl.DataFrame:
    """How often each answer word was the reply to its prompt.

    Returns:
        A row per question and input: as ``of_questions``, of the replies to the input's prompt.
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
