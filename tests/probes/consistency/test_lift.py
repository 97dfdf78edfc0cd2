import random
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import zipf_frequency

from tacit.probes.consistency import TABLES, lift
from tacit.probes.consistency.answers import ModelAnswers, scores_of_choices
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.features import by_choice
from tacit.sources.questions import Anchor
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations
from tacit.statistics.ranking import average_precision, chance_level
from tests.probes.consistency.run_by_hand import Run, figures

FEW = Permutations(permutations=50)


def anchors(
    scores: Sequence[float | None], right: Sequence[bool | None], cluster: list[str] | None = None
) -> pl.DataFrame:
    """Anchors, each a cluster of its own unless they are named."""
    return pl.DataFrame(
        {
            "anchor": range(len(scores)),
            "background_score": pl.Series(scores, dtype=pl.Float64),
            "right": pl.Series(right, dtype=pl.Boolean),
            "cluster": cluster or [f"anchor {at}" for at in range(len(scores))],
        }
    )


def asked(of: pl.DataFrame, *links: tuple[int, str, str]) -> ModelAnswers:
    """Anchors with facts, one for each anchor, head and relation; the tail is a thing."""
    ids = range(len(links))
    ends = {"head": [head for _, head, _ in links], "relation": [name for _, _, name in links]}
    facts = pl.DataFrame({"fact": ids, **ends}).with_columns(tail=pl.lit("thing"))
    owners = pl.DataFrame({"anchor": [at for at, _, _ in links], "fact": ids})
    return ModelAnswers(facts, owners, pl.DataFrame(), of, pl.DataFrame())


def test_all_anchors_of_a_run(run: Run) -> None:
    """Equation 3 over those with a score and an answer, its chance level, the lift, AUROC."""
    (row,) = run.rows("consistency")
    assert 2 < row["right"] < row["n"] - 1
    expected = figures(run.pairs())
    assert {name: row[name] for name in expected} == expected
    # Eight questions about six concepts bound no lift.
    assert (row["lift_low"], row["auroc_low"]) == (None, None)
    assert row["no_interval"] == "too few clusters"
    assert row["p_corrected"] == row["p_value"]


def test_each_relation_of_a_run(run: Run) -> None:
    """A relation chooses the anchors; each keeps the score of all its facts."""
    rows = run.rows("consistency_by_relation")
    assert [row["name"] for row in rows] == ["HasA", "IsA", "PartOf", "RelatedTo"]
    assert {row["subset"] for row in rows} == {"relation"}
    for row in rows:
        expected = figures(run.pairs(relation=row["name"]))
        assert {name: row[name] for name in expected} == expected
    of = anchors([0.5, 0.25, None], [True, False, True])
    found = asked(of, (0, "a", "IsA"), (1, "b", "IsA"), (2, "c", "HasA"))
    table = lift.by_relation(found, FEW).select("name", "n", "consistency")
    assert table.rows() == [("HasA", 0, None), ("IsA", 2, 1.0)]


def test_concepts_are_frequent_from_28_anchors_on() -> None:
    """In 28 that have a score and an answer; those of 27, and of 28 one of which has none."""
    dice = random.Random(3)  # noqa: S311 - nothing is secret
    scores: list[float | None] = [dice.randrange(5) / 4 for _ in range(40)]
    right: list[bool | None] = [dice.random() < 0.5 for _ in range(40)]
    scores[30] = None
    right[31] = None
    known = asked(
        anchors(scores, right),
        *((at, "enough", "IsA") for at in range(28)),
        *((at, "enough", "HasA") for at in range(5)),
        *((at, "too rare", "IsA") for at in range(27)),
        *((at, "unscored", "IsA") for at in range(3, 31)),
        *((at, "unanswered", "IsA") for at in [*range(27), 31]),
    )
    found = lift.by_concept(known, FEW).to_dicts()
    # All facts have the one tail.
    assert [(row["name"], row["n"]) for row in found] == [("thing", 30), ("enough", 28)]
    pairs = [
        (is_right, Fraction(score))
        for is_right, score in zip(right[:28], scores[:28], strict=True)
        if is_right is not None and score is not None
    ]
    expected = {"subset": "concept", **figures(pairs)}
    assert {name: found[1][name] for name in expected} == expected


def test_the_14_most_frequent_concepts() -> None:
    """The most frequent first, those of as many anchors by the alphabet; heads as well as tails."""
    names = [f"concept {letter}" for letter in "onmlkjihgfedcba"]
    of = anchors([at % 7 / 6 for at in range(29)], [at % 3 == 0 for at in range(29)])
    links = ((at, name, "IsA") for name in names for at in range(28 + (name[-1] == "h")))
    found = lift.by_concept(asked(of, *links), FEW)
    expected = ["concept h", "thing", *(f"concept {letter}" for letter in "abcdefgijklm")]
    assert found["name"].to_list() == expected
    assert found["n"].to_list() == [29, 29] + [28] * 12


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
    questions = anchors([score for score, _ in rows], [right for _, right in rows])
    table = lift.accuracy_by_score(questions, Bootstrap(20))
    known = questions.drop_nulls(["background_score", "right"])
    assert table["n"].sum() == known.height
    assert table["right"].sum() == known["right"].sum()
    assert all(low > high for high, low in zip(table["highest"], table["lowest"][1:], strict=False))
    if table.height > 1:
        assert min(table["n"]) >= 20
    for row in table.iter_rows(named=True):
        part = known.filter(pl.col("background_score").is_between(row["lowest"], row["highest"]))
        assert row["n"] == part.height
        assert row["accuracy"] == pytest.approx(part["right"].mean())


def test_the_adjusted_lift_is_within_equal_numbers_of_facts() -> None:
    """A score that only tells how many facts there are is worth chance then, and not before."""
    facts = [1 + at % 3 for at in range(90)]
    right = [at % 5 < count for at, count in enumerate(facts)]
    of = anchors([count / 3 for count in facts], right)
    (row,) = lift.adjusted(of.with_columns(facts=pl.Series(facts)), FEW).to_dicts()
    assert (row["n"], row["strata"], row["lift_adjusted"]) == (90, 3, pytest.approx(0, abs=1e-12))
    (plain,) = lift.overall(of, FEW)["lift"]
    assert plain > 0.2


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
    """It could be the best. Of baselines of scores alone; without choice prompts they have none."""
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
