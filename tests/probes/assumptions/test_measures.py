import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest

from tacit.findings.comparison import comparison
from tacit.findings.findings import Findings
from tacit.probes.assumptions.measures import different_questions, measures
from tacit.probes.assumptions.ranks import chance_mrr
from tacit.statistics import Bootstrap
from tests.probes.assumptions.made_up import candidates, elicitation, retrieval

RETRIEVED = [
    "mean reciprocal rank",
    "probability of the concept",
    "probability among the candidates",
]


def model(*retrieved: dict[str, Any], digest: str | None = "words", **elicited: Any) -> Findings:  # noqa: ANN401 - ranks
    """What a model shows: rows of retrieval, and the ranks of what people said of concepts."""
    asked = retrieval(*retrieved)
    people = (
        {"concept": concept, "word": f"w{at}", "rank": rank, "frequency": 9 - at}
        for concept, ranks in elicited.items()
        for at, rank in enumerate(ranks)
    )
    tables = {"retrieval": asked, "elicitation": elicitation(*people)}
    summary = {"candidates": candidates(asked["wording"].unique(), digest)}
    return Findings(pl.DataFrame(), tables, summary)


def ranks(*found: int | None, **others: object) -> list[dict[str, Any]]:
    return [{"rank": rank, "concept": f"c{at}", **others} for at, rank in enumerate(found)]


def compare(found: Mapping[str, Findings]) -> pl.DataFrame:
    return comparison(measures, found, Bootstrap(50))


def names(table: pl.DataFrame) -> list[str]:
    return [name.partition(",")[0] for name in table["measure"]]


def test_differences_are_over_what_both_models_have() -> None:
    """The means of reciprocal ranks and of probabilities of the concepts that both rank."""
    table = compare({"one": model(*ranks(1, 2, None)), "other": model(*ranks(3, 1, 1))})
    assert names(table) == RETRIEVED
    rank, probability, _ = table.iter_rows(named=True)
    assert rank["measure"] == "mean reciprocal rank, 1 property stated (sentence)"
    assert (rank["n"], rank["first_value"]) == (2, 3 / 4)
    assert rank["difference"] == pytest.approx(2 / 3 - 3 / 4)
    assert probability["first_value"] == pytest.approx((math.exp(-1) + math.exp(-2)) / 2)
    assert probability["second_value"] == pytest.approx((math.exp(-3) + math.exp(-1)) / 2)


def test_the_prompts_of_figure_2_are_compared_at_1_4_and_10_properties() -> None:
    """In this order, whatever the order of the rows; other orders and categories are not."""
    one = model(
        {"rank": 2, "n": 10},
        {"rank": 1, "n": 2},
        {"rank": 2, "concept": "gnu"},
        {"rank": 1, "order": "top-increasing"},
        {"rank": 1, "order": "random-1-1"},
        {"rank": 1, "category": "functional"},
    )
    table = compare({"one": one, "other": one}).filter(pl.col("measure").str.contains("rank"))
    assert table.select("measure", "first_value").rows() == [
        ("mean reciprocal rank, 1 property stated (sentence)", 1 / 2),
        ("mean reciprocal rank, 10 properties stated (sentence)", 1 / 2),
    ]


def test_wordings_are_compared_with_themselves_or_across_under_a_warning() -> None:
    """A wording that only one model was asked in is ignored, if there is one of both."""
    rows = [{"rank": 1, "wording": "sentence"}, {"rank": 2, "wording": "blank-last"}]
    both, one = model(*rows), model(rows[1])
    row = compare({"both": both, "one": one}).row(0, named=True)
    assert row["measure"] == "mean reciprocal rank, 1 property stated (blank-last)"
    assert (row["first_value"], row["note"]) == (0.5, None)
    assert names(compare({"both": both, "again": both})) == RETRIEVED * 2
    masked, causal = model(*ranks(1, 2)), model(*ranks(2, 2, wording="blank-last"))
    row = compare({"masked": masked, "causal": causal}).row(0, named=True)
    assert row["measure"] == "mean reciprocal rank, 1 property stated (sentence and blank-last)"
    assert row["difference"] == 1 / 2 - 3 / 4
    assert row["note"] == "the models' prompts ask different questions"
    wordings = {"m": ["sentence"], "c": ["blank-last"], "both": ["blank-last", "sentence"]}
    (warning,) = different_questions(
        {name: Findings(pl.DataFrame(), {}, {"wordings": of}) for name, of in wordings.items()}
    )
    assert "the wording of the retrieval prompts is sentence for m, but blank-last for c" in warning


def test_a_sentence_s_probability_is_not_compared_with_a_word_s() -> None:
    """Of a causal model that read whole sentences, ranks and renormalised ones are compared."""
    masked, causal = model(*ranks(1, 2)), model(*ranks(1, 2, whole_sentence=True))
    for other in (masked, causal):
        across = compare({"other": other, "causal": causal})
        assert names(across) == [RETRIEVED[0], RETRIEVED[2]]


@pytest.mark.parametrize(
    ("digest", "note"),
    [
        ("others", "not compared: the models ranked different candidates"),
        (None, "not compared: some candidates have no score"),
    ],
)
def test_ranks_among_different_candidates_are_not_compared(digest: str | None, note: str) -> None:
    """The values and their chance stay, with the reason; probabilities and rhos are compared."""
    one = model(*ranks(1, 2), bear=[1, 2, 3])
    other = model(*ranks(2, 2, candidates=7), digest=digest, bear=[2, 3, 4])
    mrr, probability, renormalised, precision, rho = compare({"one": one, "other": other}).rows(
        named=True
    )
    assert (mrr["first_value"], mrr["second_value"], mrr["difference"]) == (0.75, 0.5, None)
    assert mrr["first_chance"] == pytest.approx(chance_mrr(100))
    assert mrr["second_chance"] == pytest.approx(chance_mrr(7))
    assert mrr["note"] == renormalised["note"] == precision["note"] == note
    assert renormalised["second_chance"] == pytest.approx(1 / 7)
    assert (probability["difference"] is None, probability["note"]) == (False, None)
    assert (precision["first_value"], precision["difference"], precision["p"]) == (1, None, None)
    assert (rho["difference"], rho["note"]) == (0, None)


def test_elicitation_by_hand() -> None:
    """Bear: (1 + 1 + 1)/3 against (1/2 + 2/3 + 3/4)/3; an order reversed makes rho -1."""
    one, other = model(bear=[1, 2, 3], wolf=[1]), model(bear=[4, 3, 2], gnu=[1])
    precision, rho = compare({"one": one, "other": other}).iter_rows(named=True)
    assert precision["measure"] == "mean average precision, vocabulary, has"
    assert precision["n"] == 1
    assert (precision["first_value"], precision["second_value"]) == (1, pytest.approx(23 / 36))
    assert rho["measure"] == "agreement with people (Spearman), has"
    assert [rho[f"{of}_value"] for of in ("first", "second")] == [1, -1]
    assert (rho["difference"], rho["first_chance"]) == (-2, None)


def test_elicitation_is_compared_with_the_preface() -> None:
    """As the paper asks it; both sets of candidates, relation by relation."""
    asked = product((True, False), ("vocabulary", "sensible"), ("is", "has"))
    rows = [
        {"relation": relation, "over": over, "preface": preface, "rank": 1 if preface else 5}
        for preface, over, relation in asked
    ]
    found = model()
    found = replace(found, tables={**found.tables, "elicitation": elicitation(*rows)})
    table = compare({"one": found, "other": found})
    precision = table.filter(pl.col("measure").str.starts_with("mean average precision"))
    assert precision["measure"].to_list() == [
        f"mean average precision, {over}, {relation}"
        for over in ("vocabulary", "candidates: people's responses")
        for relation in ("is", "has")
    ]
    assert set(precision["first_value"]) == {1.0}
