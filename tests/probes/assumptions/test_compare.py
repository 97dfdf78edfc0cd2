from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.findings.findings import Findings
from tacit.probes.assumptions.compare import (
    AMONG_COMMON,
    NO_DIFFERENCE,
    compare,
    different_questions,
)
from tacit.requests import RankingPrompt, Vocabulary, rank
from tacit.statistics import FEWEST_CLUSTERS, Bootstrap
from tests.probes.assumptions.made_up import (
    ELICITATION,
    RETRIEVAL,
    SCORES,
    candidates,
    elicitation,
    retrieval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEW = Bootstrap(50)
COLUMNS = [
    *("figure", "first", "second", "first_value", "second_value", "difference", "low", "high"),
    *(
        "p_value",
        "n",
        "part",
        "measure",
        "relation",
        "properties",
        "first_wording",
        "second_wording",
    ),
    *("same_question", "first_candidates", "second_candidates", "first_chance"),
    *("second_chance", "note", "printed"),
]
RANKS = st.lists(st.one_of(st.none(), st.integers(1, 9)), max_size=8)


def found(
    recalled: pl.DataFrame | None = None, named: pl.DataFrame | None = None, kind: str = "masked"
) -> Findings:
    """What a model shows; nothing where no table is given."""
    asked = pl.DataFrame(schema=RETRIEVAL) if recalled is None else recalled
    tables = {
        "retrieval": asked,
        "retrieval_scores": pl.DataFrame(schema=SCORES),
        "elicitation": pl.DataFrame(schema=ELICITATION) if named is None else named,
        "candidates": candidates(asked["wording"].unique()),
    }
    return Findings(pl.DataFrame(), tables, {"kind": kind})


def standing(rank: int | None, **others: object) -> dict[str, Any]:
    """A row of retrieval whose log-probabilities follow from the rank."""
    logprob = None if rank is None else -float(rank)
    return {"rank": rank, "logprob": logprob, "renormalised": logprob, **others}


def recalled(ranks: list[int | None], **others: object) -> Findings:
    """A model that ranks concepts so."""
    rows = [standing(rank, concept=f"c{at}", **others) for at, rank in enumerate(ranks)]
    return found(retrieval(*rows))


@settings(max_examples=60, deadline=None)
@given(one=RANKS, other=RANKS)
def test_differences_are_over_what_both_models_have(
    one: list[int | None], other: list[int | None]
) -> None:
    """Means in fractions over the concepts that both rank, and the second less the first."""
    table = compare({"one": recalled(one), "other": recalled(other)}, FEW)
    asked = min(len(one), len(other))
    assert table["measure"].to_list() == (["mrr", "probability", "renormalised"] if asked else [])
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if a and b]
    for row in table.head(1).iter_rows(named=True):
        assert (row["part"], row["properties"], row["n"]) == ("retrieval", 1, len(pairs))
        if not pairs:
            assert row["first_value"] is None is row["difference"]
            continue
        a, b = (sum(Fraction(1, r) for r in side) / len(pairs) for side in zip(*pairs, strict=True))
        assert row["first_value"] == pytest.approx(float(a), abs=1e-12)
        assert row["second_value"] == pytest.approx(float(b), abs=1e-12)
        assert row["difference"] == pytest.approx(float(b - a), abs=1e-12)
        same = len({Fraction(1, b) - Fraction(1, a) for a, b in pairs}) == 1
        assert (row["low"] is None) == (len(pairs) < FEWEST_CLUSTERS or same)


def test_probabilities_by_hand() -> None:
    """The mean of exp(-1) and exp(-2) against that of exp(-3) and exp(-1)."""
    table = compare({"one": recalled([1, 2]), "other": recalled([3, 1])}, FEW)
    row = table.row(1, named=True)
    assert row["measure"] == "probability"
    assert row["first_value"] == pytest.approx((math.exp(-1) + math.exp(-2)) / 2, abs=1e-15)
    assert row["second_value"] == pytest.approx((math.exp(-3) + math.exp(-1)) / 2, abs=1e-15)


def test_the_interval_resamples_concepts_for_both_alike() -> None:
    """Both models have the same resamples; a model does not differ from itself in any."""
    one, other = recalled([1, 2, 4, 8, 16]), recalled([2, 4, 8, 16, 32])
    same = compare({"one": one, "same": one}, FEW).row(0, named=True)
    assert (same["difference"], same["low"], same["high"]) == (0, None, None)
    row = compare({"one": one, "other": other}, Bootstrap(300)).row(0, named=True)
    drawn = np.random.default_rng(0).integers(0, 5, size=(300, 5))
    halves = (-1 / (2 * np.array([1, 2, 4, 8, 16])))[drawn].mean(axis=1)
    low, high = np.quantile(halves, [0.025, 0.975])
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_each_two_models_at_each_number() -> None:
    """Every pair in the order given, and every n in order, whatever the order of the rows."""
    rows = [standing(1, n=n, concept=c) for c, n in (("bear", 10), ("bear", 2), ("gnu", 1))]
    model = found(retrieval(*rows))
    table = compare({"b": model, "a": model, "c": model}, FEW).filter(measure="mrr")
    assert table.select("first", "second", "properties").rows() == [
        (*pair, n) for pair in (("b", "a"), ("b", "c"), ("a", "c")) for n in (1, 2, 10)
    ]


def test_only_the_order_and_the_categories_of_figure_2_count() -> None:
    """Other orders, and prompts of one category, are not compared."""
    rows = [
        standing(2),
        standing(1, order="top-increasing"),
        standing(1, order="random-1-1"),
        standing(1, category="functional"),
    ]
    model = found(retrieval(*rows))
    assert compare({"one": model, "other": model}, FEW)["first_value"][0] == 1 / 2


def test_shared_wordings_are_compared_with_themselves() -> None:
    """One that only one of them was asked in is passed over."""
    rows = [standing(1, wording="sentence"), standing(2, wording="blank-last")]
    both, one = found(retrieval(*rows)), found(retrieval(rows[1]))
    table = compare({"both": both, "one": one}, FEW).filter(measure="mrr")
    assert table.select("first_wording", "second_wording", "first_value").rows() == [
        ("blank-last", "blank-last", 0.5)
    ]
    assert compare({"both": both, "again": both}, FEW).filter(measure="mrr").height == 2


def test_different_wordings_are_compared_across_and_named() -> None:
    """A masked model fills the blank, a causal one has it last."""
    masked = recalled([1, 2], wording="sentence")
    causal = recalled([2, 2], wording="blank-last")
    row = compare({"masked": masked, "causal": causal}, FEW).row(0, named=True)
    assert (row["first_wording"], row["second_wording"]) == ("sentence", "blank-last")
    assert row["difference"] == 1 / 2 - 3 / 4


def test_a_sentence_s_probability_is_not_compared_with_a_word_s() -> None:
    """Of a causal model that read whole sentences, ranks and renormalised ones are compared."""
    table = retrieval(standing(1), standing(2, concept="wolf"))
    masked, causal = found(table), found(table, kind="causal")
    across = compare({"masked": masked, "causal": causal}, FEW)
    assert across["measure"].to_list() == ["mrr", "renormalised"]
    alike = compare({"one": causal, "other": causal}, FEW)
    assert alike["measure"].to_list() == ["mrr", "probability", "renormalised"]


def scored(values: NDArray[np.float64], words: Sequence[str], names: Sequence[str]) -> Findings:
    """A model that ranks concepts among words, whose log-probabilities are given.

    Args:
        values: Nats by concept and word; nan where the model cannot write the word.
        words: The candidates; the concepts are among them.
        names: The concepts.
    """
    vocabulary = Vocabulary(words)
    rows, scores = [], []
    for name, own in zip(names, values, strict=True):
        known = dict(zip(words, own.tolist(), strict=True))
        ordered = np.array([known[word] for word in vocabulary.words])
        ranking = rank(RankingPrompt("", vocabulary, tuple(names)), ordered, np.ones(len(words)))
        stands = ranking[name]
        renormalised = None
        if stands.logprob is not None and ranking.normaliser is not None:
            renormalised = stands.logprob - ranking.normaliser
        rows.append(
            {
                "concept": name,
                "word": name,
                "rank": stands.rank,
                "logprob": stands.logprob,
                "renormalised": renormalised,
                "candidates": len(words) - ranking.missing,
            }
        )
        scores += [("sentence", name, 1, each.target, each.logprob) for each in ranking.targets]
    tables = {
        "retrieval": retrieval(*rows),
        "retrieval_scores": pl.DataFrame(scores, SCORES, orient="row"),
        "elicitation": pl.DataFrame(schema=ELICITATION),
        "candidates": candidates(digest=vocabulary.digest, missing=int(np.isnan(values).any())),
    }
    return Findings(pl.DataFrame(), tables, {"kind": "masked"})


@pytest.mark.parametrize("seed", range(20))
def test_ranks_are_compared_over_common_candidates(seed: int) -> None:
    """Of models that rank different words, by a count over the concepts that both can write."""
    random = np.random.default_rng(seed)
    names = [f"c{at}" for at in range(7)]
    more = [f"w{at}" for at in range(200)]
    sides = []
    for words in (names, [*names, *more]):
        values = -random.integers(1, 30, (len(names), len(words))) / 4
        values[:, random.random(len(words)) < 0.1] = np.nan
        sides.append((values, words))
    models = {name: scored(*side, names) for name, side in zip("ab", sides, strict=True)}
    table = compare(models, FEW)
    both = [
        at for at in range(len(names)) if all(not np.isnan(values[0, at]) for values, _ in sides)
    ]
    for side, (values, _) in zip(("first", "second"), sides, strict=True):
        ranks = [int((values[at, both] >= values[at, at]).sum()) for at in both]
        shares = [np.exp(values[at, at]) / np.exp(values[at, both]).sum() for at in both]
        found = {row["measure"]: row for row in table.iter_rows(named=True)}
        assert found["mrr"][f"{side}_value"] == pytest.approx(np.mean([1 / each for each in ranks]))
        assert found["renormalised"][f"{side}_value"] == pytest.approx(np.mean(shares))
        assert found["mrr"][f"{side}_candidates"] == len(both)
        assert found["mrr"][f"{side}_chance"] == pytest.approx(
            np.mean([1 / each for each in range(1, len(both) + 1)])
        )
        assert found["mrr"]["note"] == AMONG_COMMON
        chances = np.mean([np.exp(values[at, at]) for at in both])
        assert found["probability"][f"{side}_value"] == pytest.approx(chances)
        assert found["probability"]["first_candidates"] is None


def test_ranks_among_the_same_candidates_stay_as_they_are() -> None:
    """With their number and the reciprocal rank that chance gives, and no note."""
    row = compare({"one": recalled([1, 2]), "other": recalled([2, 2])}, FEW).row(0, named=True)
    assert (row["first_value"], row["second_value"], row["note"]) == (0.75, 0.5, None)
    assert row["first_candidates"] == row["second_candidates"] == 100
    assert row["first_chance"] == pytest.approx(sum(1 / k for k in range(1, 101)) / 100)


def test_average_precision_over_different_words_has_no_difference() -> None:
    """Each model keeps its own figure; the note says why there is no difference."""
    one, other = named({"bear": [1, 2, 3]}), named({"bear": [2, 3, 4]})
    tables = {**other.tables, "candidates": candidates(digest="other words")}
    precision, rho = compare({"one": one, "other": replace(other, tables=tables)}, FEW).rows(
        named=True
    )
    assert (precision["first_value"], precision["difference"], precision["low"]) == (1, None, None)
    assert precision["note"] == NO_DIFFERENCE
    assert precision["second_candidates"] == 100
    assert (rho["difference"], rho["note"]) == (0, None)


def test_wordings_that_ask_different_questions_are_marked_and_warned_of() -> None:
    """A blank in the middle of a sentence and one at its end; the same wording is neither."""
    masked = recalled([1, 2], wording="sentence")
    causal = recalled([2, 2], wording="blank-last")
    assert set(compare({"m": masked, "c": causal}, FEW)["same_question"]) == {False}
    assert set(compare({"m": masked, "n": masked}, FEW)["same_question"]) == {True}
    wordings = {"m": ["sentence"], "c": ["blank-last"], "both": ["blank-last", "sentence"]}
    (warning,) = different_questions(wordings)
    assert "the wording of the retrieval prompts is sentence for m, but blank-last for c" in warning


def named(ranks: dict[str, list[int]]) -> Findings:
    """A model that ranks what people said of concepts so; the best is the most frequent."""
    rows = [
        {
            "concept": concept,
            "word": f"w{at}",
            "rank": rank,
            "frequency": 9 - at,
            "logprob": -float(rank),
        }
        for concept, places in ranks.items()
        for at, rank in enumerate(places)
    ]
    return found(named=elicitation(*rows))


def test_elicitation_by_hand() -> None:
    """Bear: (1 + 1 + 1)/3 against (1/2 + 2/3 + 3/4)/3; an order reversed makes rho -1."""
    one = named({"bear": [1, 2, 3], "wolf": [1]})
    other = named({"bear": [4, 3, 2], "gnu": [1]})
    table = compare({"one": one, "other": other}, FEW)
    assert table.columns == COLUMNS
    precision, rho = table.iter_rows(named=True)
    assert (precision["measure"], precision["relation"]) == ("map vocabulary", "has")
    assert precision["n"] == 1
    assert (precision["first_value"], precision["second_value"]) == (
        1,
        pytest.approx(23 / 36, abs=1e-15),
    )
    assert precision["first_wording"] is None is precision["properties"]
    assert (rho["measure"], rho["first_value"], rho["second_value"], rho["difference"]) == (
        "spearman",
        1,
        -1,
        -2,
    )
    assert rho["first_candidates"] is None


def test_elicitation_is_compared_with_the_preface() -> None:
    """As the paper asks it; both sets of candidates, relation by relation."""
    rows = [
        {"relation": relation, "over": over, "preface": preface, "rank": 1 if preface else 5}
        for preface in (True, False)
        for over in ("vocabulary", "sensible")
        for relation in ("is", "has")
    ]
    model = found(named=elicitation(*rows))
    table = compare({"one": model, "other": model}, FEW).filter(pl.col("measure") != "spearman")
    assert table.select("measure", "relation", "first_value").rows() == [
        (f"map {over}", relation, 1.0)
        for over in ("vocabulary", "sensible")
        for relation in ("is", "has")
    ]


@pytest.mark.parametrize("models", [[], ["one"], ["one", "other"]])
def test_nothing_gives_an_empty_table(models: list[str]) -> None:
    """No model, one, or two that show nothing: the columns alone."""
    table = compare({model: found() for model in models}, FEW)
    assert table.columns == COLUMNS
    assert table.is_empty()
