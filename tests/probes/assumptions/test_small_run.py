"""What runs on small norms show: figures with the values of stored tables, details, verdicts."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from wordfreq import zipf_frequency

from tacit.charts.panels import DASH
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Verdict
from tacit.probes.assumptions import MAIN
from tacit.probes.assumptions.block import standing
from tacit.probes.assumptions.examples import chosen
from tacit.probes.assumptions.figures import ALL, FIGURES
from tacit.probes.assumptions.probe import Assumptions
from tacit.requests import Prompt
from tests.probes.assumptions.made_up import CONCEPTS, noise, small_run
from tests.probes.drawing import rows, svg, texts, tips


@pytest.fixture
def found() -> Findings:
    return small_run()


@pytest.fixture
def one() -> Shown:
    return shown()


def shown(**changed: pl.DataFrame) -> Shown:
    run = small_run()
    found = Findings(run.questions, {**run.tables, **changed}, run.summary)
    return Shown({"x/roberta-large": found}, {}, HOUSE)


def drawn(chart: Any, **row: object) -> bool:  # noqa: ANN401 - a chart
    return any(row.items() <= held.items() for held in rows(chart))


def test_one_order_alone_is_no_figure_3b(found: Findings) -> None:
    table = found.tables["retrieval_by_number"]
    bare = shown(retrieval_by_number=table.filter(pl.col("category").is_null(), order=MAIN))
    assert FIGURES["retrieval_orders"](bare) is None
    assert FIGURES["retrieval_categories"](bare) is None
    assert FIGURES["retrieval"](bare) is not None


def test_curves_are_the_measures(one: Shown, found: Findings) -> None:
    """Value and band of each point, and chance beside the ranks; of the orders only random has one.

    The orders' lines cross, so that five bands would hide one another.
    """
    four = found.tables["retrieval_by_number"].filter(pl.col("category").is_null(), n=4)
    row = four.row(by_predicate=pl.col("order") == MAIN, named=True)
    for measure in ("mrr", "probability", "renormalised"):
        ends = {end: row[f"{measure}_{end}"] for end in ("low", "high")}
        assert drawn(FIGURES["retrieval"](one), n=4, value=row[measure], **ends)
    orders = FIGURES["retrieval_orders"](one)
    assert svg(orders).count('class="mark-area role-mark') == 2
    random = four.row(by_predicate=pl.col("order") == "random", named=True)
    assert drawn(orders, series="random", n=4, value=random["mrr"], low=random["mrr_low"])
    for name in ("retrieval", "retrieval_categories", "retrieval_orders"):
        held = [held["chance"] for held in rows(FIGURES[name](one)) if held.get("chance")]
        assert {round(level, 12) for level in held} == {round(row["chance_mrr"], 12)}


def test_what_is_undefined_has_no_mark(found: Findings) -> None:
    """No point at 0 stands for a null, and a relation has a dash in its panel."""
    names = pl.col("^(mrr|probability)(_low|_high)?$")
    null = pl.when(pl.col("n") == 7).then(None).otherwise(names).name.keep()
    table = found.tables["retrieval_by_number"].with_columns(null)
    chart = FIGURES["retrieval"](shown(retrieval_by_number=table))
    points = {row["n"] for row in rows(chart) if row.get("value") is not None}
    assert points == {1, 2, 3, 4, 5, 6, 8, 9, 10}
    null = pl.when(relation="is").then(None).otherwise(pl.col("^spearman.*$")).name.keep()
    agreement = found.tables["agreement"].with_columns(null)
    figure = svg(FIGURES["elicitation"](shown(agreement=agreement)))
    assert DASH in texts(figure)
    assert len([tip for tip in tips(figure) if ": Spearman's rho" in tip]) == 4


def test_categories_state_how_many_concepts_each_point_rests_on(
    one: Shown, found: Findings
) -> None:
    """At each number of properties, where a category has some."""
    chart = FIGURES["retrieval_categories"](one)
    counts = {
        (row["row"], int(row["column"])): row["text"] for row in rows(chart) if "column" in row
    }
    table = found.tables["retrieval_by_number"].filter(order=MAIN)
    known = table.select(pl.col("category").fill_null(ALL), "n", "concepts").rows()
    assert counts == {(category, n): str(concepts) for category, n, concepts in known}
    assert len(set(counts.values())) > 1


@pytest.mark.parametrize("bear", [True, False])
def test_the_example_is_the_papers_or_the_median(bear: bool) -> None:  # noqa: FBT001 - a test's parameter
    ranks = {"a": 5, "b": 1, "c": 4, "d": 2, "e": 3, "bear": 9 if bear else None}
    table = pl.DataFrame(
        [(name, "m", rank) for name, rank in ranks.items()], ["concept", "of", "rank"], orient="row"
    )
    assert chosen(table) == ("bear" if bear else "e")


def test_examples_hold_the_best_candidates_and_mark_the_concept(
    one: Shown, found: Findings
) -> None:
    """With their probabilities, in the row of the property that was added."""
    chart = FIGURES["retrieval_examples"](one)
    best = found.tables["retrieval_top"].filter(pl.col("place") <= 5, concept="bear", n=4)
    assert "bear" in best["word"]
    for row in best.iter_rows(named=True):
        text = f"{row['word']} {percent(math.exp(row['logprob']))}"
        column = "best" if row["place"] == 1 else f"{row['place']}."
        framed = row["word"] == "bear"
        assert drawn(chart, row="4. + is made of metal", column=column, text=text, framed=framed)
    assert drawn(chart, row="1. is found near a wolf", column="rank")


def test_two_models_one_of_them_asked_with_the_blank_last() -> None:
    """A lane per model and relation with value, interval and chance; the legend has the wording."""
    masked, causal = small_run(orders="main"), small_run(wording="blank-last", orders="main")
    two = Shown({"x/bert-base": masked, "x/gpt2": causal}, {}, HOUSE)
    held = texts(svg(FIGURES["retrieval"](two)))
    assert {"bert-base (sentence)", "gpt2 (blank-last)"} <= set(held)
    chart = FIGURES["elicitation"](two)
    table = masked.tables["elicitation_by_relation"]
    row = table.filter(relation="has", preface=True, over="sensible").row(0, named=True)
    ends = {"low": row["map_low"], "reference": row["chance_map"]}
    assert drawn(chart, relation="has", model="bert-base", value=row["map"], **ends)


def test_the_ablation_shows_with_and_without(one: Shown, found: Findings) -> None:
    chart = FIGURES["ablation"](one)
    table = found.tables["ablation"]
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


def test_behind_a_concept_are_its_prompts_and_its_ranks(found: Findings) -> None:
    """As the findings have them; of too many rows a sample, which the table says."""
    whole, some = (
        {view.spec.name: view for view in Assumptions.details(found, {}, most)}
        for most in (10**6, 2_000)
    )
    for view in whole.values():
        assert view.spec.in_table(view.table)
        for name in view.opens:
            assert whole[name].behind == view.key
            assert view.key in whole[name].table.columns
    behind = ("retrieval", "retrieval-top", "elicitation", "elicitation-top")
    assert whole["concepts"].opens == behind
    row = whole["concepts"].table.row(by_predicate=pl.col("concept") == "bear", named=True)
    main = found.tables["retrieval"].filter(
        pl.col("category").is_null(), order="top-decreasing", concept="bear"
    )
    for n in (1, 4, 10):
        assert row[f"rank_{n}"] == main.filter(n=n)["rank"][0]
    assert some["concepts"].table.height < 16
    assert "sample" in some["concepts"].spec.reading
    assert set(some["retrieval"].table["concept"]) == set(some["concepts"].table["concept"])


def knowing(prompt: Prompt, answer: str, seed: int) -> float:
    if answer in CONCEPTS and f"near a {CONCEPTS[CONCEPTS.index(answer) - 1]}" in prompt.text:
        return 1
    return noise(prompt, answer, seed)


def frequent(_: Prompt, answer: str, seed: int) -> float:  # noqa: ARG001 - a model's
    return zipf_frequency(answer, "en") - 9


@pytest.mark.parametrize(
    ("says", "options", "verdict"),
    [
        (noise, {}, "no signal"),
        (frequent, {}, "constant"),
        (knowing, {}, "clear"),
        (knowing, {"limit": 9}, "too few data"),
    ],
)
def test_the_verdict_on_models_by_hand(
    says: Callable[..., float], options: dict[str, Any], verdict: str
) -> None:
    findings = small_run(says=says, orders="main", **options)
    of = Verdict.of(findings.summary["verdict"])
    assert of.name == verdict
    assert Assumptions.block(findings).verdict == of


def test_the_top_prediction_and_the_frequency_baseline() -> None:
    """Counted over the main prompts; the rank by frequency as a model's own would be."""
    findings = small_run(orders="main")
    main = findings.tables["retrieval"].filter(pl.col("category").is_null())
    best = findings.tables["retrieval_top"].filter(place=1)
    ((word, count),) = Counter(best["word"]).most_common(1)
    top = findings.summary["top_prediction"]
    assert top["share"] == count / main.height == Counter(best["word"])[top["word"]] / top["n"]
    assert count == Counter(best["word"])[word]
    by_frequency = small_run(says=frequent, orders="main").tables["retrieval"]
    by_frequency = by_frequency.filter(pl.col("category").is_null(), n=10)
    expected = float((1 / by_frequency["rank"]).to_numpy().mean())
    assert findings.summary["frequency_mrr"] == pytest.approx(expected)


def test_ranks_that_frequency_explains_are_weak() -> None:
    """Here the candidates are the concepts alone, and frequency reaches more than the interval."""
    tables = dict(small_run(says=knowing, orders="main").tables)
    word = pl.col("word").is_in(tables["retrieval"]["word"].implode())
    tables["vocabulary"] = tables["vocabulary"].with_columns(candidate=word)
    rows = tables["retrieval_by_number"]
    low, chance = pl.col("mrr_low"), pl.col("chance_mrr")
    for ends, verdict in (((0.5, 0.9), "clear"), ((0.01, 0.2), "weak")):
        bounds = {"mrr": pl.lit(0.1), "mrr_low": chance + ends[0], "mrr_high": pl.lit(ends[1])}
        tables["retrieval_by_number"] = rows.with_columns(**bounds)
        assert (tables["retrieval_by_number"].select((low > chance).all())).item()
        assert standing(tables)["verdict"]["verdict"] == verdict


def test_a_fast_run_asks_the_main_order_with_the_preface() -> None:
    """And says so; the ablation of the preface is empty."""
    findings = small_run(fast=True)
    assert set(findings.tables["retrieval"]["order"]) == {"top-decreasing"}
    assert set(findings.tables["elicitation"]["preface"]) == {True}
    assert findings.tables["ablation"].is_empty()
    findings.check(Assumptions.tables.values())
    assert "fast" in findings.summary
    assert "fast" not in small_run().summary
