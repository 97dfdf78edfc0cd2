from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import zipf_frequency

from tacit.probes.consistency.accuracy_by_score import accuracy_by_score
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.features import by_choice
from tacit.probes.consistency.questions import choice_variants, prompt_variants
from tacit.probes.consistency.scored import Scored
from tacit.probes.consistency.tables import TABLES
from tacit.probes.consistency.template import load_templates
from tacit.sources.anchors import Anchor
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import chance_level
from tacit.statistics.ranking import average_precision

BOOTSTRAP = Bootstrap(200)
WORDS = ("dog", "the", "quagga", "kennel", "café", "a front door", "sea", "of")
TEMPLATES = load_templates()
VARIANTS = len(choice_variants(TEMPLATES))


def drawn(n: int = 30, seed: int = 0) -> tuple[list[Anchor], Scored, pl.DataFrame]:
    """Anchors with two to five choices, scores at random, and which the model has right."""
    random = np.random.default_rng(seed)
    of = []
    for at in range(n):
        k = int(random.integers(2, 6))
        choices = tuple(str(one) for one in random.permutation(WORDS)[:k])
        of.append(Anchor(f"q{at}", "What?", choices, int(random.integers(k)), f"c{at // 2}"))
    sizes = np.zeros((n, 5), dtype=np.int64)
    there = np.zeros((n, 5), dtype=bool)
    for at, anchor in enumerate(of):
        sizes[at, : len(anchor.choices)] = [len(one.encode()) for one in anchor.choices]
        there[at, : len(anchor.choices)] = True
    scores = [
        np.where(there[:, None, :], -random.integers(1, 90, (n, VARIANTS, 5)) / 8, np.nan)
        for _ in range(2)
    ]
    variants = prompt_variants(TEMPLATES)
    inputs = np.zeros((0, 84))
    scored = Scored(variants, choice_variants(TEMPLATES), inputs, scores[0], None, scores[1], sizes)
    table = pl.DataFrame(
        {
            "right": random.random(n) < 0.5,
            "background_score": random.integers(0, 5, n) / 4,
            "cluster": [str(anchor.concept) for anchor in of],
        }
    )
    return (
        of,
        scored,
        table.with_columns(
            background_score=pl.when(pl.int_range(pl.len()) > 2).then("background_score")
        ),
    )


def baselines(of: list[Anchor], scored: Scored, anchors: pl.DataFrame) -> pl.DataFrame:
    """The table of the baselines."""
    return anchor_baselines(of, by_choice(of, scored, "choice"), anchors, BOOTSTRAP)


def chosen_by_hand(of: list[Anchor], scored: Scored, name: str) -> list[int]:
    """The choice of a baseline, one at a time."""
    assert scored.choices is not None
    assert scored.prior is not None
    found = []
    for at, anchor in enumerate(of):
        values = []
        for c, choice in enumerate(anchor.choices):
            ask, empty, size = (
                scored.choices[at, :, c],
                scored.prior[at, :, c],
                len(choice.encode()),
            )
            values.append(
                {
                    "choice prior": max(empty) / size,
                    "pointwise mutual information": max(ask - empty),
                    "longest choice": size,
                    "shortest choice": -size,
                    "most frequent choice": zipf_frequency(choice, "en"),
                }[name]
            )
        found.append(values.index(max(values)))
    return found


def test_each_baseline_is_that_of_a_plain_computation() -> None:
    """Its accuracy, and the consistency with its chance level over questions with a score."""
    of, scored, anchors = drawn()
    table = baselines(of, scored, anchors)
    TABLES["anchor_baselines"].check(table)
    rows = {row["baseline"]: row for row in table.iter_rows(named=True)}
    answers = [anchor.answer for anchor in of]
    some = anchors["background_score"].is_not_null().to_numpy()
    scores = anchors["background_score"].drop_nulls().to_numpy()
    for name in list(rows)[1:6]:
        right = np.array(chosen_by_hand(of, scored, name)) == answers
        row = rows[name]
        assert (row["n"], row["scored"]) == (30, 27)
        assert row["accuracy"] == pytest.approx(right.mean())
        assert row["consistency"] == average_precision(right[some], scores)
        assert row["chance"] == chance_level(right[some], scores)
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
    assert rows["model"]["accuracy"] == anchors["right"].mean()
    counts = [answers.count(at) for at in range(5)]
    assert rows["majority"]["accuracy"] == max(counts) / 30


def test_random_answers_have_the_expected_figures() -> None:
    """The means over simulated random answers."""
    of, scored, anchors = drawn(60)
    row = baselines(of, scored, anchors).filter(baseline="random").to_dicts()[0]
    shares = np.array([1 / len(anchor.choices) for anchor in of])
    assert row["accuracy"] == pytest.approx(shares.mean())
    assert row["accuracy_low"] is row["accuracy_high"] is None
    assert row["consistency"] == row["chance"]
    random, some = np.random.default_rng(5), anchors["background_score"].is_not_null().to_numpy()
    scores = anchors["background_score"].drop_nulls().to_numpy()
    drawn_precisions = [
        average_precision(random.permutation(random.random(57) < shares[some]), scores)
        for _ in range(3000)
    ]
    known = [each for each in drawn_precisions if each is not None]
    assert row["consistency"] == pytest.approx(np.mean(known), abs=0.01)


def test_a_choice_without_a_score_leaves_its_question_out() -> None:
    """Of the baselines of scores alone; without choice prompts they have no figure at all."""
    of, scored, anchors = drawn()
    assert scored.prior is not None
    scored.prior[4, 3, 1] = np.nan
    rows = {r["baseline"]: r for r in baselines(of, scored, anchors).to_dicts()}
    assert [rows[name]["n"] for name in list(rows)[:4]] == [30, 29, 29, 30]
    bare = replace(scored, choices=None, prior=None)
    none = {r["baseline"]: r for r in baselines(of, bare, anchors).to_dicts()}
    assert none["choice prior"]["n"] == 0
    assert none["choice prior"]["accuracy"] is none["choice prior"]["consistency"] is None
    assert none["longest choice"] == rows["longest choice"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 0.0, 0.25, 0.5, 1.0]), st.sampled_from([None, True, False])
        ),
        max_size=120,
    )
)
def test_accuracy_by_score_covers_each_question_once(
    rows: list[tuple[float | None, bool | None]],
) -> None:
    """Bins follow each other, do not share a score, and have at least 20 questions if they can."""
    schema = {"background_score": pl.Float64, "right": pl.Boolean}
    anchors = pl.DataFrame(rows, schema, orient="row")
    anchors = anchors.with_columns(cluster=pl.int_range(pl.len()).cast(pl.String))
    table = accuracy_by_score(anchors, Bootstrap(20))
    known = anchors.drop_nulls(["background_score", "right"])
    assert table["n"].sum() == known.height
    assert table["right"].sum() == known["right"].sum()
    assert all(low > high for high, low in zip(table["highest"], table["lowest"][1:], strict=False))
    if table.height > 1:
        assert min(table["n"]) >= 20
    for row in table.iter_rows(named=True):
        part = known.filter(pl.col("background_score").is_between(row["lowest"], row["highest"]))
        assert row["n"] == part.height
        assert row["accuracy"] == pytest.approx(part["right"].mean())
