from __future__ import annotations

from itertools import permutations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coherence.ontology import Ontology
from tacit.probes.parts.repair import SHUFFLES, baselines, shuffled
from tests.probes.parts.counted import count_by_hand

PARTS = Ontology.load("parts")
TYPES = ("symmetric", "asymmetric", "inverse", "transitive")
SCHEMA = dict.fromkeys(("thing", "annotator", "subject", "relation", "object"), pl.String)


def beliefs(p: list[float | None], sizes: tuple[int, ...] = (3, 4)) -> pl.DataFrame:
    """All statements about drawings of these sizes, with the values of p in turn."""
    rows = [
        (f"thing {n}", "ann", x, r, y)
        for n, size in enumerate(sizes)
        for x, y in permutations("abcde"[:size], 2)
        for r in PARTS.relations
    ]
    table = pl.DataFrame(rows, SCHEMA, orient="row")
    values = [p[k % len(p)] for k in range(len(rows))]
    return table.with_columns(p_true=pl.Series(values, dtype=pl.Float64))


def rates_by_hand(table: pl.DataFrame) -> dict[str, float]:
    """Rates of each type, counted drawing by drawing and one constraint at a time."""
    counts = dict.fromkeys(TYPES, (0, 0))
    for _, rows in table.filter(pl.col("p_true") > 0.5).group_by("thing"):
        of = count_by_hand(PARTS, set(rows.select("subject", "relation", "object").iter_rows()))
        counts = {name: (n + of[name][0], m + of[name][1]) for name, (n, m) in counts.items()}
    rates = {name: violated / applicable for name, (violated, applicable) in counts.items()}
    violated, applicable = (sum(column) for column in zip(*counts.values(), strict=True))
    return {**rates, "macro": fmean(rates.values()), "micro": violated / applicable}


def test_shuffled_rates_are_the_mean_of_what_plain_counting_gives() -> None:
    """Over the same permutations."""
    table = beliefs([0.9, 0.2, 0.7, 0.4, 0.1])
    found = {name: of["shuffled"] for name, of in baselines(table, PARTS).items()}
    generator = np.random.default_rng(0)
    columns = ["thing", "annotator", "subject", "relation", "object"]
    drawn = [rates_by_hand(shuffled(table.sort(columns), generator)) for _ in range(SHUFFLES)]
    for name, rate in found.items():
        counted = [each[name] for each in drawn]
        assert rate == pytest.approx(fmean(counted))
        assert len(set(counted)) > 1  # the permutations differ


@pytest.mark.parametrize("p", [[0.3], [0.9, None, 0.1, 0.8, 0.6]])
def test_always_true_violates_what_plain_counting_gives(p: list[float | None]) -> None:
    """Every asymmetric constraint and nothing else, of what is decided."""
    found = {name: of["always_true"] for name, of in baselines(beliefs(p), PARTS).items()}
    assert [found[name] for name in (*TYPES, "macro")] == [0.0, 1.0, 0.0, 0.0, 1 / 4]
    if None not in p:
        assert found == pytest.approx(rates_by_hand(beliefs([1.0])))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=40), st.integers(0, 9))
def test_shuffling_permutes_the_beliefs_of_each_drawing(p: list[float | None], seed: int) -> None:
    """The values of a drawing are the same, and the same statements have none."""
    table = beliefs(p)
    found = shuffled(table, np.random.default_rng(seed))
    keys = ["thing", "subject", "relation", "object"]
    assert found.sort(keys).drop("p_true").equals(table.sort(keys).drop("p_true"))
    both = table.sort(keys)["p_true"], found.sort(keys)["p_true"]
    assert both[0].is_null().equals(both[1].is_null())
    for thing in table["thing"].unique():
        before, after = (
            each.filter(thing=thing)["p_true"].drop_nulls().sort() for each in (table, found)
        )
        assert before.equals(after)


def test_nothing_believed_has_no_shuffled_rate() -> None:
    """No constraint applies in any permutation."""
    found = baselines(beliefs([0.1]), PARTS)
    assert {of["shuffled"] for of in found.values()} == {None}
    missing = baselines(beliefs([None]), PARTS)
    assert {of["always_true"] for of in missing.values()} == {None}
