from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.probes.consistency import consistency
from tacit.statistics.permutation import Permutations
from tests.probes.consistency import figures_by_hand as figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.probes.consistency.run_by_hand import Run

FEW = Permutations(permutations=50)
FIGURES = ("consistency", "chance", "lift", "auroc", "accuracy", "background_score")


def exact(value: Fraction | None) -> object:
    """A fraction as a table holds it."""
    return None if value is None else pytest.approx(float(value), abs=1e-12)


def by_hand(pairs: list[figures.Pair]) -> dict[str, object]:
    """The figures of some anchors."""
    right = [is_right for is_right, _ in pairs]
    one_kind = len(set(right)) < 2
    return {
        "n": len(pairs),
        "right": sum(right),
        "accuracy": exact(figures.share(right)),
        "background_score": exact(figures.mean(score for _, score in pairs)),
        "consistency": exact(figures.average_precision(pairs)),
        "chance": exact(figures.chance(pairs)),
        "lift": None if one_kind else exact(figures.lift(pairs)),
        "auroc": None if one_kind else exact(figures.auroc(pairs)),
    }


def anchors(
    scores: Sequence[float | None], right: Sequence[bool | None], cluster: list[str] | None = None
) -> pl.DataFrame:
    """Anchors, each a cluster of its own unless they are named."""
    return pl.DataFrame(
        {
            "background_score": pl.Series(scores, dtype=pl.Float64),
            "right": pl.Series(right, dtype=pl.Boolean),
            "cluster": cluster or [f"anchor {at}" for at in range(len(scores))],
        }
    )


def asked(*links: tuple[int, str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The links and facts, one for each anchor, head and relation; the tail is a thing."""
    ids = range(len(links))
    ends = {"head": [head for _, head, _ in links], "relation": [name for _, _, name in links]}
    facts = pl.DataFrame({"fact": ids, **ends}).with_columns(tail=pl.lit("thing"))
    return pl.DataFrame({"anchor": [at for at, _, _ in links], "fact": ids}), facts


def test_all_anchors_of_a_run(run: Run) -> None:
    """Equation 3 over those with a score and an answer, its chance level, the lift, AUROC."""
    (row,) = run.rows("consistency")
    assert 2 < row["right"] < row["n"] - 1
    assert {name: row[name] for name in by_hand([])} == by_hand(run.pairs())
    # Eight questions about six concepts bound no lift.
    assert (row["lift_low"], row["auroc_low"]) == (None, None)
    assert row["no_interval"] == "too few clusters"
    assert row["p_corrected"] == row["p_value"]
    assert run.found.summary["consistency"] == row


def test_each_relation_of_a_run(run: Run) -> None:
    """A relation chooses the anchors; each keeps the score of all its facts."""
    rows = run.rows("consistency_by_relation")
    assert [row["name"] for row in rows] == ["HasA", "IsA", "PartOf", "RelatedTo"]
    assert {row["subset"] for row in rows} == {"relation"}
    for row in rows:
        expected = by_hand(run.pairs(relation=row["name"]))
        assert {name: row[name] for name in expected} == expected
    tests = [row["p_value"] for row in rows if row["p_value"] is not None]
    for row in rows:
        if row["p_value"] is None:
            assert row["p_corrected"] is None
            continue
        held = [p * len(tests) / sum(q <= p for q in tests) for p in tests if p >= row["p_value"]]
        assert row["p_corrected"] == pytest.approx(min(1.0, *held))


def test_no_concept_of_a_small_run_is_frequent(run: Run) -> None:
    """The table is there, and empty."""
    table = run.found.tables["consistency_by_concept"]
    assert table.is_empty()
    assert table.columns == run.found.tables["consistency"].columns


def test_clusters_are_the_question_concepts() -> None:
    """Anchors without one are clusters of their own; those that take no part are in none."""
    names = ["dog", "dog", "anchor 2", "cat", "rain"]
    (row,) = consistency.overall(
        anchors([0.5, 1.0, 0.25, 0.0, None], [True, False, True, False, True], names), FEW
    ).to_dicts()
    assert (row["n"], row["clusters"]) == (4, 3)


def test_a_score_that_says_nothing_has_no_lift() -> None:
    """Average precision and its chance level are the accuracy; AUROC is a half."""
    (row,) = consistency.overall(anchors([0.5] * 9, [True] * 4 + [False] * 5), FEW).to_dicts()
    assert row["consistency"] == pytest.approx(4 / 9)
    assert row["chance"] == pytest.approx(4 / 9)
    assert row["lift"] == pytest.approx(0, abs=1e-12)
    assert (row["auroc"], row["p_value"]) == (0.5, 1.0)
    assert row["smallest_lift"] is None


def test_a_score_that_says_all_is_perfect() -> None:
    """One, one and one."""
    scores = [1.0, 0.9, 0.8, 0.7, 0.2, 0.1, 0.0]
    (row,) = consistency.overall(anchors(scores, [True] * 4 + [False] * 3), FEW).to_dicts()
    assert (row["consistency"], row["lift"], row["auroc"]) == (1, 1, 1)
    assert row["chance"] < 1


def test_the_p_value_knows_the_clusters() -> None:
    """Of 12 concepts with 10 anchors alike each, a tendency that 120 anchors would show is none."""
    scores = np.repeat([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05], 10).tolist()
    right = [letter == "1" for letter in "110101001010" for _ in range(10)]
    names = [f"concept {number // 10}" for number in range(120)]
    how = Permutations(999)
    (clustered,) = consistency.overall(anchors(scores, right, names), how).to_dicts()
    each = [str(number) for number in range(120)]
    (single,) = consistency.overall(anchors(scores, right, each), how).to_dicts()
    assert single["p_value"] < 0.01
    assert clustered["p_value"] > 0.05
    assert clustered["consistency"] == single["consistency"]


@pytest.mark.parametrize("right", [[], [True, True], [False, False], [None, None]])
def test_what_is_undefined_is_null(right: list[bool | None]) -> None:
    """No anchor, all right, none right, none answered."""
    (row,) = consistency.overall(anchors([0.25, 0.75][: len(right)], right), FEW).to_dicts()
    there = [one for one in right if one is not None]
    assert (row["n"], row["right"]) == (len(there), sum(there))
    assert row["consistency"] == (1.0 if any(there) else None)
    undefined = ("lift", "lift_low", "auroc", "auroc_high", "p_value", "p_corrected")
    assert [row[name] for name in undefined] == [None] * len(undefined)


def test_a_relation_of_which_nothing_is_scored() -> None:
    """Its row is there, with no anchors and no figures."""
    links = asked((0, "a", "IsA"), (1, "b", "IsA"), (2, "c", "HasA"))
    found = consistency.by_relation(
        anchors([0.5, 0.25, None], [True, False, True]), *links, FEW
    ).to_dicts()
    assert [(row["name"], row["n"], row["consistency"]) for row in found] == [
        ("HasA", 0, None),
        ("IsA", 2, 1.0),
    ]


def test_an_anchor_counts_once_in_a_relation() -> None:
    """However many of its facts are of it."""
    links = asked((0, "a", "IsA"), (0, "b", "IsA"), (1, "c", "IsA"))
    (row,) = consistency.by_relation(anchors([0.5, 0.25], [True, False]), *links, FEW).to_dicts()
    assert row["n"] == 2


def test_concepts_are_frequent_from_28_anchors_on() -> None:
    """In 28 that have a score and an answer; those of 27, and of 28 one of which has none."""
    dice = random.Random(3)  # noqa: S311 - nothing is secret
    scores: list[float | None] = [dice.randrange(5) / 4 for _ in range(40)]
    right: list[bool | None] = [dice.random() < 0.5 for _ in range(40)]
    scores[30] = None
    right[31] = None
    links = asked(
        *((at, "enough", "IsA") for at in range(28)),
        *((at, "enough", "HasA") for at in range(5)),
        *((at, "too rare", "IsA") for at in range(27)),
        *((at, "unscored", "IsA") for at in range(3, 31)),
        *((at, "unanswered", "IsA") for at in [*range(27), 31]),
    )
    found = consistency.by_concept(anchors(scores, right), *links, FEW).to_dicts()
    # All facts have the one tail.
    assert [(row["name"], row["n"]) for row in found] == [("thing", 30), ("enough", 28)]
    of = [
        (is_right, Fraction(score))
        for is_right, score in zip(right[:28], scores[:28], strict=True)
        if is_right is not None and score is not None
    ]
    assert found[1]["subset"] == "concept"
    assert found[1]["consistency"] == exact(figures.average_precision(of))
    assert found[1]["auroc"] == exact(figures.auroc(of))


def test_the_14_most_frequent_concepts() -> None:
    """The most frequent first, those of as many anchors by the alphabet; heads as well as tails."""
    names = [f"concept {letter}" for letter in "onmlkjihgfedcba"]
    links = asked(*((at, name, "IsA") for name in names for at in range(28 + (name[-1] == "h"))))
    scores: list[float | None] = [at % 7 / 6 for at in range(29)]
    right: list[bool | None] = [at % 3 == 0 for at in range(29)]
    found = consistency.by_concept(anchors(scores, right), *links, FEW)
    expected = ["concept h", "thing", *(f"concept {letter}" for letter in "abcdefgijklm")]
    assert found["name"].to_list() == expected
    assert found["n"].to_list() == [29, 29] + [28] * 12


CASES = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 1.0, None]),
        st.sampled_from([True, False, None]),
        st.sampled_from(["dog", "cat", "rain"]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(cases=CASES, data=st.data())
def test_the_order_of_anchors_changes_nothing(
    cases: list[tuple[float | None, bool | None, str]], data: st.DataObject
) -> None:
    """No figure, no interval, no p-value."""
    moved = data.draw(st.permutations(range(len(cases))))
    first = anchors(*map(list, zip(*cases, strict=True)))
    second = first[list(moved)]
    links = [(at, "a", "IsA" if at % 2 else "HasA") for at in range(len(cases))]
    other = [(moved.index(at), head, relation) for at, head, relation in reversed(links)]
    for one, two in (
        (consistency.overall(first, FEW), consistency.overall(second, FEW)),
        (
            consistency.by_relation(first, *asked(*links), FEW),
            consistency.by_relation(second, *asked(*other), FEW),
        ),
    ):
        for a, b in zip(one.rows(), two.rows(), strict=True):
            assert a == pytest.approx(b, abs=1e-12, nan_ok=False)


@settings(max_examples=25, deadline=None)
@given(cases=CASES, place=st.integers(0, 12), data=st.data())
def test_an_anchor_without_a_score_changes_nothing(
    cases: list[tuple[float | None, bool | None, str]], place: int, data: st.DataObject
) -> None:
    """It is in no row, whatever its answer."""
    first = anchors(*map(list, zip(*cases, strict=True)))
    one = anchors([None], [data.draw(st.sampled_from([True, False, None]))], ["new"])
    second = pl.concat([first[:place], one, first[place:]])
    assert consistency.overall(first, FEW).equals(consistency.overall(second, FEW))
