"""What the figures draw: the values, intervals and chance levels of the stored tables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tacit.charts.panels import DASH
from tacit.charts.shown import Shown
from tacit.charts.theme import Theme
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.probes.assumptions.examples import chosen
from tacit.probes.assumptions.figures import ALL, FIGURES
from tacit.probes.assumptions.tables import MAIN
from tests.probes.assumptions.findings_by_hand import CATEGORIES, Made
from tests.probes.drawing import rows, svg, texts, tips

MODELS = ("x/roberta-large", "x/bert-base", "x/gpt2")
FOUND = Made(skill=1).findings()


@pytest.fixture(scope="module")
def one() -> Shown:
    """One model."""
    return shown()


@pytest.fixture(scope="module")
def three() -> Shown:
    """Three models, one of them asked with the blank last."""
    found = {name: Made(seed, 1 - seed / 2).findings() for seed, name in enumerate(MODELS[:2])}
    return Shown({**found, MODELS[2]: Made(2, wording="blank-last").findings()}, {}, Theme())


def shown(**changed: pl.DataFrame | None) -> Shown:
    """One model whose tables are changed, or gone where None."""
    tables = {**FOUND.tables, **changed}
    held = {key: table for key, table in tables.items() if table is not None}
    return Shown({MODELS[0]: Findings(FOUND.questions, held, FOUND.summary)}, {}, Theme())


def by_number(**where: object) -> dict[str, Any]:
    """A row of ``retrieval_by_number``."""
    table = FOUND.tables["retrieval_by_number"]
    for column, value in where.items():
        table = table.filter(pl.col(column).eq_missing(pl.lit(value)))
    return table.row(0, named=True)


def drawn(chart: Any, **row: object) -> bool:  # noqa: ANN401 - a chart
    """Whether a mark's data have these values."""
    return any(row.items() <= held.items() for held in rows(chart))


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("retrieval_examples", ["retrieval_top"]),
        ("retrieval", ["retrieval_by_number"]),
        ("retrieval_categories", ["retrieval_by_number"]),
        ("retrieval_orders", ["retrieval_by_number"]),
        ("elicitation", ["elicitation_by_relation", "agreement"]),
        ("ablation", ["ablation"]),
        ("favoured", ["favoured"]),
    ],
)
def test_a_table_that_is_absent_or_empty_gives_no_figure(name: str, tables: list[str]) -> None:
    """Of every figure."""
    empty = {key: FOUND.tables[key].clear() for key in tables}
    assert FIGURES[name](shown(**dict.fromkeys(tables))) is None
    assert FIGURES[name](shown(**empty)) is None


def test_one_order_alone_is_no_figure_3b(one: Shown) -> None:
    """Nor is a run without categories a Figure 3a."""
    table = one.table("retrieval_by_number")
    assert table is not None
    bare = shown(
        retrieval_by_number=table.drop("model").filter(pl.col("category").is_null(), order=MAIN)
    )
    assert FIGURES["retrieval_orders"](bare) is None
    assert FIGURES["retrieval_categories"](bare) is None
    assert FIGURES["retrieval"](bare) is not None


def test_curves_are_the_measures(one: Shown) -> None:
    """Value and band of each point."""
    row = by_number(order=MAIN, category=None, n=4)
    for measure in ("mrr", "probability", "renormalised"):
        ends = {end: row[f"{measure}_{end}"] for end in ("low", "high")}
        assert drawn(FIGURES["retrieval"](one), n=4, value=row[measure], **ends)


def test_models_asked_in_different_wordings_say_which(three: Shown) -> None:
    """Behind their names in the legend."""
    held = texts(svg(FIGURES["retrieval"](three)))
    assert {"roberta-large (sentence)", "bert-base (sentence)", "gpt2 (blank-last)"} <= set(held)


def test_what_is_undefined_has_no_mark() -> None:
    """No point at 0 stands for a null."""
    table = FOUND.tables["retrieval_by_number"]
    names = [name for name in table.columns if name.split("_")[0] in {"mrr", "probability"}]
    null = pl.when(pl.col("n") == 7).then(None).otherwise(pl.col(names)).name.keep()
    chart = FIGURES["retrieval"](shown(retrieval_by_number=table.with_columns(null)))
    points = {row["n"] for row in rows(chart) if row.get("value") is not None}
    assert points == {1, 2, 3, 4, 5, 6, 8, 9, 10}


def test_categories_state_how_many_concepts_each_point_rests_on(one: Shown) -> None:
    """At each number of properties, where a category has some."""
    chart = FIGURES["retrieval_categories"](one)
    counts = {
        (row["row"], int(row["column"])): row["text"] for row in rows(chart) if "column" in row
    }
    for category, most in CATEGORIES.items():
        for n in range(1, most + 1):
            assert counts[category, n] == str(
                by_number(order=MAIN, category=category, n=n)["concepts"]
            )
        assert (category, most + 1) not in counts
    assert counts[ALL, 10] == "15"


def test_only_random_has_a_band_among_the_orders(one: Shown) -> None:
    """The orders' lines cross, so that five bands would hide one another."""
    chart = FIGURES["retrieval_orders"](one)
    assert svg(chart).count('class="mark-area role-mark') == 2
    row = by_number(order="random", category=None, n=3)
    assert drawn(chart, series="random", n=3, value=row["mrr"], low=row["mrr_low"])


@pytest.mark.parametrize("bear", [True, False])
def test_chosen_concepts_stand_at_their_percentiles(bear: bool) -> None:  # noqa: FBT001 - a test's parameter
    """Of five the second best, the middle and the second worst; the paper's first if ranked."""
    ranks = {"a": 5, "b": 1, "c": 4, "d": 2, "e": 3, "bear": 9 if bear else None}
    table = pl.DataFrame(
        [(name, "m", rank) for name, rank in ranks.items()], ["concept", "of", "rank"], orient="row"
    )
    expected = ["bear", "d", "c", "a"] if bear else ["d", "e", "c"]
    assert chosen(table, (0.75, 0.5, 0.25)) == expected


def test_examples_hold_the_best_candidates_and_mark_the_concept(one: Shown) -> None:
    """With their probabilities, in the row of the property that was added."""
    chart = FIGURES["retrieval_examples"](one)
    for row in FOUND.tables["retrieval_top"].filter(concept="bear", n=2).iter_rows(named=True):
        text = f"{row['word']} {percent(math.exp(row['logprob']))}"
        column = "best" if row["place"] == 1 else f"{row['place']}."
        framed = row["word"] == "bear"
        assert drawn(chart, row="2. + is big", column=column, text=text, framed=framed)
    assert drawn(chart, row="1. has fur", column="rank")


def test_elicitation_stands_as_measured(three: Shown) -> None:
    """A lane per model and relation with value, interval and chance."""
    chart = FIGURES["elicitation"](three)
    table = three.found[MODELS[1]].tables["elicitation_by_relation"]
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


def test_favoured_words_are_the_most_frequent_top_candidates(one: Shown) -> None:
    """At most five of a relation, with the share in which they were right."""
    chart = FIGURES["favoured"](one)
    table = FOUND.tables["favoured"].filter(preface=True)
    best = table.filter(relation="has").row(0, named=True)
    assert drawn(
        chart, label=best["word"], value=best["share"], reference=best["right"] / best["prompts"]
    )
    held = [row for row in rows(chart) if "reference" in row and "text" not in row]
    for relation in ("is", "made of"):
        words = {row["word"] for row in held if row["relation"] == relation}
        assert len(words) == min(5, table.filter(pl.col("first") > 0, relation=relation).height)


@pytest.mark.parametrize("name", ["retrieval", "retrieval_categories", "retrieval_orders"])
def test_chance_is_drawn_beside_the_ranks(one: Shown, name: str) -> None:
    """At the level of the table."""
    levels = {held["chance"] for held in rows(FIGURES[name](one)) if held.get("chance") is not None}
    chance = by_number(order=MAIN, category=None, n=4)["chance_mrr"]
    assert {round(level, 12) for level in levels} == {round(chance, 12)}


def test_a_whole_sentences_probability_is_not_drawn() -> None:
    """Of a causal model in the wording sentence the one among the candidates stands for it."""
    found = Made(kind="causal").findings()
    examples = {
        name: found.tables[name].with_columns(pl.col("logprob") - 292)
        for name in ("retrieval", "retrieval_top")
    }
    causal = Shown({"gpt2": replace(found, tables={**found.tables, **examples})}, {}, Theme())
    table = found.tables["retrieval_by_number"].filter(
        pl.col("category").is_null(), order=MAIN, n=4
    )
    for name in ("retrieval", "retrieval_orders", "retrieval_categories"):
        values = {held["value"] for held in rows(FIGURES[name](causal)) if held.get("value")}
        assert table["renormalised"][0] in values, name
        assert min(values) > 1e-6, name
    cells = [held for held in rows(FIGURES["retrieval_examples"](causal)) if "framed" in held]
    best = {held["text"].split(" ", 1)[1] for held in cells if held["column"] == "best"}
    assert best == {percent(0.48 * math.exp(0.1))}
