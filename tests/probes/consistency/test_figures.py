"""What figures show: the values of stored tables, and which of them."""

import re
from dataclasses import replace

import polars as pl
import pytest

from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE, PALETTES, mixed
from tacit.findings.findings import Findings
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.figures import FIGURES
from tacit.statistics import Bootstrap
from tests.peers.test_consistency_measures import findings as anchors_of
from tests.peers.test_consistency_measures import made
from tests.probes.consistency.asking_by_hand import measured
from tests.probes.consistency.planted_by_hand import copies, probe_in_context
from tests.probes.drawing import joined_text, rows, svg, texts, tips

DASH = "\N{EN DASH}"


def shown(*of: Findings, sizes: tuple[int, ...] = ()) -> Shown:
    found = dict(zip(("one", "two", "three"), of, strict=False))
    return Shown(found, dict(zip(found, sizes, strict=False)), HOUSE, dict.fromkeys(found, "f"))


def changed(found: Findings, **tables: pl.DataFrame) -> Findings:
    return replace(found, tables={**found.tables, **tables})


@pytest.fixture(scope="module")
def in_context(clear: Findings) -> Findings:
    """The same, with the tables of a run of questions after facts."""
    more = measured(probe_in_context(), copies).tables
    return changed(clear, intervention=more["intervention"])


@pytest.mark.parametrize(
    ("figure", "table", "columns"),
    [
        ("consistency", "consistency", ("consistency", "lift")),
        ("background_and_anchors", "background_score", ("value",)),
        ("background_and_anchors", "anchor_accuracy", ("value",)),
        ("prompting_bias", "background_variants", ("positive_accuracy", "negative_accuracy")),
        ("consistency_by_relation", "consistency_by_relation", ("consistency", "lift")),
        ("consistency_by_concept", "consistency_by_concept", ("consistency", "lift")),
        ("controls", "controls", ("lift",)),
        ("controls", "anchor_baselines", ("accuracy",)),
        ("accuracy_by_score", "accuracy_by_score", ("accuracy",)),
        ("intervention", "intervention", ("change",)),
    ],
)
def test_a_figure_shows_the_values_of_its_table(
    figure: str, table: str, columns: tuple[str, ...], in_context: Findings
) -> None:
    """With intervals and chance levels; that of an accuracy is the mean of one in its choices."""
    held = rows(FIGURES[figure](shown(in_context)))
    of = in_context.tables[table]
    if table == "anchor_accuracy":
        of = of.filter(of="all")
    if table == "background_variants":
        of = of.filter(
            (pl.col("preset") == "max") | ((pl.col("meta") == 6) & (pl.col("pair") == "Yes/No"))
        )
    for row in of.to_dicts():
        for column in columns:
            ends = TABLES[table].column(column).ends or ()
            expected = dict(
                zip(("value", "low", "high"), (row[n] for n in (column, *ends)), strict=False)
            )
            if column == "consistency":
                expected["reference"] = row["chance"]
            if table == "anchor_accuracy":
                expected["reference"] = 0.5
            assert row[column] is None or any(expected.items() <= one.items() for one in held)


def test_what_is_undefined_is_a_dash_and_has_no_mark(clear: Findings) -> None:
    """Also where models stand at their sizes; without any value there is no figure."""
    nothing = pl.selectors.float() * None
    bad = changed(clear, consistency=clear.tables["consistency"].with_columns(nothing))
    figure = svg(FIGURES["consistency"](shown(clear, bad)))
    assert texts(figure).count(DASH) == 3
    for sizes in ((), (10**6, 10**8)):
        drawn_tips = tips(svg(FIGURES["consistency"](shown(clear, bad, sizes=sizes))))
        assert not any(tip.startswith("two") for tip in drawn_tips)
    assert FIGURES["consistency"](shown(bad)) is None
    no_answer = clear.tables["anchor_accuracy"].with_columns(nothing)
    panels = texts(
        svg(FIGURES["background_and_anchors"](shown(changed(clear, anchor_accuracy=no_answer))))
    )
    assert "a) background score" in panels
    assert "b) anchor accuracy" not in panels


def relations(found: Findings, *counts: int) -> Findings:
    """Relations with so many anchors, each farther from the diagonal than the one before."""
    names = [f"R{at}" for at in range(len(counts))]
    own = found.tables["consistency_by_relation"].head(1)
    known = found.tables["background_by_relation"].head(1)
    of = [
        own.with_columns(name=pl.lit(name), n=pl.lit(n), consistency=0.5 - at / 20)
        for at, (name, n) in enumerate(zip(names, counts, strict=True))
    ]
    scores = [
        known.with_columns(relation=pl.lit(name), background_score=pl.lit(0.5)) for name in names
    ]
    return changed(
        found, consistency_by_relation=pl.concat(of), background_by_relation=pl.concat(scores)
    )


def test_a_relation_with_few_anchors_is_grey_and_no_outlier(clear: Findings) -> None:
    """The two farthest have 9 and 3; the six labelled ones have 10 or more."""
    of = relations(clear, 50, 50, 12, 10, 12, 50, 11, 9, 3)
    figure = svg(FIGURES["background_against_consistency"](shown(of)))
    assert {text for text in texts(figure) if re.match(r"R\d", text)} == {
        *("R1 (50)", "R2 (12)", "R3 (10)", "R4 (12)", "R5 (50)", "R6 (11)")
    }
    assert len(tips(figure)) == 9
    assert figure.count(f'fill="{mixed(PALETTES["house"].muted, 0.7)}"') == 2
    of = relations(clear, 50, 7)
    table = of.tables["consistency_by_relation"]
    defined = table.with_columns(consistency=pl.when(name="R0").then("consistency"))
    chart = FIGURES["background_against_consistency"](
        shown(changed(of, consistency_by_relation=defined))
    )
    figure = svg(chart)
    assert not any(tip.startswith("R1") for tip in tips(figure))
    assert "one: R1 (7)" in joined_text(figure)


def test_each_relation_has_a_panel_of_all_models(clear: Findings) -> None:
    """The most frequent first; models are numbered by size; few anchors are grey."""
    of = relations(clear, 9, 50, 30)
    chart = FIGURES["relations_across_models"](shown(of, of, of, sizes=(10**9, 10**6, 10**8)))
    figure = svg(chart)
    assert [text for text in texts(figure) if re.match(r"R\d", text)] == [
        "R1 (n = 50)",
        "R2 (n = 30)",
        "R0 (n = 9)",
    ]
    numbers = {row["model"]: row["number"] for row in rows(chart) if "number" in row}
    assert numbers == {"two": "1", "three": "2", "one": "3"}
    assert figure.count(f'fill="{mixed(PALETTES["house"].muted, 0.7)}"') == 3
    assert FIGURES["relations_across_models"](shown(of)) is None
    # A relation that one model was not asked about is an empty row.
    two = shown(of, relations(clear, 9, 50))
    figure = svg(FIGURES["consistency_by_relation"](two))
    order = [text for text in texts(figure) if re.fullmatch(r"R\d", text)]
    assert order == ["R1", "R2", "R0"] * 2


def test_measures_stand_at_the_size_of_models_one_line_per_family() -> None:
    """With the intervals of resampled concepts; a model of unknown size is left out."""
    made_up = {name: anchors_of(made(seed, 60)) for seed, name in enumerate("abcd")}
    families = {"a": "opt", "b": "opt", "c": "bert", "d": "opt"}
    sizes = {"a": 10**6, "b": 10**8, "c": 10**7, "d": None}
    chart = FIGURES["size_of_models"](Shown(made_up, sizes, HOUSE, families))
    marks = {row["label"]: row for row in rows(chart) if row["measure"] == "questions right"}
    assert set(marks) == set("abc")
    for name, row in marks.items():
        assert (row["series"], row["parameters"]) == (families[name], sizes[name])
        anchors = made_up[name].tables["anchors"]
        right = anchors["right"].cast(float).to_numpy()
        expected = Bootstrap().ratio(anchors["cluster"].to_numpy(), right, right * 0 + 1)
        known = (expected.value, expected.low, expected.high)
        assert (row["value"], row["low"], row["high"]) == pytest.approx(known)
