from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.charts.shown import Shown
from tacit.charts.theme import PALETTES, Theme, mixed
from tacit.findings.findings import Findings
from tacit.probes.consistency.figures import FIGURES
from tacit.probes.consistency.tables import TABLES
from tacit.statistics import Bootstrap
from tests.peers.test_consistency_measures import findings as anchors_of
from tests.peers.test_consistency_measures import made
from tests.probes.drawing import drawn, joined_text, rows, rules, svg, texts, tips, write_figures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.probes.consistency.run_by_hand import Run

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
PAIRS = ("Yes/No", "True/False")
HOW = {"level": 0.95, "seed": 0, "clusters": "question concept"}
INTERVALS = {
    "consistency": {"method": "studentised permutations", "permutations": 5000, **HOW},
    "others": {"method": "percentile bootstrap", "resamples": 2000, **HOW},
    "background_by_relation": {
        "method": "percentile bootstrap",
        "resamples": 2000,
        **HOW,
        "clusters": "first concept of the fact",
    },
}
SUBSET = (
    *("name", "n", "consistency", "chance", "lift"),
    *("lift_low", "lift_high", "p_corrected", "smallest_lift"),
)
RELATIONS = (
    ("IsA", 30, 0.5, 0.4, 1 / 6, -0.1, 0.5, 0.04, 0.3),
    ("FormOf", 2, 1.0, 0.75, 1.0, None, None, 0.5, None),
    ("HasA", 120, 0.3, 0.4, -1 / 6, -0.3, 0.1, 0.0002, 0.15),
    ("Causes", 7, None, None, None, None, None, None, None),
)
OF_RELATION = (
    "relation",
    "facts",
    *TABLES["background_by_relation"].column("background_score").names,
)
KNOWN = (
    ("Causes", 9, 0.5, 0.4, 0.6),
    ("FormOf", 2, 0.875, None, None),
    ("HasA", 200, 0.6, 0.55, 0.65),
    ("IsA", 40, 0.7, 0.5, 0.9),
)


def findings(shift: float = 0.0, **other: pl.DataFrame) -> Findings:
    """Findings as the probe gives them; consistency and accuracies are moved by ``shift``."""
    whole = ("all", 150, 0.45 + shift, 0.4, shift, shift - 0.1, shift + 0.2, 0.0123, 0.12)
    single = [
        ("single", meta, pair, 150, 0.5 + meta / 10, 0.25, 0.375 + meta / 20 + shift)
        for meta in (5, 6)
        for pair in PAIRS
    ]
    ways = [
        (preset, None, None, 150, 0.75 + shift, 0.5 - shift, 0.625)
        for preset in ("max", "count", "calibrated")
    ]
    accuracy = ("positive_accuracy", "negative_accuracy", "background_score")
    background = TABLES["background_score"].column("value").names
    accuracies = TABLES["anchor_accuracy"].column("value").names
    baselines = TABLES["anchor_baselines"].column("accuracy").names
    tables = {
        "consistency": table([whole], SUBSET),
        "consistency_by_relation": table(RELATIONS, SUBSET),
        "consistency_by_concept": table(RELATIONS[:1], SUBSET),
        "background_by_relation": table(KNOWN, OF_RELATION),
        "background_variants": table([*ways, *single], ("preset", "meta", "pair", "n", *accuracy)),
        "background_score": table([(4, 0.6, 0.35, 0.85)], ("relations", *background)),
        "anchor_accuracy": table(
            [("all", 160, 0.5 + shift, 0.4, 0.75), ("with facts", 150, 0.99, 0.98, 1.0)],
            ("of", "n", *accuracies),
        ),
        "anchor_baselines": table(
            [("model", 160, 0.5, 0.4, 0.6), ("random", 160, 0.35, None, None)],
            ("baseline", "n", *baselines),
        ),
        "controls": table(
            [("whole background", 150, shift, shift - 0.1, shift + 0.2)],
            ("background", "n", "lift", "lift_low", "lift_high"),
        ),
    }
    summary = {"intervals": INTERVALS}
    return Findings(pl.DataFrame(), {**tables, **other}, summary)


def table(rows: Any, names: tuple[str, ...]) -> pl.DataFrame:  # noqa: ANN401 - rows of anything
    return pl.DataFrame(list(rows), names, orient="row", infer_schema_length=None)


def shown(*names: str, sizes: Mapping[str, int | None] | None = None, **other: Any) -> Shown:  # noqa: ANN401 - tables
    found = {name: findings(at / 20, **other) for at, name in enumerate(names)}
    return Shown(found, sizes or {}, Theme())


OPT = {"x/opt-125m": 125_000_000, "x/opt-1.3b": 1_300_000_000}
SIZES: dict[str, int | None] = {"y/gpt2": 124_000_000, "server": None, **OPT}


def test_consistency_stands_beside_its_chance_level_and_lift() -> None:
    """As they are in the table; written with n, lift and p."""
    chart = FIGURES["consistency"](shown("one", "two"))
    held = rows(chart)
    for at, model in enumerate(("one", "two")):
        value = {"label": model, "value": 0.45 + at / 20, "reference": 0.4}
        lift = {"label": model, "value": at / 20, "low": at / 20 - 0.1, "high": at / 20 + 0.2}
        assert any(value.items() <= row.items() for row in held)
        assert any((lift | {"reference": 0.12}).items() <= row.items() for row in held)
    figure = svg(chart)
    assert {"0.450", "0.500", "150", "0.000", "0.050", "0.012"} <= set(texts(figure))
    # Two intervals of the lift and the line at 0.
    assert rules(figure) == 3


def test_an_undefined_consistency_has_no_mark() -> None:
    """A dash stands for it."""
    empty = (
        findings()
        .tables["consistency"]
        .with_columns(pl.lit(None, pl.Float64).alias(name) for name in SUBSET[2:])
    )
    both = {"good": findings(), "bad": findings(consistency=empty)}
    figure = svg(FIGURES["consistency"](Shown(both, {}, Theme())))
    assert texts(figure).count(DASH) == 3
    assert not any(tip.startswith("bad") for tip in tips(figure))
    by_size = Shown(both, {"good": 10**6, "bad": 10**8}, Theme())
    assert not any(tip.startswith("bad") for tip in tips(svg(FIGURES["consistency"](by_size))))


def test_models_stand_at_their_size() -> None:
    """On a logarithmic axis, each with its own colour and shape; one family is joined."""
    models = shown(*OPT, "y/gpt2", sizes=SIZES)
    chart = drawn(FIGURES["consistency"](models))
    assert "'type': 'log'" in str(chart.to_dict())
    at = {row["label"]: row["parameters"] for row in rows(chart) if "parameters" in row}
    assert at == {"gpt2": 124_000_000, "opt-125m": 125_000_000, "opt-1.3b": 1_300_000_000}
    figure = svg(chart)
    for name in at:
        assert texts(figure).count(name) == 2


def test_an_interval_that_leaves_its_axis_is_told() -> None:
    """A lift's axis goes down to -1 and no further."""
    low = table([("all", 9, 0.5, 0.4, 0.1, -2.5, 0.9, 0.5, 0.9)], SUBSET)
    for models, noted in ((shown("one", consistency=low), True), (shown("one"), False)):
        text = joined_text(svg(FIGURES["consistency"](models)))
        assert (f"below {MINUS}1 are cut off" in text) is noted


def test_background_and_anchors() -> None:
    """Both with their intervals and n; guessing gets the mean of one in so many choices."""
    chart = FIGURES["background_and_anchors"](shown("one"))
    held = rows(chart)
    background = {"label": "one", "value": 0.6, "low": 0.35, "high": 0.85}
    assert any(background.items() <= row.items() for row in held)
    accuracy = {"label": "one", "value": 0.5, "low": 0.4, "high": 0.75, "reference": 0.35}
    assert any(accuracy.items() <= row.items() for row in held)
    assert not any(row.get("value") == 0.99 for row in held)
    assert {"60.0\u00a0%", "50.0\u00a0%", "4", "160"} <= set(texts(svg(chart)))


def test_only_what_is_defined_has_a_panel() -> None:
    """Without an answered anchor there is no accuracy; without either no figure."""
    none: dict[str, Any] = {
        name: findings().tables[name].with_columns(pl.col(pl.Float64) * None)
        for name in ("anchor_accuracy", "background_score")
    }
    silent = FIGURES["background_and_anchors"](shown("m", anchor_accuracy=none["anchor_accuracy"]))
    assert "a) background score" in texts(svg(silent))
    assert "b) anchor accuracy" not in texts(svg(silent))
    assert FIGURES["background_and_anchors"](shown("m", **none)) is None
    assert FIGURES["background_and_anchors"](shown()) is None


def relations(*counts: int) -> dict[str, Any]:
    """Relations with so many anchors, each farther from the diagonal than the one before."""
    found = [
        (f"R{at}", n, 0.5 - at / 20, 0.4, 0, -0.1, 0.1, 0.5, 0.2) for at, n in enumerate(counts)
    ]
    known = [(f"R{at}", 20, 0.5, 0.45, 0.55) for at in range(len(counts))]
    return {
        "consistency_by_relation": table(found, SUBSET),
        "background_by_relation": table(known, OF_RELATION),
    }


def test_a_relation_with_few_anchors_is_grey_and_no_outlier() -> None:
    """The two farthest have 9 and 3; the six labelled ones have 10 or more."""
    models = shown("one", **relations(50, 50, 12, 10, 12, 50, 11, 9, 3))
    figure = svg(FIGURES["background_against_consistency"](models))
    assert {text for text in texts(figure) if re.match(r"R\d", text)} == {
        *("R1 (50)", "R2 (12)", "R3 (10)", "R4 (12)", "R5 (50)", "R6 (11)")
    }
    assert len(tips(figure)) == 9
    grey = mixed(PALETTES["house"].muted, 0.7)
    assert figure.count(f'fill="{grey}"') == 2


def test_each_relation_has_a_panel_of_all_models() -> None:
    """The most frequent first; models are numbered by size; few anchors are grey."""
    sizes = {"large": 10**9, "small": 10**6, "medium": 10**8}
    models = shown(*sizes, sizes=sizes, **relations(9, 50, 30))
    chart = FIGURES["relations_across_models"](models)
    figure = svg(chart)
    assert [text for text in texts(figure) if re.match(r"R\d", text)] == [
        "R1 (n = 50)",
        "R2 (n = 30)",
        "R0 (n = 9)",
    ]
    numbers = {row["model"]: row["number"] for row in rows(chart) if "number" in row}
    assert numbers == {"small": "1", "medium": "2", "large": "3"}
    assert len(tips(figure)) == 9
    assert (
        "small: background score 50.0\u00a0% (45.0 to 55.0\u00a0%), CC 0.450, facts = 20, "
        "chance 0.400, n = 50" in tips(figure)
    )
    assert figure.count(f'fill="{mixed(PALETTES["house"].muted, 0.7)}"') == 3
    assert FIGURES["relations_across_models"](shown("one")) is None


def test_figures_stand_at_the_size_of_models_one_line_per_family() -> None:
    """With the intervals of resampled concepts; a model of unknown size is left out."""
    made_up = {name: anchors_of(made(seed, 60)) for seed, name in enumerate("abcd")}
    families = {"a": "opt", "b": "opt", "c": "bert", "d": "opt"}
    sizes = {"a": 10**6, "b": 10**8, "c": 10**7, "d": None}
    chart = FIGURES["size_of_models"](Shown(made_up, sizes, Theme(), families))
    marks = [row for row in rows(chart) if row["measure"] == "questions right"]
    by_model = {row["label"]: row for row in marks}
    assert {name: (row["series"], row["parameters"]) for name, row in by_model.items()} == {
        "a": ("opt", 10**6),
        "b": ("opt", 10**8),
        "c": ("bert", 10**7),
    }
    for name, row in by_model.items():
        anchors = made_up[name].tables["anchors"]
        right = anchors["right"].cast(float).to_numpy()
        expected = Bootstrap().ratio(anchors["cluster"].to_numpy(), right, right * 0 + 1)
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )


def test_a_relation_without_both_figures_is_told() -> None:
    """It has no mark."""
    figure = svg(FIGURES["background_against_consistency"](shown("one")))
    assert not any(tip.startswith("Causes") for tip in tips(figure))
    assert "(in brackets: number of anchor questions): one: Causes (7)" in joined_text(figure)


def test_the_bias_is_that_of_max_and_of_the_last_meta_prompt_with_yes_and_no() -> None:
    """Both accuracies of both; the last meta-prompt of the arXiv version is the fifth."""
    every = findings().tables["background_variants"]
    arxiv = every.filter(pl.col("meta").fill_null(0) < 6)
    for ways, single in ((every, 1.1), (arxiv, 1.0)):
        chart = FIGURES["prompting_bias"](shown("one", background_variants=ways))
        held = {
            (row["label"], row["series"]): row["value"] for row in rows(chart) if "series" in row
        }
        assert held == {
            ("one: max", "facts correct"): 0.75,
            ("one: max", "negatives correct"): 0.5,
            ("one: single", "facts correct"): single,
            ("one: single", "negatives correct"): 0.25,
        }


def test_relations_of_the_most_anchors_come_first() -> None:
    """The same rows for every model; what is undefined is a dash, and n stands all the same."""
    chart = drawn(FIGURES["consistency_by_relation"](shown("one", "two")))
    figure = svg(chart)
    order = [text for text in texts(figure) if text in {row[0] for row in RELATIONS}]
    assert order == ["HasA", "IsA", "Causes", "FormOf"] * 2
    said_of = texts(figure)
    # Consistency, lift and p of one relation, in two models.
    assert said_of.count(DASH) == 2 * 3
    for n in ("120", "30", "7", "2"):
        assert said_of.count(n) == 2
    assert said_of.count("< 0.001") == 2
    assert said_of.count(f"{MINUS}0.167") == 2
    held = [row for row in rows(chart) if row.get("label") == "IsA"]
    assert any(row.get("value") == 0.5 and row.get("reference") == 0.4 for row in held)


def test_all_models_share_one_scale() -> None:
    """So that panels can be compared."""
    other = table([("IsA", 30, 0.9, 0.85, 0.3, 0.1, 0.6, 0.5, 0.5)], SUBSET)
    both = {"one": findings(), "two": findings(consistency_by_relation=other)}
    chart = drawn(FIGURES["consistency_by_relation"](Shown(both, {}, Theme())))
    found = re.findall(r"'value', 'scale': {'domain': (\[[^]]*\])", str(chart.to_dict()))
    assert len(found) >= 4
    assert len(set(found)) == 2


def test_a_relation_that_one_model_was_not_asked_about_is_an_empty_row() -> None:
    fewer = table(RELATIONS[:3], SUBSET)
    both = {"one": findings(), "two": findings(consistency_by_relation=fewer)}
    figure = svg(FIGURES["consistency_by_relation"](Shown(both, {}, Theme())))
    assert texts(figure).count("Causes") == 2
    assert texts(figure).count(DASH) == 3


def test_controls_stand_beside_baselines() -> None:
    """The lift of each background, and the accuracy of each way to answer."""
    held = rows(FIGURES["controls"](shown("one", "two")))
    control = {"label": "whole background", "model": "two", "value": 0.05, "low": -0.05}
    assert any(control.items() <= row.items() for row in held)
    assert any(
        {"label": "random", "value": 0.35, "low": None}.items() <= row.items() for row in held
    )


def test_predictors_have_their_auroc_and_brier_score() -> None:
    """With intervals; the base rate has none of the AUROC."""
    column = TABLES["prediction"].column
    names = ("predictor", "n", *column("auroc").names, *column("brier").names)
    table_ = table(
        [("base_rate", 9, 0.5, None, None, 0.2, 0.1, 0.3), ("both", 9, 0.7, 0.6, 0.8, 0.1, 0, 0.2)],
        names,
    )
    held = rows(FIGURES["prediction"](shown("one", prediction=table_)))
    assert any(
        {"label": "both", "value": 0.7, "low": 0.6, "high": 0.8}.items() <= row.items()
        for row in held
    )
    assert any(
        {"label": "base rate", "value": 0.2, "low": 0.1}.items() <= row.items() for row in held
    )


@pytest.mark.slow
def test_a_name_may_hold_anything() -> None:
    """Signs of SVG and of the charts' own language among it."""
    name = "a&b \"c\" <d> 'e' [f].g"
    charts = [spec(shown(name, "other")) for spec in FIGURES.values()]
    drawn = [joined_text(svg(chart)) for chart in charts if chart is not None]
    assert len(drawn) == 8
    assert all(name in text for text in drawn)


@pytest.mark.slow
def test_findings_of_the_probe_are_drawn(run: Run) -> None:
    """All of them, whichever way anchors were answered."""
    families = dict.fromkeys(("one", "two"), "twins")
    sizes = {"one": 10**8, "two": 10**9}
    models = Shown({"one": run.found, "two": run.found}, sizes, Theme(), families)
    names = {name for name, draw in FIGURES.items() if draw(models) is not None}
    # No concept is in the backgrounds of 28 anchors, no anchor is asked in a context, and there are
    # too few anchors to predict their answers.
    absent = {"consistency_by_concept", "intervention", "prediction"}
    assert names == {*FIGURES} - absent
    figure = svg(FIGURES["consistency_by_relation"](Shown({"one": run.found}, {}, Theme())))
    for row in run.rows("consistency_by_relation"):
        assert row["name"] in texts(figure)


def test_nothing_to_show_gives_no_figure(tmp_path: Path) -> None:
    """Empty tables, tables of nulls, absent ones, no model."""
    whole = findings()
    empty = {name: each.clear() for name, each in whole.tables.items()}
    nulls = {
        name: each.with_columns(
            pl.lit(None, kind).alias(column)
            for column, kind in each.schema.items()
            if kind == pl.Float64
        )
        for name, each in whole.tables.items()
    }
    for tables in (empty, nulls, {}):
        found = {"one": Findings(whole.questions, tables, {})}
        assert write_figures(FIGURES, found, tmp_path) == []
    assert write_figures(FIGURES, {}, tmp_path) == []
    assert list(tmp_path.iterdir()) == []
