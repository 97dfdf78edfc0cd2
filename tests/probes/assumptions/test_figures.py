from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.charts.panels import DASH
from tacit.charts.shown import Shown
from tacit.charts.theme import PALETTES, Theme
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.probes.assumptions.captions import by_wording
from tacit.probes.assumptions.examples import chosen, phrases
from tacit.probes.assumptions.figures import ALL, FIGURES
from tacit.probes.assumptions.tables import MAIN
from tacit.probes.assumptions.wording import joined
from tests.probes.assumptions.findings_by_hand import CATEGORIES, PROPERTIES, Made
from tests.probes.drawing import joined_text, rows, svg, texts, tips, write_figures

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ("x/roberta-large", "x/bert-base", "x/gpt2")


@pytest.fixture(scope="module")
def one() -> Shown:
    """One model."""
    return shown(MODELS[0])


@pytest.fixture(scope="module")
def three() -> Shown:
    """Three models, one of them asked with the blank last."""
    found = {name: Made(seed, 1 - seed / 2).findings() for seed, name in enumerate(MODELS[:2])}
    return Shown({**found, MODELS[2]: Made(2, wording="blank-last").findings()}, {}, Theme())


def shown(name: str, **changed: pl.DataFrame | None) -> Shown:
    """One model whose tables are changed, or gone where None."""
    found = Made(skill=1).findings()
    tables = {**found.tables, **changed}
    held = {key: table for key, table in tables.items() if table is not None}
    return Shown({name: Findings(found.questions, held, found.summary)}, {}, Theme())


def by_number(shown: Shown, **where: object) -> dict[str, Any]:
    """The one row of ``retrieval_by_number`` of the first model."""
    table = next(iter(shown.found.values())).tables["retrieval_by_number"]
    for column, value in where.items():
        table = table.filter(pl.col(column).eq_missing(pl.lit(value)))
    return table.row(0, named=True)


@pytest.mark.slow
def test_every_figure_is_written_and_names_the_models(tmp_path: Path, three: Shown) -> None:
    """Under its own name; in the palette for the colour-blind."""
    found = {name: three.found[name] for name in MODELS[1:]}
    files = write_figures(FIGURES, found, tmp_path / "new", ("svg",), Theme("okabe-ito"))
    # These models have no size.
    assert [file.stem for file in files] == [name for name in FIGURES if name != "size_of_models"]
    for file in files:
        figure = file.read_text()
        assert all(label in joined_text(figure) for label in ("bert-base", "gpt2")), file.stem
        assert not {hue for hue in PALETTES["house"].series if hue in figure}, file.stem


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
    empty = {key: Made().findings().tables[key].clear() for key in tables}
    assert FIGURES[name](shown("m", **dict.fromkeys(tables))) is None
    assert FIGURES[name](shown("m", **empty)) is None


def test_one_order_alone_is_no_figure_3b(one: Shown) -> None:
    """Nor is a run without categories a Figure 3a."""
    table = one.table("retrieval_by_number")
    assert table is not None
    main = table.drop("model").filter(pl.col("category").is_null(), order=MAIN)
    bare = shown("m", retrieval_by_number=main)
    assert FIGURES["retrieval_orders"](bare) is None
    assert FIGURES["retrieval_categories"](bare) is None
    assert FIGURES["retrieval"](bare) is not None


def test_curves_are_the_measures(one: Shown) -> None:
    """Value and band of each point; the concepts that could not be written are told."""
    chart = FIGURES["retrieval"](one)
    row = by_number(one, order="top-decreasing", category=None, n=4)
    for measure in ("mrr", "probability", "renormalised"):
        point = {"n": 4, "value": row[measure]} | {
            end: row[f"{measure}_{end}"] for end in ("low", "high")
        }
        assert any(point.items() <= held.items() for held in rows(chart))
    words = joined_text(svg(chart))
    assert "n = 15 concepts without 1 whose words cannot be encoded by the tokenizer" in words
    assert "95 % CIs (percentile bootstrap, 2,000 resamples, clustered by concept)" in words
    assert "wording of the prompts: “sentence” (A ___ has fur)" in words


def test_models_asked_in_different_wordings_say_which(three: Shown) -> None:
    """Behind their names in the legend."""
    held = texts(svg(FIGURES["retrieval"](three)))
    assert {"roberta-large (sentence)", "bert-base (sentence)", "gpt2 (blank-last)"} <= set(held)


def test_what_is_undefined_has_no_mark() -> None:
    """No point at 0 stands for a null."""
    table = Made().findings().tables["retrieval_by_number"]
    names = [name for name in table.columns if name.split("_")[0] in {"mrr", "probability"}]
    null = pl.when(pl.col("n") == 7).then(None).otherwise(pl.col(names)).name.keep()
    chart = FIGURES["retrieval"](shown("m", retrieval_by_number=table.with_columns(null)))
    held = [row for row in rows(chart) if "value" in row]
    assert {row["n"] for row in held if row["value"] is not None} >= {6, 8}
    figure = svg(chart)
    assert not [tip for tip in tips(figure) if "properties = 7," in tip and "mean recip" in tip]
    assert len([tip for tip in tips(figure) if "mean reciprocal" in tip]) == 9


def test_categories_state_how_many_concepts_each_point_rests_on(one: Shown) -> None:
    """At each number of properties, where a category has some."""
    chart = FIGURES["retrieval_categories"](one)
    counts = {
        (row["series"], int(row["column"])): row["text"] for row in rows(chart) if "column" in row
    }
    for category, most in CATEGORIES.items():
        for n in range(1, most + 1):
            row = by_number(one, order="top-decreasing", category=category, n=n)
            assert counts[category, n] == str(row["concepts"])
        assert (category, most + 1) not in counts
    assert counts[ALL, 10] == "15"
    assert {*CATEGORIES, ALL} <= set(texts(svg(chart)))


def test_only_random_has_a_band_among_the_orders(one: Shown) -> None:
    """The orders' lines cross, so that five bands would hide one another."""
    chart = FIGURES["retrieval_orders"](one)
    figure = svg(chart)
    bands = re.findall(r'class="mark-area role-mark[^"]*"', figure)
    assert len(bands) == 2
    row = by_number(one, order="random", category=None, n=3)
    point = {"series": "random", "n": 3, "value": row["mrr"], "low": row["mrr_low"]}
    assert any(point.items() <= held.items() for held in rows(chart))


def test_axes_are_the_same_for_all_models(three: Shown) -> None:
    """So that rows of panels can be compared by eye."""
    chart = FIGURES["retrieval_orders"](three)
    assert chart is not None
    found = re.findall(r"'domain': \[0\.0, ([\d.]+)\]", str(chart.to_dict()))
    assert len(set(found)) <= 2


def test_the_papers_bear_is_first_when_it_is_there(one: Shown) -> None:
    """Then concepts at stated percentiles; without bear those alone."""
    words = joined_text(svg(FIGURES["retrieval_examples"](one)))
    headings = re.findall(r"(\S+(?: \(as \w+\))?): roberta-large", words)
    assert headings[0] == "bear"
    assert len(headings) == 4
    table = one.table("retrieval")
    assert table is not None
    table = by_wording(table.filter(pl.col("category").is_null(), order="top-decreasing"))
    names, how = chosen(table.filter(pl.col("concept") != "bear"))
    assert "bear" not in names
    assert how == (
        "at the 75th, 50th, 25th percentile of 14 concepts ranked by their mean reciprocal rank"
    )


def test_chosen_concepts_stand_at_their_percentiles() -> None:
    """Of five concepts the second best, the middle one and the second worst."""
    ranks = {"a": 5, "b": 1, "c": 4, "d": 2, "e": 3, "never": None}
    table = pl.DataFrame(
        [(name, "m", rank) for name, rank in ranks.items()], ["concept", "of", "rank"], orient="row"
    )
    assert chosen(table)[0] == ["d", "e", "c"]


def test_examples_hold_the_best_candidates_and_mark_the_concept(one: Shown) -> None:
    """With their probabilities; the concept's rank and probability stand at the right."""
    chart = FIGURES["retrieval_examples"](one)
    top = next(iter(one.found.values())).tables["retrieval_top"].filter(concept="bear", n=2)
    held = [row for row in rows(chart) if row.get("row") == "2. + is big"]
    for row in top.iter_rows(named=True):
        told = f"{row['word']} {percent(math.exp(row['logprob']))}"
        column = "best" if row["place"] == 1 else f"{row['place']}."
        cell = {"column": column, "text": told, "framed": row["word"] == "bear"}
        assert any(cell.items() <= each.items() for each in held)
    assert {"2. + is big", "1. has fur", "rank"} <= set(texts(svg(chart)))


def test_a_concept_that_was_never_ranked_is_no_example() -> None:
    """Not even when it is the paper's."""
    bear = pl.DataFrame({"concept": ["bear"], "of": ["m"]}).with_columns(
        rank=pl.lit(None, pl.Int32)
    )
    assert chosen(bear)[0] == []


@given(st.lists(st.sampled_from(PROPERTIES), min_size=1, max_size=10, unique=True))
def test_what_a_prompt_adds_is_the_property_that_was_added(properties: list[str]) -> None:
    """In both wordings, whatever the properties."""
    said = [joined(properties[:n]) for n in range(1, len(properties) + 1)]
    steps = [f"+ {each}" if at else each for at, each in enumerate(properties)]
    assert phrases([f"A ___ {each}." for each in said], "sentence") == steps
    asked = [f"Something that {each} is called an ___" for each in said]
    assert phrases(asked, "blank-last") == steps


def test_texts_of_another_form_are_shown_whole() -> None:
    """So that no property is made up."""
    texts = ["A ___ has fur.", "A ___ is big, has fur, and eats."]
    assert phrases(texts, "sentence") == texts
    assert phrases(["Which has fur?"], "own") == ["Which has fur?"]


def test_elicitation_stands_as_measured(three: Shown) -> None:
    """A lane per model and relation with value, interval and n; what was left out is told."""
    chart = FIGURES["elicitation"](three)
    table = three.found[MODELS[1]].tables["elicitation_by_relation"]
    row = table.filter(relation="has", preface=True, over="sensible").row(0, named=True)
    lane = {"relation": "has", "model": "bert-base", "value": row["map"], "low": row["map_low"]}
    assert any(lane.items() <= held.items() for held in rows(chart))
    words = joined_text(svg(chart))
    assert "16 with the candidates “vocabulary”, 16 with the candidates “sensible”" in words
    assert (
        "prompts with the preface “Everyone knows that”; wording “sentence”: roberta-large and "
        "bert-base"
    ) in words
    assert "wording “blank-last”: gpt2" in words


def test_elicitation_without_the_preface_says_so() -> None:
    """Where a run has nothing else."""
    found = {"m": Made(prefaces=(False,)).findings()}
    words = joined_text(svg(FIGURES["elicitation"](Shown(found, {}, Theme()))))
    assert "prompts without the preface “Everyone knows that”" in words
    assert FIGURES["ablation"](Shown(found, {}, Theme())) is None


@pytest.mark.slow
def test_an_undefined_relation_has_a_dash_and_no_mark() -> None:
    """In the panel where it is undefined."""
    table = Made().findings().tables["agreement"]
    null = pl.when(relation="is").then(None).otherwise(pl.col("^spearman.*$")).name.keep()
    chart = FIGURES["elicitation"](shown("m", agreement=table.with_columns(null)))
    figure = svg(chart)
    assert DASH in texts(figure)
    assert not [tip for tip in tips(figure) if tip.startswith("is, m: Spearman")]
    assert len([tip for tip in tips(figure) if ": Spearman's rho" in tip]) == 4


def test_the_ablation_shows_with_and_without(one: Shown) -> None:
    """In words, beside the difference with its interval."""
    chart = FIGURES["ablation"](one)
    table = next(iter(one.found.values())).tables["ablation"]
    row = table.filter(relation="has a", measure="spearman").row(0, named=True)
    gain = {"relation": "has a", "value": row["difference"]}
    assert any(gain.items() <= held.items() for held in rows(chart))
    assert {score(row["with_preface"]), score(row["without_preface"])} <= set(texts(svg(chart)))


def test_favoured_words_are_the_most_frequent_top_candidates(one: Shown) -> None:
    """At most five of a relation; how often they were right is told."""
    held = [
        row for row in rows(FIGURES["favoured"](one)) if "reference" in row and "text" not in row
    ]
    table = next(iter(one.found.values())).tables["favoured"].filter(preface=True)
    best = table.filter(relation="has").head(1).row(0, named=True)
    told = {"label": best["word"], "value": best["share"]}
    told["reference"] = best["right"] / best["prompts"]
    assert any(told.items() <= row.items() for row in held)
    for relation in ("is", "made of"):
        words = {row["word"] for row in held if row["relation"] == relation}
        assert len(words) == min(5, table.filter(pl.col("first") > 0, relation=relation).height)


@pytest.mark.slow
def test_chance_is_drawn_beside_the_ranks_and_told(one: Shown) -> None:
    """A dotted line in the panel of reciprocal ranks alone; the caption has the number of words."""
    row = by_number(one, order="top-decreasing", category=None, n=4)
    for name in ("retrieval", "retrieval_categories", "retrieval_orders"):
        chart = FIGURES[name](one)
        levels = {held["chance"] for held in rows(chart) if held.get("chance") is not None}
        assert {round(level, 12) for level in levels} == {round(row["chance_mrr"], 12)}, name
        words = joined_text(svg(chart))
        assert (
            "dotted line: chance level of the mean reciprocal rank, 0.001 among 19,998 candidates"
            in words
        )
    words = joined_text(svg(FIGURES["elicitation"](one)))
    assert "chance level of the mAP: " in words
    assert "with the candidates “vocabulary” (20,000 words per relation); " in words
    assert "ranks are among 19,998 candidates" in joined_text(
        svg(FIGURES["retrieval_examples"](one))
    )


@pytest.mark.slow
def test_a_whole_sentences_probability_is_not_drawn() -> None:
    """Of a causal model in the wording sentence the one among the candidates stands for it."""
    found = Made(kind="causal").findings()
    examples = {
        name: found.tables[name].with_columns(pl.col("logprob") - 292)
        for name in ("retrieval", "retrieval_top")
    }
    tables = {**found.tables, **examples}
    causal = Shown({"gpt2": replace(found, tables=tables)}, {}, Theme())
    row = by_number(causal, order="top-decreasing", category=None, n=4)
    for name in ("retrieval", "retrieval_orders", "retrieval_categories"):
        values = {held["value"] for held in rows(FIGURES[name](causal)) if held.get("value")}
        assert row["renormalised"] in values, name
        assert min(values) > 1e-6, name
    held = joined_text(svg(FIGURES["retrieval"](causal)))
    assert "b) probability among the candidates" in held
    cells = [held for held in rows(FIGURES["retrieval_examples"](causal)) if "framed" in held]
    best = {held["text"].split(" ", 1)[1] for held in cells if held["column"] == "best"}
    assert best == {percent(0.48 * math.exp(0.1))}
