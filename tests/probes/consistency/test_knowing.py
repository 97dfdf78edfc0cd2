from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.probes.consistency import background
from tacit.statistics import Bootstrap
from tests.probes.consistency import figures_by_hand as figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    Answer = bool | None
    # Of the anchor: its facts' own questions and their negatives', whether answered right.
    Row = tuple[int, Answer, Answer]

ANSWERS = st.sampled_from([True, False, None])
ROWS = st.lists(st.tuples(st.integers(0, 5), ANSWERS, ANSWERS), max_size=60)


def facts(
    rows: Sequence[Row], relations: Sequence[str] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    names = relations or ["IsA"] * len(rows)
    table = pl.DataFrame(
        [(at, f"c{at % 5}", names[at], own, other) for at, (_, own, other) in enumerate(rows)],
        {
            "fact": pl.Int64,
            "head": pl.String,
            "relation": pl.String,
            "positive_right": pl.Boolean,
            "negative_right": pl.Boolean,
        },
        orient="row",
    )
    links = pl.DataFrame(
        {"anchor": [at for at, _, _ in rows], "fact": range(len(rows))},
        dict.fromkeys(("anchor", "fact"), pl.Int64),
    )
    return links, table


@settings(max_examples=50, deadline=None)
@given(rows=ROWS)
def test_background_scores_are_exact(rows: list[Row]) -> None:
    """Equation 1 in fractions gives the same figure, to the last digit."""
    found = background.by_anchor(*facts(rows))
    assert set(found["anchor"]) == {at for at, _, _ in rows}
    for row in found.iter_rows(named=True):
        anchor = row["anchor"]
        own = figures.share(own for at, own, _ in rows if at == anchor)
        other = figures.share(other for at, _, other in rows if at == anchor)
        score = figures.both(own, other)
        assert row["facts"] == sum(at == anchor for at, _, _ in rows)
        assert row["positives"] == sum(at == anchor and own is not None for at, own, _ in rows)
        assert row["negatives"] == sum(at == anchor and no is not None for at, _, no in rows)
        assert row["positive_accuracy"] == (None if own is None else float(own))
        assert row["negative_accuracy"] == (None if other is None else float(other))
        assert row["background_score"] == (None if score is None else float(score))


def test_scores_equal_on_paper_are_tied() -> None:
    """1/5 and 2/5 make the same as 3/5 and 0, though 0.2 + 0.4 is not 0.6 in floating point."""
    rows: list[Row] = [
        (at, k < own, k < other) for at, own, other in ((0, 1, 2), (1, 3, 0)) for k in range(5)
    ]
    one, other = background.by_anchor(*facts(rows))["background_score"]
    assert one == other == 0.3
    assert (1 / 5 + 2 / 5) / 2 != (3 / 5 + 0) / 2


def test_each_relation_by_hand() -> None:
    """Two facts of three known, one negative of two: 7/12. No negative: no score."""
    rows: list[Row] = [
        (0, True, True),
        (0, True, False),
        (1, False, None),
        (1, True, None),
        (2, None, True),
    ]
    names = ["IsA", "IsA", "IsA", "HasA", "PartOf"]
    found = background.by_relation(facts(rows, names)[1], Bootstrap(100))
    assert found["relation"].to_list() == ["HasA", "IsA", "PartOf"]
    assert found["facts"].to_list() == [1, 3, 1]
    assert found["positives"].to_list() == [1, 3, 0]
    assert found["negatives"].to_list() == [0, 2, 1]
    assert found["positive_accuracy"].to_list() == [1.0, 2 / 3, None]
    assert found["negative_accuracy"].to_list() == [None, 0.5, 1.0]
    assert found["background_score"].to_list() == [None, pytest.approx(7 / 12), None]
    assert found["background_score_low"][0] is None


def test_the_interval_of_a_relation_clusters_by_head() -> None:
    """Facts of one head tell as much as one fact: an interval needs two heads."""
    rows: list[Row] = [(0, k % 2 == 0, k % 3 == 0) for k in range(10)]
    _, known = facts(rows)
    ends = ("background_score_low", "background_score_high")
    low, high = background.by_relation(known, Bootstrap(500)).select(ends).row(0)
    assert low < high
    one = known.with_columns(head=pl.lit("dog"))
    alone = background.by_relation(one, Bootstrap(500))
    assert alone["background_score"][0] is not None
    assert alone.select(ends).row(0) == (None, None)


@settings(max_examples=50, deadline=None)
@given(
    scores=st.lists(
        st.one_of(st.none(), st.integers(0, 12).map(lambda k: k / 12)), min_size=1, max_size=14
    )
)
def test_the_mean_over_relations(scores: list[float | None]) -> None:
    """Relations count alike; those without a score do not count. The interval is Student's."""
    relations = pl.DataFrame(
        {"background_score": scores}, {"background_score": pl.Float64}, strict=False
    )
    names = ("background_score", "positive_accuracy", "negative_accuracy")
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.Float64))
    found = background.overall(relations, none).row(0, named=True)
    there = [score for score in scores if score is not None]
    assert found["relations"] == len(there)
    if not there:
        assert found["value"] is None
        return
    assert found["value"] == pytest.approx(float(sum(map(Fraction, there)) / len(there)))
    if len(set(there)) > 1:
        low, high = stats.t.interval(0.95, len(there) - 1, np.mean(there), stats.sem(there))
        assert [found["value_low"], found["value_high"]] == pytest.approx(
            [max(0, low), min(1, high)]
        )
