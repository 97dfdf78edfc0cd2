"""Features that predict whether a model answers an anchor question correctly (METHODS 4).

No feature depends on which choice is correct.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.background_scores import by_links

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.scored import Scored
    from tacit.sources.anchors import Anchor

BASE_RATE, MARGIN, BACKGROUND = "base_rate", "margin", "background"
ANSWER, BOTH = "answer", "both"

_OF_BACKGROUND = ("background_score", "background_margin", "log_facts")
_OF_ANSWER = ("answer_margin", "entropy", "prior", "frequency")

PREDICTORS: Mapping[str, tuple[str, ...]] = {
    BASE_RATE: (),
    MARGIN: _OF_ANSWER[:1],
    BACKGROUND: _OF_BACKGROUND,
    ANSWER: _OF_ANSWER,
    BOTH: (*_OF_BACKGROUND, *_OF_ANSWER),
}
"""The features that each predictor uses."""

FEATURES = PREDICTORS[BOTH]


@dataclass(frozen=True)
class ModelAnswers:
    """The tables ``facts``, ``links`` and ``anchors``, and a row per choice (``by_choice``)."""

    facts: pl.DataFrame
    links: pl.DataFrame
    anchors: pl.DataFrame
    choices: pl.DataFrame

    @cached_property
    def features(self) -> pl.DataFrame:
        """The features of each anchor question."""
        import polars as pl

        rows = self.anchors.select("frequency", answer_margin="margin").with_row_index("anchor")
        rows = rows.with_columns(pl.col("anchor").cast(pl.Int64))
        background = of_background(self.links, self.facts)
        for part in (background, _of_choices(self.choices, self.anchors["choice"])):
            rows = rows.join(part, on="anchor", how="left", maintain_order="left")
        return rows.select(pl.col(FEATURES).cast(pl.Float64))


def of_background(links: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Compute the features of the background of each ``anchor`` in ``links``."""
    import polars as pl

    own, other = (pl.col(f"{side}_margin").mean() for side in ("positive", "negative"))
    margins = (
        links.join(facts, on="fact", maintain_order="left")
        .group_by("anchor")
        .agg(background_margin=(own - other) / 2)
    )
    return (
        by_links(links, facts)
        .join(margins, on="anchor")
        .with_columns(log_facts=pl.col("facts").log())
    )


def _of_choices(choices: pl.DataFrame, chosen: pl.Series) -> pl.DataFrame:
    """Return the entropy over each question's choices, and the prior of the chosen one."""
    import polars as pl

    share = (pl.col("value") - pl.col("value").max()).exp()
    share /= share.sum()
    entropy = (
        -pl.when(share > 0).then(share * share.log()).sum() / pl.max_horizontal(pl.len(), 2).log()
    )
    known = pl.col("value").is_not_null().all()
    prior = pl.col("prior").filter(pl.col("text") == pl.col("chosen"))
    rows = choices.with_columns(chosen=chosen.gather(choices["anchor"]))
    return rows.group_by("anchor").agg(entropy=pl.when(known).then(entropy), prior=prior.first())


def by_choice(of: Sequence[Anchor], scored: Scored, anchoring: str) -> pl.DataFrame:
    """Return one row per choice of an anchor question, with what is known of it.

    ``value`` is the score by which choices are compared. ``prior`` (the best score per byte behind
    an empty question) and ``gain`` (the most by which the question adds to that score) are null
    unless the choices were scored as answers.
    """
    import polars as pl

    there = scored.sizes > 0
    chosen = scored.chosen(anchoring)
    unknown = np.full(there.shape, np.nan)
    prior, gain = unknown, unknown
    if scored.prior is not None:
        prior = _best_per_byte(scored.prior, scored.sizes)
        if scored.choices is not None:
            gain = (scored.choices - scored.prior).max(axis=1)
    return pl.DataFrame(
        {
            "anchor": np.nonzero(there)[0],
            "text": [choice for anchor in of for choice in anchor.choices],
            "bytes": scored.sizes[there],
            "correct": [at == anchor.answer for anchor in of for at in range(len(anchor.choices))],
            "value": (unknown if chosen is None else chosen.values)[there],
            "prior": prior[there],
            "gain": gain[there],
        }
    ).with_columns(pl.col("value", "prior", "gain").fill_nan(None))


def _best_per_byte(scores: Floats, sizes: Ints) -> Floats:
    """Return each choice's highest score per byte over all prompt variants."""
    best: Floats = (scores / np.maximum(sizes, 1)[:, None, :]).max(axis=1)
    return best
