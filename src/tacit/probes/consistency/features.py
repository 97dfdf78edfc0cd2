"""Features that predict whether a model answers an anchor question correctly.

No feature depends on which choice is correct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from tacit.probes.consistency.answers import ModelAnswers, values_of_choices
from tacit.probes.consistency.background import YES, by_anchor
from tacit.probes.consistency.questions import BY_CHOICE, CHOICE, PRIOR
from tacit.sources.questions import Anchor

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


def features(answered: ModelAnswers) -> pl.DataFrame:
    rows = answered.anchors.select("anchor", "frequency", answer_margin="margin")
    background = of_background(answered.answers_by_anchor)
    for part in (background, _of_choices(answered.choices, answered.anchors)):
        rows = rows.join(part, on="anchor", how="left", maintain_order="left")
    return rows.select(pl.col(FEATURES).cast(pl.Float64))


def of_background(answers: pl.DataFrame) -> pl.DataFrame:
    """Compute the features of each ``anchor`` from the answers about its facts."""
    own, other = (pl.col("margin").filter(side).mean() for side in (YES, ~YES))
    margins = answers.group_by("anchor").agg(background_margin=(own - other) / 2)
    scores = by_anchor(answers).select("anchor", "facts", "background_score")
    return scores.join(margins, on="anchor").with_columns(log_facts=pl.col("facts").log())


def _of_choices(choices: pl.DataFrame, anchors: pl.DataFrame) -> pl.DataFrame:
    """Return the entropy over each question's choices, and the prior of the chosen one."""
    share = (pl.col("value") - pl.col("value").max()).exp()
    share /= share.sum()
    entropy = (
        -pl.when(share > 0).then(share * share.log()).sum() / pl.max_horizontal(pl.len(), 2).log()
    )
    known = pl.col("value").is_not_null().all()
    prior = pl.col("prior").filter(pl.col("choice") == pl.col("chosen"))
    rows = choices.join(anchors.select("anchor", chosen="choice"), on="anchor")
    return rows.group_by("anchor").agg(entropy=pl.when(known).then(entropy), prior=prior.first())


def by_choice(of: Sequence[Anchor], scores: Mapping[str, pl.DataFrame], group: str) -> pl.DataFrame:
    """Return one row per choice of an anchor question, with what is known of it.

    ``value`` is the score by which choices are compared. ``prior`` (the best such score behind an
    empty question) and ``gain`` (the most by which the question adds to that score) are null
    unless the choices were scored as answers.
    """
    rows = pl.DataFrame(
        {
            "anchor": anchor.id,
            "choice": choice,
            "bytes": len(choice.encode()),
            "correct": at == anchor.answer,
        }
        for anchor in of
        for at, choice in enumerate(anchor.choices)
    )
    values = values_of_choices(scores[group]).select(*BY_CHOICE, "value")
    rows = rows.join(values, on=BY_CHOICE, how="left", maintain_order="left")
    none = pl.lit(None, pl.Float64)
    if PRIOR not in scores:
        return rows.with_columns(prior=none, gain=none)
    asked = scores[CHOICE].select(*BY_CHOICE, "meta", "pair", asked="score")
    both = scores[PRIOR].join(asked, on=[*BY_CHOICE, "meta", "pair"], nulls_equal=True)
    terms = {"prior": pl.col("score") / pl.col("unit"), "gain": pl.col("asked") - pl.col("score")}
    best = both.group_by(BY_CHOICE).agg(
        **{name: pl.when(each.is_not_null().all()).then(each.max()) for name, each in terms.items()}
    )
    return rows.join(best, on=BY_CHOICE, how="left", maintain_order="left")
