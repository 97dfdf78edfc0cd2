from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import page_trend_test

from tacit.findings.compare import COMPARISON, with_holm
from tacit.findings.findings import Findings
from tacit.findings.numbers import size
from tacit.findings.scale import SCALE, Sized, by_family, ratios, scale
from tacit.probes.assumptions import scale as assumptions
from tacit.probes.consistency import scale as consistency
from tacit.probes.parts import scale as parts
from tacit.statistics import Bootstrap
from tests.peers.test_consistency_compare import findings as anchors_of
from tests.peers.test_consistency_compare import independent, made
from tests.probes.assumptions.test_compare import recalled

SIZES = {"a": Sized("opt", 10), "b": Sized("opt", 1000), "c": Sized("opt", 100)}
FEW = Bootstrap(resamples=40, seed=2)


def rows_of(table: pl.DataFrame) -> dict[str, dict[str, object]]:
    """The rows by figure."""
    return {row["figure"]: row for row in table.to_dicts()}


def test_models_without_a_family_or_a_size_are_left_out() -> None:
    """The others come by family, smallest first."""
    models = {
        **SIZES,
        "d": Sized(None, 5),
        "e": Sized("t5", None),
        "f": Sized("bert", 7),
    }
    assert list(by_family(models)) == [("bert", {"f": 7}), ("opt", {"a": 10, "c": 100, "b": 1000})]


def test_consistency_over_size() -> None:
    """Slopes of figures computed by other libraries, on resamples of concepts drawn by hand."""
    rows = {name: made(seed, 120) for seed, name in enumerate(SIZES)}
    table = scale(
        {name: anchors_of(of) for name, of in rows.items()}, SIZES, consistency.scaling, FEW
    )
    SCALE.check(table)
    names = ["lift above chance", "background score, mean over questions", "questions right"]
    assert table["figure"].to_list() == names
    concepts = sorted({row[1] for row in rows["a"]})
    draws = np.random.default_rng(2).integers(0, len(concepts), size=(40, len(concepts)))
    values = {name: independent(of) for name, of in rows.items()}
    resampled = [
        {
            name: independent([row for at in draw for row in of if row[1] == concepts[at]])
            for name, of in rows.items()
        }
        for draw in draws
    ]

    def fitted(found: dict[str, dict[str, float]], figure: str) -> float:
        return float(np.polyfit([1, 3, 2], [found[name][figure] for name in SIZES], 1)[0])

    for figure, row in rows_of(table).items():
        assert row["slope"] == pytest.approx(fitted(values, figure))
        ends = np.quantile([fitted(found, figure) for found in resampled], [0.025, 0.975])
        assert [row["low"], row["high"]] == pytest.approx(list(ends))
        assert (row["family"], row["models"], row["sizes"]) == ("opt", 3, "10 to 1K")
        assert (row["smallest"], row["largest"], row["n"]) == (10, 1000, len(concepts))
        # Eight concepts are too few for two blocks of ten.
        assert row["note"] == "no trend test: fewer than 2 blocks"


def test_blocks_of_question_concepts() -> None:
    """Every 20th of many concepts; at least ten in each block; else one block."""
    assert np.bincount(consistency.blocks_of(1000)).tolist() == [50] * 20
    assert np.bincount(consistency.blocks_of(45)).tolist() == [12, 11, 11, 11]
    assert set(consistency.blocks_of(19)) == {0}
    assert consistency.blocks_of(0).tolist() == []


def test_page_s_blocks_are_computed_from_their_own_questions() -> None:
    """The lift of each half of the concepts; the table has Page's L of both."""
    rows = {
        name: [(f"q{at}", f"c{at:02}", score, right) for at, (_, _, score, right) in enumerate(of)]
        for name, of in ((name, made(seed, 20)) for seed, name in enumerate(SIZES))
    }
    found = {name: anchors_of(of) for name, of in rows.items()}
    lifts = np.array(
        [
            [
                independent([r for r in rows[n] if int(r[1][1:]) % 2 == half])["lift above chance"]
                for n in "acb"
            ]
            for half in (0, 1)
        ]
    )
    row = rows_of(scale(found, SIZES, consistency.scaling, FEW))["lift above chance"]
    expected = page_trend_test(lifts)
    assert (row["blocks"], row["page_l"]) == (2, expected.statistic)
    assert row["page_p"] == pytest.approx(expected.pvalue)


def test_only_anchors_of_all_models_count() -> None:
    """An anchor that one model lacks is left out of all."""
    rows = {name: made(seed, 60) for seed, name in enumerate(SIZES)}
    whole = {name: anchors_of(of[:50]) for name, of in rows.items()}
    some = {name: anchors_of(of[: 50 if name == "b" else 60]) for name, of in rows.items()}
    one, other = (scale(each, SIZES, consistency.scaling, FEW) for each in (whole, some))
    assert one.equals(other)


def test_violations_over_size() -> None:
    """The rate over decided constraints; a fall is an improvement; a block is a thing."""
    counts = {
        "a": [("egg", 4, 10, 2), ("egg", 3, 10, 0), ("lamp", 3, 4, 0), ("tree", 2, 9, 0)],
        "b": [("egg", 1, 18, 0), ("lamp", 1, 4, 0), ("tree", 1, 9, 0)],
        "c": [("egg", 3, 18, 0), ("lamp", 2, 4, 0), ("tree", 0, 9, 9)],
    }
    schema = ["thing", "violated", "applicable", "undecided"]
    found = {
        name: Findings(
            pl.DataFrame(),
            {"violation_by_drawing": pl.DataFrame(rows, schema, orient="row")},
            {},
        )
        for name, rows in counts.items()
    }
    (row,) = scale(found, SIZES, parts.scaling, FEW).to_dicts()
    rates = [12 / 31, 5 / 22, 3 / 31]  # of 10, 100 and 1,000 parameters
    assert row["slope"] == pytest.approx(np.polyfit([1, 2, 3], rates, 1)[0])
    assert (row["figure"], row["better"]) == ("violation, micro, before repair", "lower")
    # The tree is undecided for c: two blocks, in both of which the rate falls with size.
    assert (row["blocks"], row["page_l"]) == (2, 28)
    assert row["page_p"] == pytest.approx(1 / 36)


def test_ranks_over_size() -> None:
    """The mean reciprocal rank over the concepts that all models rank."""
    ranks: dict[str, list[int | None]] = {
        "a": [4, 2, 5, 1],
        "b": [1, 1, None, 1],
        "c": [2, 1, 1, 2],
    }
    found = {name: recalled(of) for name, of in ranks.items()}
    table = scale(found, SIZES, assumptions.scaling, FEW)
    (row,) = table.to_dicts()
    means = [(1 / 4 + 1 / 2 + 1) / 3, (1 / 2 + 1 + 1 / 2) / 3, 1.0]
    assert row["slope"] == pytest.approx(np.polyfit([1, 2, 3], means, 1)[0])
    assert (row["n"], row["blocks"]) == (3, 3)
    assert str(row["figure"]).startswith("mean reciprocal rank, 1 property stated (")


def test_a_figure_that_a_model_lacks_has_no_slope() -> None:
    """All questions right, so that no lift is defined; the accuracy is."""
    rows = {name: made(seed, 40) for seed, name in enumerate(SIZES)}
    rows["a"] = [(*row[:3], True) for row in rows["a"]]
    found = {name: anchors_of(of) for name, of in rows.items()}
    by_figure = rows_of(scale(found, SIZES, consistency.scaling, FEW))
    lift = by_figure["lift above chance"]
    assert (lift["slope"], lift["low"], lift["high"]) == (None, None, None)
    assert str(lift["note"]).startswith("undefined for a model")
    assert by_figure["questions right"]["slope"] is not None


def test_no_common_question_gives_no_value() -> None:
    """Two models that answered different anchors: undefined, not 0."""
    one = [(f"x{at}", *row[1:]) for at, row in enumerate(made(1, 20))]
    found = {"a": anchors_of(made(2, 20)), "b": anchors_of(one)}
    table = scale(found, SIZES | {"c": Sized(None, None)}, consistency.scaling, FEW)
    assert table["slope"].to_list() == [None] * 3
    assert table["n"].to_list() == [0] * 3


def test_holm_corrects_over_the_pairs_of_one_figure() -> None:
    """And keeps the order of rows; a comparison without p-values is not changed."""
    table = pl.DataFrame(
        {
            "figure": ["x", "y", "x", "x", "y"],
            "p_value": [0.04, 0.5, 0.01, None, 0.02],
        }
    )
    assert with_holm(table)["p_holm"].to_list() == [0.04, 0.5, 0.02, None, 0.04]
    assert with_holm(table)["figure"].to_list() == table["figure"].to_list()
    assert with_holm(table.drop("p_value")).columns == ["figure"]
    assert with_holm(table.clear()).is_empty()
    assert {"p_value", "p_holm"} <= {column.name for column in COMPARISON.columns}


def test_ratios_are_sums_over_sums() -> None:
    """By cluster, sorted; what is not drawn does not count; of nothing, it is undefined."""
    figure = ratios("r", ("thing", ["b", "a", "b"]), [[1, 2, 3]], [[2, 4, 8]])
    times = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    assert figure.compute(times)[:, 0] == pytest.approx([0.5, 0.4, 6 / 14, np.nan], nan_ok=True)
    assert figure.observed() == pytest.approx([6 / 14])
    assert figure.by_block()[:, 0] == pytest.approx([0.5, 0.4])


@pytest.mark.parametrize(
    ("parameters", "text"),
    [(1, "1"), (999, "999"), (999_999, "1M"), (124_439_808, "124M"), (6_050_000_000, "6.05B")],
)
def test_sizes_are_written_with_three_digits(parameters: int, text: str) -> None:
    """With a unit."""
    assert size(parameters) == text
