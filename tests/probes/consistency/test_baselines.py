from __future__ import annotations

from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from wordfreq import zipf_frequency

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers, scores_of_choices
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.features import by_choice
from tacit.sources.questions import Anchor
from tacit.statistics import Bootstrap
from tacit.statistics.ranking import average_precision, chance_level

Scores: TypeAlias = dict[str, pl.DataFrame]

BOOTSTRAP = Bootstrap(200)
WORDS = ("dog", "the", "quagga", "kennel", "café", "a front door", "sea", "of")
VARIANTS = 3


def drawn(n: int = 30, seed: int = 0) -> tuple[list[Anchor], Scores, pl.DataFrame]:
    """Anchors with two to five choices, scores at random, and which the model has right."""
    random = np.random.default_rng(seed)
    of = []
    for at in range(n):
        k = int(random.integers(2, 6))
        choices = tuple(str(one) for one in random.permutation(WORDS)[:k])
        of.append(Anchor(f"q{at}", "What?", choices, int(random.integers(k)), f"c{at // 2}"))
    cells = [
        {"anchor": anchor.id, "meta": meta, "pair": None, "answer": choice}
        for anchor in of
        for meta in range(VARIANTS)
        for choice in anchor.choices
    ]
    asked = pl.DataFrame(cells, schema_overrides={"pair": pl.String}).with_columns(most=0.0)
    scores = {
        name: scores_of_choices(
            asked.with_columns(score=pl.Series(-random.integers(1, 90, len(cells)) / 8))
        )
        for name in ("choice", "prior")
    }
    background: list[float | None] = (random.integers(0, 5, n) / 4).tolist()
    table = pl.DataFrame(
        {
            "right": random.random(n) < 0.5,
            "background_score": [None, None, None, *background[3:]],
            "cluster": [str(anchor.concept) for anchor in of],
        }
    )
    return of, scores, table


def baselines(of: list[Anchor], scores: Scores, anchors: pl.DataFrame) -> pl.DataFrame:
    none, choices = pl.DataFrame(), by_choice(of, scores, "choice")
    return anchor_baselines(of, ModelAnswers(none, none, none, anchors, choices), BOOTSTRAP)


def chosen_by_hand(of: list[Anchor], scores: Scores, name: str) -> list[int]:
    found = []
    for anchor in of:
        values = []
        for choice in anchor.choices:
            asked, empty = (
                scores[group].filter(anchor=anchor.id, choice=choice)["score"].to_numpy()
                for group in ("choice", "prior")
            )
            size = len(choice.encode())
            values.append(
                {
                    "choice prior": max(empty) / size,
                    "pointwise mutual information": max(asked - empty),
                    "longest choice": size,
                    "shortest choice": -size,
                    "most frequent choice": zipf_frequency(choice, "en"),
                }[name]
            )
        found.append(values.index(max(values)))
    return found


def test_each_baseline_is_that_of_a_plain_computation() -> None:
    """Its accuracy, and the consistency with its chance level over questions with a score."""
    of, scores, anchors = drawn()
    table = baselines(of, scores, anchors)
    TABLES["anchor_baselines"].check(table)
    rows = {row["baseline"]: row for row in table.iter_rows(named=True)}
    answers = [anchor.answer for anchor in of]
    some = anchors["background_score"].is_not_null().to_numpy()
    background = anchors["background_score"].drop_nulls().to_numpy()
    for name in list(rows)[1:6]:
        right = np.array(chosen_by_hand(of, scores, name)) == answers
        row = rows[name]
        assert (row["n"], row["scored"]) == (30, 27)
        assert row["accuracy"] == pytest.approx(right.mean())
        assert row["consistency"] == average_precision(right[some], background)
        assert row["chance"] == chance_level(right[some], background)
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
    assert rows["model"]["accuracy"] == anchors["right"].mean()
    counts = [answers.count(at) for at in range(5)]
    assert rows["majority"]["accuracy"] == max(counts) / 30


def test_random_answers_have_the_expected_figures() -> None:
    """The means over simulated random answers."""
    of, scores, anchors = drawn(60)
    row = baselines(of, scores, anchors).filter(baseline="random").to_dicts()[0]
    shares = np.array([1 / len(anchor.choices) for anchor in of])
    assert row["accuracy"] == pytest.approx(shares.mean())
    assert row["accuracy_low"] is row["accuracy_high"] is None
    assert row["consistency"] == row["chance"]
    random, some = np.random.default_rng(5), anchors["background_score"].is_not_null().to_numpy()
    background = anchors["background_score"].drop_nulls().to_numpy()
    drawn_precisions = [
        average_precision(random.permutation(random.random(57) < shares[some]), background)
        for _ in range(3000)
    ]
    known = [each for each in drawn_precisions if each is not None]
    assert row["consistency"] == pytest.approx(np.mean(known), abs=0.01)


def test_a_choice_without_a_score_leaves_its_question_out() -> None:
    """Of the baselines of scores alone; without choice prompts they have no figure at all."""
    of, scores, anchors = drawn()
    lost = pl.concat_str("anchor", "meta", "choice") == f"q42{of[4].choices[1]}"
    scores["prior"] = scores["prior"].with_columns(pl.when(~lost).then("score"))
    rows = {r["baseline"]: r for r in baselines(of, scores, anchors).to_dicts()}
    assert [rows[name]["n"] for name in list(rows)[:4]] == [30, 29, 29, 30]
    del scores["prior"]
    none = {r["baseline"]: r for r in baselines(of, scores, anchors).to_dicts()}
    assert none["choice prior"]["n"] == 0
    assert none["choice prior"]["accuracy"] is none["choice prior"]["consistency"] is None
    assert none["longest choice"] == rows["longest choice"]
