"""Features that predict whether a model answers an anchor question correctly (METHODS 4).

No feature depends on which choice is correct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency.answers import anchor_values
from tacit.probes.consistency.background import by_anchor
from tacit.probes.consistency.questions import CHOICE, PRIOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import ModelAnswers
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


def features(found: ModelAnswers) -> pl.DataFrame:
    """Return the features of each anchor question."""
    import polars as pl

    rows = found.anchors.select("frequency", answer_margin="margin").with_row_index("anchor")
    rows = rows.with_columns(pl.col("anchor").cast(pl.Int64))
    background = of_background(found.links, found.facts)
    for part in (background, _of_choices(found.choices, found.anchors["choice"])):
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
        by_anchor(links, facts)
        .select("anchor", "facts", "background_score")
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


def by_choice(of: Sequence[Anchor], scores: Mapping[str, pl.DataFrame], way: str) -> pl.DataFrame:
    """Return one row per choice of an anchor question, with what is known of it.

    ``value`` is the score by which choices are compared. ``prior`` (the best score per byte behind
    an empty question) and ``gain`` (the most by which the question adds to that score) are null
    unless the choices were scored as answers.
    """
    import polars as pl

    key = ["anchor", "choice"]
    rows = pl.DataFrame(
        {
            "anchor": at,
            "choice": number,
            "text": choice,
            "bytes": len(choice.encode()),
            "correct": number == anchor.answer,
        }
        for at, anchor in enumerate(of)
        for number, choice in enumerate(anchor.choices)
    )
    values = anchor_values(scores[way]).select(*key, "value")
    rows = rows.join(values, on=key, how="left", maintain_order="left")
    if PRIOR not in scores:
        return rows.with_columns(prior=pl.lit(None, pl.Float64), gain=pl.lit(None, pl.Float64))
    asked = scores[CHOICE].select(*key, "meta", "pair", asked="score")
    both = scores[PRIOR].join(asked, on=[*key, "meta", "pair"], nulls_equal=True)
    found = {"prior": pl.col("score") / pl.col("bytes"), "gain": pl.col("asked") - pl.col("score")}
    best = both.group_by(key).agg(
        **{name: pl.when(each.is_not_null().all()).then(each.max()) for name, each in found.items()}
    )
    return rows.join(best, on=key, how="left", maintain_order="left")
