from __future__ import annotations

from collections import defaultdict
from itertools import chain, permutations
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.coherence.ontology import Ontology
from tacit.probes.parts.repair import SHUFFLES, baselines, shuffled

if TYPE_CHECKING:
    from collections.abc import Iterator

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


Truth = dict[tuple[str, str, str], bool | None]


def pairs_by_hand(true: Truth, items: list[str], r: str) -> Iterator[tuple[str, bool]]:
    """The outcomes of the decided constraints between two statements, for one relation."""
    relation = PARTS.relations[r]
    for x, y in permutations(items, 2):
        one, other = true[x, r, y], true[y, r, x]
        if x < y and (one or other) and None not in (one, other):
            if relation.symmetric:
                yield "symmetric", one is not other
            if relation.asymmetric:
                yield "asymmetric", bool(one and other)
        if relation.inverse is not None and r < relation.inverse:
            partner = true[y, relation.inverse, x]
            if (one or partner) and None not in (one, partner):
                yield "inverse", one is not partner


def chains_by_hand(true: Truth, items: list[str], r: str) -> Iterator[tuple[str, bool]]:
    """The outcomes of the decided transitive constraints, for one relation."""
    if PARTS.relations[r].transitive:
        for x, y, z in permutations(items, 3):
            implied = true[x, r, z]
            if true[x, r, y] and true[y, r, z] and implied is not None:
                yield "transitive", not implied


def rates_by_hand(table: pl.DataFrame) -> dict[str, float | None]:
    """Rates counted statement by statement; a constraint without a known outcome is left out."""
    drawings: dict[str, Truth] = defaultdict(dict)
    for thing, _, x, r, y, p in table.iter_rows():
        drawings[thing][x, r, y] = None if p is None else p > 0.5
    found: dict[str, list[bool]] = {name: [] for name in TYPES}
    for true in drawings.values():
        items = sorted({x for x, _, _ in true})
        for r in PARTS.relations:
            for name, outcome in chain(
                pairs_by_hand(true, items, r), chains_by_hand(true, items, r)
            ):
                found[name].append(outcome)
    rates = {name: fmean(outcomes) if outcomes else None for name, outcomes in found.items()}
    every = [outcome for outcomes in found.values() for outcome in outcomes]
    defined = [rate for rate in rates.values() if rate is not None]
    return {
        **rates,
        "macro": fmean(defined) if defined else None,
        "micro": fmean(every) if every else None,
    }


@pytest.mark.parametrize("p", [[0.9, 0.2, 0.7, 0.4, 0.1], [0.9, None, 0.1, 0.8, 0.6, 0.3, 0.2]])
def test_shuffled_rates_are_the_mean_of_what_plain_counting_gives(p: list[float | None]) -> None:
    """Over the same permutations, also where beliefs are missing."""
    table = beliefs(p)
    found = {name: of["shuffled"] for name, of in baselines(table, PARTS).items()}
    generator = np.random.default_rng(0)
    columns = ["thing", "annotator", "subject", "relation", "object"]
    drawn = [rates_by_hand(shuffled(table.sort(columns), generator)) for _ in range(SHUFFLES)]
    for name, rate in found.items():
        counted = [each[name] for each in drawn]
        assert rate == pytest.approx(fmean(value for value in counted if value is not None))
        assert len(set(counted)) > 1  # the permutations differ


@pytest.mark.parametrize("p", [[0.3], [0.9, None, 0.1, 0.8, 0.6]])
def test_always_true_violates_what_plain_counting_gives(p: list[float | None]) -> None:
    """Every asymmetric constraint and nothing else, of what is decided."""
    table = beliefs(p)
    found = {name: of["always_true"] for name, of in baselines(table, PARTS).items()}
    true = pl.when(pl.col("p_true").is_not_null()).then(1.0)
    assert found == pytest.approx(rates_by_hand(table.with_columns(p_true=true)))
    assert (found["asymmetric"], found["macro"]) == (1.0, 1 / 4)


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


def test_a_drawing_keeps_its_own_share_of_true() -> None:
    """A thing whose statements are all believed stays so; so does one that is never believed."""
    table = beliefs([0.0]).with_columns(p_true=(pl.col("thing") == "thing 0").cast(pl.Float64))
    assert (
        shuffled(table, np.random.default_rng(0))
        .sort(table.columns)
        .equals(table.sort(table.columns))
    )


def test_nothing_believed_has_no_shuffled_rate() -> None:
    """No constraint applies in any permutation."""
    found = baselines(beliefs([0.1]), PARTS)
    assert {of["shuffled"] for of in found.values()} == {None}
    missing = baselines(beliefs([None]), PARTS)
    assert {of["always_true"] for of in missing.values()} == {None}


def test_the_order_of_the_rows_does_not_matter() -> None:
    """The permutations depend on the statements alone."""
    table = beliefs([0.9, 0.2, 0.7, 0.4, 0.1])
    mixed = table.sample(fraction=1, shuffle=True, seed=3)
    assert baselines(mixed, PARTS) == baselines(table, PARTS)
