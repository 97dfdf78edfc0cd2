from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.findings.comparison import comparison
from tacit.findings.findings import Findings
from tacit.probes.assumptions.measures import different_questions, measures
from tacit.probes.assumptions.ranks import chance_mrr
from tacit.statistics import Bootstrap
from tests.probes.assumptions.made_up import (
    ELICITATION,
    RETRIEVAL,
    candidates,
    elicitation,
    retrieval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

FEW = Bootstrap(50)
NOT_COMPARED = "not compared: the models ranked different candidates"
RETRIEVED = [
    "mean reciprocal rank",
    "probability of the concept",
    "probability among the candidates",
]


def found(
    recalled: pl.DataFrame | None = None,
    named: pl.DataFrame | None = None,
    digest: str | None = "words",
) -> Findings:
    """What a model shows; nothing where no table is given."""
    asked = pl.DataFrame(schema=RETRIEVAL) if recalled is None else recalled
    tables = {
        "retrieval": asked,
        "elicitation": pl.DataFrame(schema=ELICITATION) if named is None else named,
    }
    summary = {"candidates": candidates(asked["wording"].unique(), digest)}
    return Findings(pl.DataFrame(), tables, summary)


def compare(found: Mapping[str, Findings], how: Bootstrap = FEW) -> pl.DataFrame:
    """The differences between the models."""
    return comparison(measures, found, how)


def names(table: pl.DataFrame) -> list[str]:
    """The measures, without what follows a comma."""
    return [name.partition(",")[0] for name in table["measure"]]


def standing(rank: int | None, **others: object) -> dict[str, Any]:
    """A row of retrieval whose log-probabilities follow from the rank."""
    logprob = None if rank is None else -float(rank)
    return {"rank": rank, "logprob": logprob, "renormalised": logprob, **others}


def recalled(ranks: list[int | None], **others: object) -> Findings:
    """A model that ranks concepts so."""
    rows = [standing(rank, concept=f"c{at}", **others) for at, rank in enumerate(ranks)]
    return found(retrieval(*rows))


def test_differences_are_over_what_both_models_have() -> None:
    """The means of reciprocal ranks and of probabilities of the concepts that both rank."""
    table = compare({"one": recalled([1, 2, None]), "other": recalled([3, 1, 1])})
    assert names(table) == RETRIEVED
    rank, probability, _ = table.iter_rows(named=True)
    assert rank["measure"] == "mean reciprocal rank, 1 property stated (sentence)"
    assert (rank["n"], rank["first_value"]) == (2, 3 / 4)
    assert rank["difference"] == pytest.approx(2 / 3 - 3 / 4)
    assert probability["first_value"] == pytest.approx((math.exp(-1) + math.exp(-2)) / 2)
    assert probability["second_value"] == pytest.approx((math.exp(-3) + math.exp(-1)) / 2)


def test_ranks_are_compared_at_1_4_and_10_properties() -> None:
    """In order, whatever the order of the rows; other numbers are left to the findings."""
    rows = [standing(1, n=n, concept=c) for c, n in (("bear", 10), ("bear", 2), ("gnu", 1))]
    model = found(retrieval(*rows))
    table = compare({"one": model, "other": model})
    assert [name for name in table["measure"] if "rank" in name] == [
        "mean reciprocal rank, 1 property stated (sentence)",
        "mean reciprocal rank, 10 properties stated (sentence)",
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
    assert compare({"one": model, "other": model})["first_value"][0] == 1 / 2


def test_shared_wordings_are_compared_with_themselves() -> None:
    """A wording that only one model was asked in is ignored."""
    rows = [standing(1, wording="sentence"), standing(2, wording="blank-last")]
    both, one = found(retrieval(*rows)), found(retrieval(rows[1]))
    row = compare({"both": both, "one": one}).row(0, named=True)
    assert row["measure"] == "mean reciprocal rank, 1 property stated (blank-last)"
    assert (row["first_value"], row["note"]) == (0.5, None)
    assert names(compare({"both": both, "again": both})) == RETRIEVED * 2


def test_different_wordings_are_compared_across_and_warned_of() -> None:
    """A blank in the middle of a sentence and one at its end; the rows say so."""
    masked = recalled([1, 2], wording="sentence")
    causal = recalled([2, 2], wording="blank-last")
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
    rows = [standing(1), standing(2, concept="wolf")]
    masked = found(retrieval(*rows))
    causal = found(retrieval(*(row | {"whole_sentence": True} for row in rows)))
    for other in (masked, causal):
        across = compare({"other": other, "causal": causal})
        assert names(across) == [RETRIEVED[0], RETRIEVED[2]]


def test_ranks_among_different_candidates_are_not_compared() -> None:
    """The values and their chance stay, with the reason; probabilities are compared."""
    one = recalled([1, 2])
    rows = [standing(rank, concept=f"c{at}", candidates=7) for at, rank in enumerate([2, 2])]
    for digest, note in (
        ("others", NOT_COMPARED),
        (None, "not compared: some candidates have no score"),
    ):
        table = compare({"one": one, "other": found(retrieval(*rows), digest=digest)})
        mrr, probability, renormalised = table.iter_rows(named=True)
        assert (mrr["first_value"], mrr["second_value"], mrr["difference"]) == (0.75, 0.5, None)
        assert mrr["first_chance"] == pytest.approx(chance_mrr(100))
        assert mrr["second_chance"] == pytest.approx(chance_mrr(7))
        assert mrr["note"] == renormalised["note"] == note
        assert renormalised["second_chance"] == pytest.approx(1 / 7)
        assert (probability["difference"] is None, probability["note"]) == (False, None)


def test_average_precision_over_different_words_has_no_difference() -> None:
    """Each model keeps its own figure; the note says why there is no difference."""
    one, other = named({"bear": [1, 2, 3]}), named({"bear": [2, 3, 4]})
    summary = {"candidates": candidates(digest="other words")}
    precision, rho = compare({"one": one, "other": replace(other, summary=summary)}).rows(
        named=True
    )
    assert (precision["first_value"], precision["difference"], precision["p"]) == (1, None, None)
    assert precision["note"] == NOT_COMPARED
    assert (rho["difference"], rho["note"]) == (0, None)


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
    table = compare({"one": one, "other": other})
    precision, rho = table.iter_rows(named=True)
    assert precision["measure"] == "mean average precision, vocabulary, has"
    assert precision["n"] == 1
    assert (precision["first_value"], precision["second_value"]) == (1, pytest.approx(23 / 36))
    assert rho["measure"] == "agreement with people (Spearman), has"
    assert [rho[f"{of}_value"] for of in ("first", "second")] == [1, -1]
    assert (rho["difference"], rho["first_chance"]) == (-2, None)


def test_elicitation_is_compared_with_the_preface() -> None:
    """As the paper asks it; both sets of candidates, relation by relation."""
    rows = [
        {"relation": relation, "over": over, "preface": preface, "rank": 1 if preface else 5}
        for preface in (True, False)
        for over in ("vocabulary", "sensible")
        for relation in ("is", "has")
    ]
    model = found(named=elicitation(*rows))
    table = compare({"one": model, "other": model})
    precision = table.filter(pl.col("measure").str.starts_with("mean average precision"))
    assert precision["measure"].to_list() == [
        f"mean average precision, {over}, {relation}"
        for over in ("vocabulary", "candidates: people's responses")
        for relation in ("is", "has")
    ]
    assert set(precision["first_value"]) == {1.0}
