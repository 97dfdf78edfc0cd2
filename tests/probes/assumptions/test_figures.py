"""What the figures draw: the values, intervals and chance levels of the stored tables."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from tacit.charts.panels import DASH
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.probes.assumptions import MAIN
from tacit.probes.assumptions.examples import chosen
from tacit.probes.assumptions.figures import ALL, FIGURES
from tests.probes.assumptions.small_run import small_run
from tests.probes.drawing import rows, svg, texts, tips

FOUND = small_run()
FOUR = FOUND.tables["retrieval_by_number"].filter(pl.col("category").is_null(), n=4)


@pytest.fixture(scope="module")
def one() -> Shown:
    return shown()


@pytest.fixture(scope="module")
def two() -> Shown:
    """Two models, one of them asked with the blank last."""
    found = {"x/bert-base": small_run(1), "x/gpt2": small_run(2, "blank-last")}
    return Shown(found, {}, HOUSE)


def shown(**changed: pl.DataFrame) -> Shown:
    """One model, some of whose tables are changed."""
    found = Findings(FOUND.questions, {**FOUND.tables, **changed}, FOUND.summary)
    return Shown({"x/roberta-large": found}, {}, HOUSE)


def drawn(chart: Any, **row: object) -> bool:  # noqa: ANN401 - a chart
    return any(row.items() <= held.items() for held in rows(chart))


def test_one_order_alone_is_no_figure_3b() -> None:
    """Nor is a run without categories a Figure 3a."""
    table = FOUND.tables["retrieval_by_number"]
    bare = shown(retrieval_by_number=table.filter(pl.col("category").is_null(), order=MAIN))
    assert FIGURES["retrieval_orders"](bare) is None
    assert FIGURES["retrieval_categories"](bare) is None
    assert FIGURES["retrieval"](bare) is not None


def test_curves_are_the_measures(one: Shown) -> None:
    """Value and band of each point, and chance beside the ranks."""
    row = FOUR.row(by_predicate=pl.col("order") == MAIN, named=True)
    for measure in ("mrr", "probability", "renormalised"):
        ends = {end: row[f"{measure}_{end}"] for end in ("low", "high")}
        assert drawn(FIGURES["retrieval"](one), n=4, value=row[measure], **ends)
    for name in ("retrieval", "retrieval_categories", "retrieval_orders"):
        held = [held["chance"] for held in rows(FIGURES[name](one)) if held.get("chance")]
        assert {round(level, 12) for level in held} == {round(row["chance_mrr"], 12)}


def test_models_asked_in_different_wordings_say_which(two: Shown) -> None:
    """Behind their names in the legend."""
    held = texts(svg(FIGURES["retrieval"](two)))
    assert {"bert-base (sentence)", "gpt2 (blank-last)"} <= set(held)


def test_what_is_undefined_has_no_mark() -> None:
    """No point at 0 stands for a null."""
    names = pl.col("^(mrr|probability)(_low|_high)?$")
    null = pl.when(pl.col("n") == 7).then(None).otherwise(names).name.keep()
    table = FOUND.tables["retrieval_by_number"].with_columns(null)
    chart = FIGURES["retrieval"](shown(retrieval_by_number=table))
    points = {row["n"] for row in rows(chart) if row.get("value") is not None}
    assert points == {1, 2, 3, 4, 5, 6, 8, 9, 10}


def test_categories_state_how_many_concepts_each_point_rests_on(one: Shown) -> None:
    """At each number of properties, where a category has some."""
    chart = FIGURES["retrieval_categories"](one)
    counts = {
        (row["row"], int(row["column"])): row["text"] for row in rows(chart) if "column" in row
    }
    table = FOUND.tables["retrieval_by_number"].filter(order=MAIN)
    known = table.select(pl.col("category").fill_null(ALL), "n", "concepts").rows()
    assert counts == {(category, n): str(concepts) for category, n, concepts in known}
    assert len(set(counts.values())) > 1


def test_only_random_has_a_band_among_the_orders(one: Shown) -> None:
    """The orders' lines cross, so that five bands would hide one another."""
    chart = FIGURES["retrieval_orders"](one)
    assert svg(chart).count('class="mark-area role-mark') == 2
    row = FOUR.row(by_predicate=pl.col("order") == "random", named=True)
    assert drawn(chart, series="random", n=4, value=row["mrr"], low=row["mrr_low"])


@pytest.mark.parametrize("bear", [True, False])
def test_the_example_is_the_papers_or_the_median(bear: bool) -> None:  # noqa: FBT001 - a test's parameter
    ranks = {"a": 5, "b": 1, "c": 4, "d": 2, "e": 3, "bear": 9 if bear else None}
    table = pl.DataFrame(
        [(name, "m", rank) for name, rank in ranks.items()], ["concept", "of", "rank"], orient="row"
    )
    assert chosen(table) == ("bear" if bear else "e")


def test_examples_hold_the_best_candidates_and_mark_the_concept(one: Shown) -> None:
    """With their probabilities, in the row of the property that was added."""
    chart = FIGURES["retrieval_examples"](one)
    best = FOUND.tables["retrieval_top"].filter(pl.col("place") <= 5, concept="bear", n=4)
    assert "bear" in best["word"]
    for row in best.iter_rows(named=True):
        text = f"{row['word']} {percent(math.exp(row['logprob']))}"
        column = "best" if row["place"] == 1 else f"{row['place']}."
        framed = row["word"] == "bear"
        assert drawn(chart, row="4. + is made of metal", column=column, text=text, framed=framed)
    assert drawn(chart, row="1. is found near a wolf", column="rank")


def test_elicitation_stands_as_measured(two: Shown) -> None:
    """A lane per model and relation with value, interval and chance."""
    chart = FIGURES["elicitation"](two)
    table = small_run(1).tables["elicitation_by_relation"]
    row = table.filter(relation="has", preface=True, over="sensible").row(0, named=True)
    ends = {"low": row["map_low"], "reference": row["chance_map"]}
    assert drawn(chart, relation="has", model="bert-base", value=row["map"], **ends)


def test_an_undefined_relation_has_a_dash_and_no_mark() -> None:
    """In the panel where it is undefined."""
    null = pl.when(relation="is").then(None).otherwise(pl.col("^spearman.*$")).name.keep()
    agreement = FOUND.tables["agreement"].with_columns(null)
    figure = svg(FIGURES["elicitation"](shown(agreement=agreement)))
    assert DASH in texts(figure)
    assert len([tip for tip in tips(figure) if ": Spearman's rho" in tip]) == 4


def test_the_ablation_shows_with_and_without(one: Shown) -> None:
    """In words, beside the difference."""
    chart = FIGURES["ablation"](one)
    table = FOUND.tables["ablation"]
    row = table.filter(relation="has a", measure="spearman").row(0, named=True)
    assert drawn(chart, relation="has a", value=row["difference"])
    assert {score(row["with_preface"]), score(row["without_preface"])} <= set(texts(svg(chart)))


def test_a_whole_sentences_probability_is_not_drawn() -> None:
    """Of a causal model in the wording sentence the one among the candidates stands for it."""
    found = small_run(wording="sentence")
    causal = Shown({"gpt2": found}, {}, HOUSE)
    table = found.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order=MAIN, n=4
    )
    for name in ("retrieval", "retrieval_orders", "retrieval_categories"):
        values = {held["value"] for held in rows(FIGURES[name](causal)) if held.get("value")}
        assert table["renormalised"][0] in values, name
    cells = [held for held in rows(FIGURES["retrieval_examples"](causal)) if "framed" in held]
    best = {held["text"].split(" ", 1)[1] for held in cells if held["column"] == "best"}
    top = found.tables["retrieval_top"].filter(place=1)
    assert best <= {percent(math.exp(one)) for one in top["renormalised"]}
    assert not best & {percent(math.exp(one)) for one in top["logprob"]}
