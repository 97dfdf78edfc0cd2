"""Evaluate baselines that answer anchor questions, for example by the longest choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.features import best_per_byte
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import chance_level, chance_levels
from tacit.statistics.ranking import at_thresholds, average_precision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.scored import Scored
    from tacit.sources.anchors import Anchor
    from tacit.statistics import Bootstrap

MODEL, RANDOM = "model", "random"


def anchor_baselines(
    of: Sequence[Anchor], scored: Scored, anchors: pl.DataFrame, bootstrap: Bootstrap
) -> pl.DataFrame:
    """Return the accuracy and the conceptual consistency of the model and of each baseline."""
    import polars as pl

    model = anchors["right"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    rows = [_row(MODEL, model, anchors, bootstrap)]
    answer = np.array([anchor.answer for anchor in of])
    for name, values in _values(of, scored).items():
        rows.append(_row(name, _correct(values, scored.sizes, answer), anchors, bootstrap))
    rows.append(_row("majority", _majority(answer), anchors, bootstrap))
    shares = np.array([1 / len(anchor.choices) for anchor in of])
    rows.append(_row(RANDOM, shares, anchors, bootstrap))
    return pl.DataFrame(rows, schema=TABLES["anchor_baselines"].schema)


def _values(of: Sequence[Anchor], scored: Scored) -> Mapping[str, Floats]:
    """Return, for each baseline, the values of the choices, shape (anchors, choices)."""
    sizes = scored.sizes
    none = np.full(sizes.shape, np.nan)
    prior, gain = none, none
    if scored.prior is not None and scored.choices is not None:
        prior = best_per_byte(scored.prior, sizes)
        gain = np.where(sizes > 0, (scored.choices - scored.prior).max(axis=1), np.nan)
    lengths = np.where(sizes > 0, sizes, np.nan)
    return {
        "choice prior": prior,
        "pointwise mutual information": gain,
        "longest choice": lengths,
        "shortest choice": -lengths,
        "most frequent choice": _frequencies(of, sizes),
    }


def _frequencies(of: Sequence[Anchor], sizes: Ints) -> Floats:
    from wordfreq import zipf_frequency

    found = np.full(sizes.shape, np.nan)
    for at, anchor in enumerate(of):
        found[at, : len(anchor.choices)] = [zipf_frequency(one, "en") for one in anchor.choices]
    return found


def _correct(values: Floats, sizes: Ints, answer: Ints) -> Floats:
    """Return whether each anchor question's choice with the highest value is correct."""
    lacking = np.isnan(values)
    right = (np.where(lacking, -np.inf, values).argmax(axis=1) == answer).astype(float)
    found: Floats = np.where((lacking & (sizes > 0)).any(axis=1), np.nan, right)
    return found


def _majority(answer: Ints) -> Floats:
    """Return, for each question, whether its correct choice has the most common position."""
    right: Floats = (answer == np.bincount(answer).argmax()).astype(float)
    return right


def _row(name: str, right: Floats, anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the row of a baseline in the table ``anchor_baselines``."""
    known = ~np.isnan(right)
    clusters = anchors["cluster"].to_numpy()
    share = bootstrap.ratio(clusters[known], right[known], np.ones(int(known.sum())))
    if name == RANDOM:  # computed, not sampled
        share = Estimate(share.value, None, None)
    scores = anchors["background_score"].cast(float).fill_null(float("nan")).to_numpy()
    both = known & ~np.isnan(scores)
    consistency, chance = _consistency(name, right[both], scores[both])
    return {
        "baseline": name,
        "n": int(known.sum()),
        "accuracy": share.value,
        "low": share.low,
        "high": share.high,
        "scored": int(both.sum()),
        "consistency": consistency,
        "chance": chance,
    }


def _consistency(name: str, right: Floats, scores: Floats) -> tuple[float | None, float | None]:
    """Return the average precision of background scores, and its chance level."""
    if name != RANDOM:
        return average_precision(right, scores), chance_level(right, scores)
    if not len(right):
        return None, None
    chance = float(chance_levels(right.sum(), at_thresholds(right > 0, scores)[1]))
    return chance, chance
