from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.findings.findings import Findings
from tacit.findings.measure import declared_means, mean, ratio, shared
from tacit.probes.base import declared_tables
from tacit.statistics import Bootstrap
from tests.plugins.synonyms import Synonyms
from tests.statistics.samples import mean as mean_of
from tests.statistics.samples import resampled

TABLES = declared_tables(Synonyms)


SIZES = [125_000_000, 1_300_000_000, 350_000_000, 13_000_000_000]


def test_differences_and_slopes_are_those_of_rows_drawn_by_hand() -> None:
    """Values, paired differences, slopes and their intervals, on the same resamples."""
    rows = np.random.default_rng(3).random((4, 40))
    clusters, how = [f"c{row % 7}" for row in range(40)], Bootstrap(resamples=50, seed=9)
    of = mean("mean", clusters, rows)
    assert (of.n, of.clusters) == (40, 7)
    assert of.values == pytest.approx(rows.mean(axis=1), abs=1e-15)

    def steepness(times: np.ndarray) -> float:
        means = np.average(rows, axis=1, weights=times)
        return float(np.polyfit(np.log10(SIZES), means, 1)[0])

    change, slope = of.difference(how), of.slope(SIZES, how)
    assert change.value == pytest.approx(rows[1].mean() - rows[0].mean(), abs=1e-15)
    assert slope.value == pytest.approx(steepness(np.ones(40)))
    for found, figure in (
        *zip(of.estimates(how), map(mean_of, rows), strict=True),
        (change, mean_of(rows[1] - rows[0])),
        (slope, steepness),
    ):
        ends = resampled(clusters, figure, how.resamples, how.seed)
        assert [found.low, found.high] == pytest.approx(ends, abs=1e-12)
    apart = replace(of, apart="other words")
    assert apart.slope(SIZES, how).value is apart.difference(how).value is None


def test_ratios_are_sums_over_sums() -> None:
    """By cluster, sorted; clusters that no model has are dropped; of nothing, undefined."""
    of = ratio("r", ["b", "a", "b", "c"], [[1, 2, 3, 0]], [[2, 4, 8, 0]])
    weights = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    assert of.of(weights)[:, 0] == pytest.approx([0.5, 0.4, 6 / 14, np.nan], nan_ok=True)
    assert (of.n, of.clusters) == (2, 2)
    assert of.values == pytest.approx([6 / 14])


def test_few_clusters_of_one_model_give_no_interval() -> None:
    """The first has four clusters; one without any has no value, and takes none from others."""
    clusters, under = list("abcdef"), np.ones((2, 6))
    over = np.arange(12).reshape(2, 6) / 12
    under[0, :2] = 0
    few = ratio("", clusters, over * under, under).difference(Bootstrap(20))
    assert (few.value is None, few.low, few.p_value) == (False, None, None)
    under[0] = 0
    one, other = ratio("", clusters, over * under, under).estimates(Bootstrap(20))
    assert (one.value, other.low is None) == (None, False)


def test_only_rows_that_every_model_has_are_shared() -> None:
    tables = [
        pl.DataFrame(
            {"key": keys, "x": x, "y": [0.0] * len(keys)}, {"key": str, "x": float, "y": float}
        )
        for keys, x in ((["b", "a", "c"], [1.0, 2.0, 3.0]), (["a", "b", "d"], [4.0, 5.0, None]))
    ]
    rows, values = shared(tables, ["key"], ["x", "y"])
    assert rows["key"].to_list() == ["b", "a"]
    assert values["x"].tolist() == [[1.0, 2.0], [5.0, 4.0]]


def test_declared_means_are_compared_by_the_keys_of_their_tables() -> None:
    """Of the questions that both models answered, in clusters of words."""
    words = ["big", "big", "hot", "wet"]
    found = {
        name: Findings(
            pl.DataFrame(
                {"word": words, "synonym": list("wxyz"), "label": ["yes", "no"] * 2, "right": right}
            ),
            {},
        )
        for name, right in (("a", [True, False, True, None]), ("b", [True, True, False, True]))
    }
    of = {each.name: each for each in declared_means(tuple(TABLES.values()), found)}
    assert {name: (each.n, each.values) for name, each in of.items()} == {
        "accuracy, label yes": (2, (1.0, 0.5)),
        "accuracy, label no": (1, (0.0, 1.0)),
        "accuracy": (3, (2 / 3, 2 / 3)),
    }
    assert of["accuracy"].clusters == 2
    assert declared_means((TABLES["by_label"],), found) == []
