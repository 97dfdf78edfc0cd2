from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.charts.save import FORMATS
from tacit.charts.theme import PALETTES, Theme
from tacit.probes.parts.figures import FIGURES
from tacit.probes.parts.tables import TABLES as SPECS
from tests.probes.drawing import drawn, rows, rules, svg, texts, write_figures
from tests.probes.drawing import shown as of_one

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from tacit.charts.theme import Chart

STAGES = ("before", "paper", "log-odds", "margin")
MINUS = "\N{MINUS SIGN}"

AT = pl.DataFrame(
    [
        (s, stage, 300, 1 - s / 100 + gain, None if s == 100 else 0.1, None if s == 100 else 0.9)
        for s in (50, 60, 70, 80, 90, 100)
        for stage, gain in zip(STAGES, (0.0, 0.125, 0.2, 0.05), strict=True)
    ],
    schema=["s", "stage", "n", *SPECS["accuracy_at"].column("share").names],
    orient="row",
    infer_schema_length=None,
)
RELATIONS = pl.DataFrame(
    [
        (relation, stage, n, missing, None if base is None else base + gain, low, high)
        for relation, n, missing, base, low, high in (
            ("above", 1200, 0, 0.25, 0.2, 0.9),
            ("part of", 76, 4, 0.75, 0.2, 0.9),
            ("behind", 0, 9, None, None, None),
            ("requires", 3, 0, 0.5, None, None),
        )
        for stage, gain in zip(STAGES, (0.0, -0.125, 0.2, 0.05), strict=True)
    ],
    schema=[
        "relation",
        "stage",
        "n",
        "missing",
        *SPECS["accuracy_by_relation"].column("accuracy").names,
    ],
    orient="row",
    infer_schema_length=None,
)
THINGS = pl.DataFrame(
    [
        (
            f"thing {rank:03}",
            rank,
            "best 20" if rank <= 20 else "worst 20" if rank > 80 else "middle",
            stage,
            117,
            2,
            (101 - rank) / 128 + gain,
        )
        for rank in range(1, 101)
        for stage, gain in zip(STAGES, (0.0, 0.125, 0.2, 0.05), strict=True)
    ],
    schema=["thing", "rank", "band", "stage", "n", "missing", "accuracy"],
    orient="row",
)
AT, RELATIONS, THINGS = (
    each.with_columns(always_true=pl.lit(0.6)) for each in (AT, RELATIONS, THINGS)
)
TABLES = {"accuracy_at": AT, "accuracy_by_relation": RELATIONS, "accuracy_by_thing": THINGS}


def within(node: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any part of a specification
    """Every object in a specification."""
    if isinstance(node, dict):
        yield node
    for child in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from within(child)


def fields(chart: Chart, channel: str) -> set[str]:
    """The fields that any layer encodes by a channel."""
    encodings = [each["encoding"] for each in within(chart.to_dict()) if "encoding" in each]
    found = [each[channel] for each in encodings if channel in each]
    return {each["field"] for each in found if "field" in each}


def write(
    tables: Mapping[str, pl.DataFrame],
    folder: Path,
    formats: Collection[str] = ("svg",),
    look: Theme | None = None,
) -> list[Path]:
    """Writes the figures of one model's tables."""
    return write_figures(FIGURES, of_one(tables).found, folder, formats, look)


def values_of(chart: Chart, table: pl.DataFrame, column: str) -> None:
    """The chart holds the values and intervals of a table, and no other stage's."""
    shown = [row for row in rows(chart) if row.get("stage") is not None]
    stages = {row["stage"] for row in shown}
    for row in table.filter(pl.col("stage").is_in(stages)).iter_rows(named=True):
        wanted = row | {"value": row[column]}
        assert row[column] is None or any(wanted.items() <= each.items() for each in shown), row


def test_accuracy_at_holds_the_table() -> None:
    """Shares and intervals of the raw beliefs and one objective, as they are in the table."""
    chart = drawn(FIGURES["accuracy_at"](of_one({"accuracy_at": AT}, Theme(objective="margin"))))
    values_of(chart, AT, "share")
    assert {row["stage"] for row in rows(chart) if row.get("stage")} == {"before", "margin"}
    assert fields(chart, "x") == {"s"}
    assert fields(chart, "color") == fields(chart, "shape") == {"series"}


def test_accuracy_at_says_the_improvement_and_n() -> None:
    """As a line of its own, with the number of drawings and the units."""
    chart = drawn(FIGURES["accuracy_at"](of_one({"accuracy_at": AT})))
    better = [row for row in rows(chart) if row.get("series") == "improvement"]
    assert {row["s"] for row in better} == {50, 60, 70, 80, 90, 100}
    assert all(row["value"] == pytest.approx(0.125) for row in better)
    said = texts(svg(chart))
    assert any("n = 300 drawings" in text for text in said)
    assert {"share of drawings", "minimum accuracy (%)", "improvement"} <= set(said)


def test_a_point_of_a_curve_without_an_interval_is_hollow() -> None:
    """At s = 100 both series have none; the improvement never has one, so its marks are filled."""
    chart = drawn(FIGURES["accuracy_at"](of_one({"accuracy_at": AT}))).to_dict()
    marks: dict[bool, set[tuple[str, int]]] = {True: set(), False: set()}
    for layer in within(chart):
        mark = layer.get("mark")
        if isinstance(mark, dict) and mark["type"] == "point":
            for row in chart["datasets"][layer["data"]["name"]]:
                marks[mark["filled"]].add((row["series"], row["s"]))
    assert marks[False] == {("before repair", 100), ("after repair (paper)", 100)}
    assert ("improvement", 100) in marks[True]


def test_relations_fall_by_accuracy_before_repair() -> None:
    """One without an accuracy stands last; each has its n beside it, and its gain."""
    chart = drawn(FIGURES["accuracy_by_relation"](of_one({"accuracy_by_relation": RELATIONS})))
    expected = ["part of (76)", "requires (3)", "above (1,200)", "behind (0)"]
    domains = [each["y"]["scale"]["domain"] for each in within(chart.to_dict()) if "xOffset" in each
               or ("yOffset" in each and "y" in each)]  # fmt: skip
    assert domains
    assert all(each == expected for each in domains)
    said = texts(svg(chart))
    assert set(expected) <= set(said)
    assert said.count(f"{MINUS}12.5") == 3
    assert any(
        "13 labelled statements excluded because the belief is unknown" in text for text in said
    )


def test_accuracy_by_relation_holds_the_table() -> None:
    """Accuracies and intervals as they are; 2 of 4 relations have intervals, in two stages."""
    chart = drawn(FIGURES["accuracy_by_relation"](of_one({"accuracy_by_relation": RELATIONS})))
    values_of(chart, RELATIONS, "accuracy")
    # And the line at one half.
    assert rules(svg(chart)) == 4 + 1


def test_the_best_and_the_worst_stand_side_by_side() -> None:
    """Ranks 1 to 20 and 81 to 100, and none between."""
    chart = drawn(FIGURES["best_and_worst_things"](of_one({"accuracy_by_thing": THINGS})))
    ranks = {row["rank"] for row in rows(chart) if "rank" in row}
    assert ranks == {*range(1, 21), *range(81, 101)}
    said = texts(svg(chart))
    assert {
        "m: best: things 1 to 20 by accuracy",
        "m: worst: things 81 to 100 by accuracy",
        "1. thing 001 (117)",
    } <= set(said)
    assert said.count("+12.5") == 40


def test_a_band_says_which_ranks_it_holds() -> None:
    """Not 20 when there are fewer."""
    few = {"accuracy_by_thing": THINGS.filter(pl.col("rank").is_in([1, 2]))}
    said = texts(svg(FIGURES["best_and_worst_things"](of_one(few))))
    assert "m: best: things 1 to 2 by accuracy" in said


def test_all_things_are_the_middle() -> None:
    """Ranks 21 to 80, with the accuracies of the table."""
    chart = drawn(FIGURES["all_things"](of_one({"accuracy_by_thing": THINGS})))
    shown = {(row["rank"], row["stage"]): row["value"] for row in rows(chart) if "rank" in row}
    middle = THINGS.filter(pl.col("rank").is_between(21, 80), pl.col("stage").is_in(STAGES[:2]))
    assert shown == {
        (rank, stage): accuracy
        for rank, stage, accuracy in middle.select("rank", "stage", "accuracy").iter_rows()
    }
    expected = {f"m: things {ranks} by accuracy" for ranks in ("21 to 40", "41 to 60", "61 to 80")}
    assert expected <= set(texts(svg(chart)))


def rates(rate: float | None = 0.25) -> pl.DataFrame:
    """A table of violations; micro has no interval."""
    return pl.DataFrame(
        [
            (name, stage, n, 0, value, low, high, *baselines)
            for name, n, low, high, shuffled in (
                ("symmetric", 12, 0.2, 0.3, 0.5),
                ("transitive", 1200, 0.2, 0.3, 0.4),
                ("macro", None, 0.2, 0.3, 0.45),
                ("micro", 1212, None, None, 0.41),
            )
            for stage, value, baselines in (
                ("before", rate, (shuffled, 0.0)),
                ("paper", 0.0, (None, None)),
            )
        ],
        [
            *("constraint", "stage", "applicable", "undecided"),
            *SPECS["violation"].column("rate").names,
            *("shuffled", "always_true"),
        ],
        orient="row",
    )


def test_violations_have_both_baselines_as_ticks() -> None:
    """Of the raw beliefs alone, with the number of decided constraints."""
    chart = drawn(FIGURES["violations"](of_one({"violation": rates()})))
    ticks = {
        (row["label"], row["series"]): row["reference"]
        for row in rows(chart)
        if row.get("reference") is not None
    }
    assert ticks["transitive (1,200)", "shuffled beliefs"] == 0.4
    assert ticks["macro", "always true"] == 0.0
    assert len(ticks) == 8
    assert {row["stage"] for row in rows(chart) if "stage" in row} == {"before"}
    assert {"symmetric (12)", "micro (1,212)", "shuffled beliefs"} <= set(texts(svg(chart)))
    assert rules(svg(chart)) == 3  # micro has no interval


def test_violations_have_published_rates_only_for_all_drawings() -> None:
    """Table 3 is of 300 drawings and 216,580 statements."""
    one = of_one({"violation": rates()})
    (found,) = one.found.values()
    whole = replace(
        one,
        found={
            name: replace(found, summary={"drawings": 300, "statements": 216_580})
            for name in one.found
        },
    )
    published = [
        row for row in rows(drawn(FIGURES["violations"](whole))) if "(published)" in str(row)
    ]
    assert any(row.get("reference") == 0.3218 for row in published)
    assert "published" not in str(drawn(FIGURES["violations"](one)).to_dict())


def test_without_a_rate_there_is_no_figure_of_violations() -> None:
    """Nothing is believed, so no constraint applies."""
    none = rates().with_columns(rate=pl.lit(None, pl.Float64))
    assert FIGURES["violations"](of_one({"violation": none})) is None


def test_empty_tables_give_no_figure(tmp_path: Path) -> None:
    """Without gold there are no rows, so there is nothing to draw, and no file."""
    few = {**TABLES, "accuracy_by_thing": THINGS.filter(pl.col("rank") < 20)}
    assert FIGURES["all_things"](of_one(few)) is None
    empty = {name: table.clear() for name, table in TABLES.items()}
    nulls = {
        name: table.with_columns(pl.lit(None, pl.Float64).alias(column))
        for (name, table), column in zip(
            TABLES.items(), ("share", "accuracy", "accuracy"), strict=True
        )
    }
    for tables in (empty, nulls):
        assert all(draw(of_one(tables)) is None for draw in FIGURES.values())
    assert write(empty, tmp_path) == []
    assert write({}, tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_format_is_written(tmp_path: Path) -> None:
    """Each figure as SVG, PNG and PDF, told by their first bytes."""
    files = write(TABLES, tmp_path, FORMATS)
    # Neither violations nor the sizes of models are among these tables.
    names = [name for name in FIGURES if name not in {"violations", "size_of_models"}]
    assert [file.name for file in files] == [f"{name}.{end}" for name in names for end in FORMATS]
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    for file in files:
        assert file.read_bytes().startswith(begins[file.suffix])
        assert file.stat().st_size > 1000


@pytest.mark.parametrize("palette", PALETTES)
def test_a_palette_colours_the_marks(palette: str) -> None:
    """Raw beliefs and repaired beliefs have the palette's colours."""
    colours = PALETTES[palette]
    chart = FIGURES["accuracy_at"](of_one({"accuracy_at": AT}, Theme(palette, "margin")))
    figure = svg(chart, palette).lower()
    assert f'"{colours.before}"' in figure
    assert f'"{colours.after["margin"]}"' in figure
    assert f'"{colours.after["paper"]}"' not in figure
