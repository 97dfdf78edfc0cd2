"""Compute vote shares of sampled replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.prompt_variants import Floats, Inputs, Ints
    from tacit.requests import Votes


COLUMNS = ("share", "unparsed", "truncated")


@dataclass(frozen=True)
class Unread:
    """Numbers of unparsed replies to background questions, shape (questions, variants)."""

    unparsed: Ints
    truncated: Ints

    @classmethod
    def of(cls, votes: Sequence[Votes], variants: int) -> Unread:
        """Count the replies that could not be parsed."""
        unparsed, truncated = (
            np.array([getattr(each, name) for each in votes], dtype=np.int64).reshape(-1, variants)
            for name in ("unparsed", "truncated")
        )
        return cls(unparsed, truncated)


def of_questions(
    votes: Floats, unread: Unread, inputs: Inputs, positive: Ints, negative: Ints
) -> pl.DataFrame:
    """Compute the share of positive replies to each background question."""
    counts = np.nan_to_num(votes)
    yes, no = (counts[:, side].sum(axis=1) for side in (positive, negative))
    variants = sorted({inputs.variants[at] for at in (*positive, *negative)})
    unreadable = (each[:, variants].sum(axis=1) for each in (unread.unparsed, unread.truncated))
    return _vote_table(yes, yes + no, *unreadable)


def of_inputs(votes: Floats, unread: Unread, inputs: Inputs) -> pl.DataFrame:
    """Compute the share of each answer word among the parsed replies to each prompt."""
    variants = np.array(inputs.variants)
    counts = np.nan_to_num(votes)
    parsed = np.zeros(unread.unparsed.shape)
    np.add.at(parsed.T, variants, counts.T)
    unreadable = (each[:, variants].ravel() for each in (unread.unparsed, unread.truncated))
    return _vote_table(counts.ravel(), parsed[:, variants].ravel(), *unreadable)


def _vote_table(yes: Floats, of: Floats, unparsed: Ints, truncated: Ints) -> pl.DataFrame:
    import polars as pl

    share = pl.when(pl.col("of") > 0).then(pl.col("yes") / pl.col("of"))
    counts = {"yes": yes, "of": of, "unparsed": unparsed, "truncated": truncated}
    return pl.DataFrame(counts).select(share=share, unparsed="unparsed", truncated="truncated")
