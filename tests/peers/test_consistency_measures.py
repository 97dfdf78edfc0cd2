import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from tacit.findings.comparison import comparison
from tacit.findings.findings import Findings
from tacit.probes.consistency.measures import measures
from tacit.statistics import Bootstrap
from tacit.statistics.ranking import chance_level

FIGURES = [
    "background score, mean over questions",
    "questions right",
    "conceptual consistency",
    "lift above chance",
    "AUROC",
    "lift, adjusted for the number of facts",
]
"""The figures that are defined for anchors of eight clusters."""


def findings(rows: Sequence[tuple[str, str, float | None, bool | None]]) -> Findings:
    """Findings of anchors: id, cluster, background score, whether right; each has one fact."""
    schema = {
        "anchor": pl.String,
        "cluster": pl.String,
        "background_score": pl.Float64,
        "right": pl.Boolean,
    }
    anchors = pl.DataFrame(rows, schema, orient="row").with_columns(
        facts=1, frequency=pl.lit(None, pl.Float64), answer=pl.lit("x")
    )
    return Findings(pl.DataFrame(), {"anchors": anchors}, {})


def made(seed: int, n: int = 40) -> list[tuple[str, str, float, bool]]:
    draw = random.Random(seed)  # noqa: S311 - no secret
    return [(f"q{i}", f"c{i % 8}", draw.randrange(5) / 4, draw.random() < 0.5) for i in range(n)]


def rows_of(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in table.to_dicts()}


def independent(rows: Sequence[tuple[str, str, float, bool]]) -> dict[str, float]:
    scores = [row[2] for row in rows]
    right = [row[3] for row in rows]
    precision = average_precision_score(right, scores)
    chance = chance_level(right, scores)
    assert chance is not None
    return dict(
        zip(
            FIGURES,
            [
                float(np.mean(scores)),
                float(np.mean(right)),
                precision,
                (precision - chance) / (1 - chance),
                roc_auc_score(right, scores),
                (precision - chance) / (1 - chance),
            ],
            strict=True,
        )
    )


def test_values_are_those_of_scikit_learn() -> None:
    first, second = made(1), made(2)
    found = rows_of(comparison(measures, {"a": findings(first), "b": findings(second)}))
    assert list(found) == FIGURES
    one, other = independent(first), independent(second)
    for figure, row in found.items():
        assert row["first_value"] == pytest.approx(one[figure])
        assert row["second_value"] == pytest.approx(other[figure])
        assert row["difference"] == pytest.approx(other[figure] - one[figure])
        assert row["difference_low"] <= row["difference_high"]
        assert row["n"] == 40


def test_interval_is_that_of_rows_drawn_by_hand() -> None:
    """An interval is the percentiles over whole clusters drawn again, the same for both."""
    first, second = made(3), made(4)
    bootstrap = Bootstrap(resamples=60, seed=5)
    found = rows_of(comparison(measures, {"a": findings(first), "b": findings(second)}, bootstrap))
    clusters = sorted({row[1] for row in first})
    drawn = np.random.default_rng(5).integers(0, 8, size=(60, 8))
    changes: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    for draw in drawn:
        values = [
            independent([row for place in draw for row in rows if row[1] == clusters[place]])
            for rows in (first, second)
        ]
        for figure, of in changes.items():
            of.append(values[1][figure] - values[0][figure])
    for figure, of in changes.items():
        low, high = np.quantile(of, [0.025, 0.975])
        assert found[figure]["difference_low"] == pytest.approx(low)
        assert found[figure]["difference_high"] == pytest.approx(high)
