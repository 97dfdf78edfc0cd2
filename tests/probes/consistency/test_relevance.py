from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.probes.consistency.background import gain, relevance
from tacit.statistics.permutation import Permutations
from tests.probes.consistency import figures_by_hand as figures
from tests.probes.consistency.run_by_hand import Run, knows

if TYPE_CHECKING:
    from collections.abc import Sequence

    Answer = bool | None
    # A fact: whether it is known, its relation, and the places of its anchors.
    Row = tuple[Answer, str, Sequence[int]]

FEW = Permutations(199)
ANSWERS = st.sampled_from([True, False, None])
NAMES = ("facts_right", "facts_wrong", "given_right", "given_wrong", "accuracy", "relevance")


def found(facts: Sequence[Row], right: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    table = pl.DataFrame(
        {
            "fact": range(len(facts)),
            "relation": [name for _, name, _ in facts],
            "positive_right": [own for own, _, _ in facts],
        },
        {"fact": pl.Int64, "relation": pl.String, "positive_right": pl.Boolean},
    )
    places = [(at, fact) for fact, (_, _, places) in enumerate(facts) for at in places]
    links = pl.DataFrame(places, {"anchor": pl.Int64, "fact": pl.Int64}, orient="row")
    anchors = pl.DataFrame(
        {
            "right": pl.Series(right, dtype=pl.Boolean),
            "cluster": [f"concept {at}" for at in range(len(right))],
        }
    )
    rows = relevance(table, links, anchors, FEW)
    return {row["relation"]: row for row in rows.to_dicts()}


def by_hand(facts: Sequence[tuple[Answer, Sequence[Answer]]]) -> list[float | None]:
    each = [(own, figures.share(right)) for own, right in facts]
    there = [(own, share) for own, share in each if own is not None and share is not None]
    given = [figures.mean(share for own, share in there if own is side) for side in (True, False)]
    both = figures.mean(share for _, share in there)
    gain = None if given[0] is None or both is None else given[0] - both
    counts = [Fraction(sum(own is side for own, _ in there)) for side in (True, False)]
    return [None if one is None else float(one) for one in (*counts, *given, both, gain)]


def test_six_facts_right_of_1151_have_no_p_value() -> None:
    """The counts of either side are there; with 20 right there is a p-value."""
    random = np.random.default_rng(0)
    right = (random.random(400) < 0.4).tolist()
    places = random.integers(0, 400, 1151).tolist()
    for few in (6, 20, 1145):
        facts: list[Row] = [(number < few, "IsA", [at]) for number, at in enumerate(places)]
        for row in found(facts, right).values():
            assert (row["facts_right"], row["facts_wrong"]) == (few, 1151 - few)
            assert row["relevance"] is not None
            assert (row["p_value"] is None) == (few != 20)


@settings(max_examples=40, deadline=None)
@given(
    facts=st.lists(
        st.tuples(
            ANSWERS,
            st.sampled_from(["IsA", "HasA"]),
            st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
        ),
        min_size=1,
        max_size=10,
    ),
    right=st.lists(ANSWERS, min_size=4, max_size=4),
)
def test_relevance_agrees_with_a_loop(facts: list[Row], right: list[Answer]) -> None:
    """Each fact counts once, with the share of its answered anchors that are right."""
    rows = found(facts, right)
    assert set(rows) == {"all"} | {name for _, name, _ in facts}
    for relation, row in rows.items():
        of = [
            (own, [right[at] for at in places])
            for own, name, places in facts
            if relation in {"all", name}
        ]
        assert [row[name] for name in NAMES] == pytest.approx(by_hand(of), abs=1e-12)


def test_the_relevance_of_a_run(run: Run) -> None:
    """Of all facts, and of each relation's."""
    rows = run.rows("relevance")
    names = [row["relation"] for row in rows]
    assert names == ["all", "HasA", "IsA", "PartOf", "RelatedTo"]
    for row in rows:
        of = [
            (
                knows(fact, run.replies),
                [
                    right
                    for case, right in zip(run.cases, run.right, strict=True)
                    if fact in case.facts
                ],
            )
            for fact in run.facts
            if row["relation"] in {"all", fact.relation}
        ]
        assert [row[name] for name in NAMES] == pytest.approx(by_hand(of), abs=1e-12)


def drawn(items: int, share: float, seed: int, slope: float = 0.0, size: int = 3) -> pl.DataFrame:
    """Facts with their questions: which are known, in which cluster, and what is right."""
    random = np.random.default_rng(seed)
    cluster = np.arange(items) // size
    level = random.normal(size=items)[cluster]
    known = random.random(items) < share * np.exp(0.5 * level)
    right = random.random(items) < 1 / (1 + np.exp(-slope * level))
    second = random.integers(0, items, items // 5)
    fact = np.concatenate([np.arange(items), np.arange(items // 5)])
    link = np.concatenate([np.arange(items), second])
    columns = {"known": known[fact], "cluster": cluster[link], "right": right[link]}
    return pl.DataFrame({"fact": fact, **columns})


def test_5_of_100_p_values_are_small_where_there_is_nothing() -> None:
    """Of 300 samples with 10 % of 420 facts known, in clusters of 7, within 3 in 100."""
    small = [gain(drawn(420, 0.1, seed, size=7), FEW)["p_value"] for seed in range(300)]
    assert np.mean([p <= 0.05 for p in small if p is not None]) == pytest.approx(0.05, abs=0.03)


def test_knowledge_that_matters_is_found() -> None:
    """Questions of known facts are answered correctly far more often."""
    assert gain(drawn(600, 0.4, 0, slope=2.0), FEW)["p_value"] == 1 / 200
