from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.findings.comparison import by_family, comparison, flips, slopes
from tacit.findings.findings import SHARED, Findings
from tacit.findings.measure import Measure, mean
from tacit.findings.numbers import size
from tacit.statistics import Bootstrap
from tacit.statistics.tests import holm

SIZES = {"opt": {"a": 10, "c": 100, "b": 1000}}
FEW = Bootstrap(resamples=40, seed=2)
MADE = {
    name: Findings(pl.DataFrame(), {}, {"values": np.random.default_rng(at).random(20)})
    for at, name in enumerate("abc")
}


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """A mean, another one that is not compared, and one that is undefined for the first model."""
    values = np.stack([each.summary["values"] for each in found.values()])
    clusters = np.arange(20) % 10
    one = replace(mean("one", clusters, values), main=True)
    undefined = replace(
        one, name="undefined", of=lambda w: one.of(w) * ([np.nan] + [1] * (len(found) - 1))
    )
    return [
        one,
        replace(one, name="apart", apart="other words", chance=(0.1,) * len(found), main=False),
        undefined,
    ]


def test_each_two_models_are_compared_and_corrected_by_holm() -> None:
    """Per measure; a difference that is not compared keeps its values, and has no p-value."""
    table = comparison(measures, MADE, FEW)
    SHARED["comparison"].check(table)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert table.select("first", "second").unique(maintain_order=True).rows() == pairs
    one = table.filter(measure="one")
    means = {name: float(each.summary["values"].mean()) for name, each in MADE.items()}
    for row in one.iter_rows(named=True):
        assert row["first_value"] == pytest.approx(means[row["first"]], abs=1e-15)
        change = means[row["second"]] - means[row["first"]]
        assert row["difference"] == pytest.approx(change, abs=1e-15)
        assert row["difference_low"] < row["difference_high"]
        assert row["n"] == 20
    assert one["p_holm"].to_list() == holm(one["p"].to_list())
    apart = table.filter(measure="apart")
    assert apart.select("difference", "p", "p_holm").null_count().row(0) == (3, 3, 3)
    assert apart["second_value"].equals(one["second_value"])
    assert set(apart["note"]) == {"not compared: other words"}
    assert set(apart["first_chance"]) == {0.1}
    assert table.filter(measure="undefined")["first_value"].to_list() == [None] * 3


def test_one_model_is_compared_with_nothing() -> None:
    for found in ({}, {"a": MADE["a"]}):
        table = comparison(measures, found, FEW)
        assert table.is_empty()
        assert {"measure", "difference_low", "p_holm", "note"} <= set(table.columns)


def test_models_by_family() -> None:
    """Smallest first; models without a family or a size are left out; one size is none."""
    families = {"a": "opt", "b": "opt", "d": None, "e": "t5", "f": "bert", "g": "opt"}
    sizes = {"a": 1000, "b": 10, "d": 5, "e": None, "f": 7, "g": 10}
    assert by_family(families, sizes) == {"bert": {"f": 7}, "opt": {"b": 10, "g": 10, "a": 1000}}
    assert by_family(families, dict.fromkeys(families, 10)) == {}
    assert slopes(measures, MADE, {"bert": {"a": 7}}, FEW).is_empty()


def test_slopes_of_main_measures() -> None:
    table = slopes(measures, MADE, SIZES, FEW)
    SHARED["slopes"].check(table)
    one, undefined = table.to_dicts()
    means = [MADE[name].summary["values"].mean() for name in SIZES["opt"]]
    assert one["slope"] == pytest.approx(np.polyfit([1, 2, 3], means, 1)[0])
    assert (one["family"], one["models"], one["n"]) == ("opt", 3, 20)
    assert (one["smallest"], one["largest"], one["note"]) == ("10", "1K", None)
    assert (undefined["slope"], undefined["note"]) == (None, "undefined for a model")


def test_sizes_are_written_with_three_digits() -> None:
    sizes = [1, 999, 999_999, 124_439_808, 6_050_000_000]
    assert [*map(size, sizes)] == ["1", "999", "1M", "124M", "6.05B"]


def test_answers_that_differ_are_counted_where_both_models_answered() -> None:
    """What became wrong or right is counted where the correct answer is known."""
    first = {"key": [1, 2, 3, 4, 5], "side": ["a", "a", "b", "b", "a"]}
    second = {"key": [2, 3, 4, 5, 6], "side": ["b", "a", "c", "a", "a"]}
    one = pl.DataFrame(first | {"right": [True, True, False, False, None]})
    other = pl.DataFrame(second | {"right": [False, True, False, None, True]})
    found = flips({"x": {"answer": one}, "y": {"answer": other}})
    SHARED["flips"].check(found)
    assert found.rows() == [("answer", "x", "y", 4, 3, 1, 1)]
