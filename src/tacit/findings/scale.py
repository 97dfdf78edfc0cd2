"""Compute how the results of a family of models change with model size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.findings.numbers import size
from tacit.findings.spec import Column, Layout, TableSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import ArrayLike, NDArray

    from tacit.findings.findings import Findings
    from tacit.statistics import Bootstrap, Estimate

    Floats: TypeAlias = NDArray[np.float64]
    Scaling: TypeAlias = Callable[[Mapping[str, Findings]], Sequence["ScaledFigure"]]

SCALE = TableSpec(
    "scale",
    "Size of models",
    "Each row shows how a measure changes with model size in one family of models. The measures "
    "of the consistency probe cover only anchor questions for which every model of the family "
    "has an answer and a background score. The measures of the assumptions probe cover only "
    "concepts that every model of the family ranked. Slope: the change of the measure if the "
    "number of parameters increases tenfold, estimated by a least-squares regression on the "
    "log10 of the number of parameters. The 95 % CI of the slope is computed by resampling the "
    "same clusters of questions for all models. The CI of the slope reflects the uncertainty "
    "due to the choice of questions, but not the uncertainty due to the small number of models. "
    "Page's trend test examines whether the measure improves with model size. In Page's trend "
    "test, each block consists of one or more clusters of questions. The p-value of the trend "
    "test is one-sided and not corrected for multiple tests.",
    columns=(
        Column("figure", "figure", meaning="The measure."),
        Column("family", "family", meaning="The family to which the models belong."),
        Column("models", "models", "count", "Number of models."),
        Column(
            "sizes",
            "parameters",
            meaning="The numbers of parameters of the smallest and the largest model.",
        ),
        Column(
            "smallest",
            "smallest",
            "count",
            "Number of parameters of the smallest model.",
            shown=False,
        ),
        Column(
            "largest", "largest", "count", "Number of parameters of the largest model.", shown=False
        ),
        Column("n", "n", "count", "Number of clusters of questions."),
        Column(
            "clusters",
            "clusters",
            "text",
            "What is resampled to compute the confidence interval, such as \u201cquestion "
            "concept\u201d or \u201cthing\u201d (an everyday thing).",
            shown=False,
        ),
        Column(
            "slope",
            "slope per tenfold parameters",
            "signed",
            "Change of the measure if the number of parameters increases tenfold, with a 95 % CI.",
            ends=("low", "high"),
        ),
        Column("page_p", "p, Page", "p", "One-sided p-value of Page's trend test."),
        Column("page_l", "Page's L", "number", "The test statistic L of Page's trend test."),
        Column(
            "blocks",
            "blocks",
            "count",
            "Number of blocks of questions in Page's trend test, which ranks the models "
            "separately in each block.",
        ),
        Column(
            "better",
            "better",
            "text",
            "Whether a higher or a lower value of the measure is better.",
        ),
        Column(
            "note",
            "note",
            "text",
            "Why the slope, its interval or the trend test is undefined; null if all three are "
            "defined.",
        ),
    ),
    keys=2,
    printed=Layout(columns=("figure", "family", "models", "sizes", "n", "slope", "page_p")),
)


@dataclass(frozen=True)
class ScaledFigure:
    """A result that is computed for several models over the same clusters of questions."""

    name: str
    clusters: str
    compute: Callable[[Floats], Floats]
    blocks: NDArray[np.intp]
    falls: bool = False

    def observed(self) -> Floats:
        """Return each model's result in the original sample (not resampled), shape (models,)."""
        import numpy as np

        values: Floats = self.compute(np.ones((1, len(self.blocks))))[0]
        return values

    def resampled(self, how: Bootstrap) -> Floats | None:
        """Return each model's result in each bootstrap resample, shape (resamples, models)."""
        import numpy as np

        n = len(self.blocks)
        return np.concatenate([self.compute(times) for times in how.draws(n)]) if n > 1 else None

    def by_block(self) -> Floats:
        """Return each model's result per block of Page's trend test, shape (blocks, models)."""
        import numpy as np

        marks = self.blocks[None] == np.unique(self.blocks)[:, None]
        return self.compute(marks.astype(np.float64))

    def estimates(self, how: Bootstrap) -> list[Estimate]:
        """Return the result of each model with its confidence interval."""
        from tacit.statistics import Estimate

        observed, resampled = self.observed(), self.resampled(how)
        if resampled is None:
            return [Estimate(None if x != x else float(x), None, None) for x in observed]  # noqa: PLR0124 - NaN
        return [how.change(float(x), of) for x, of in zip(observed, resampled.T, strict=True)]


def ratios(
    name: str,
    clusters: tuple[str, ArrayLike],
    over: ArrayLike,
    under: ArrayLike,
    *,
    blocks: NDArray[np.intp] | None = None,
    falls: bool = False,
) -> ScaledFigure:
    """Return the declaration of a result that is a ratio of sums, such as a mean."""
    import numpy as np

    from tacit.statistics.intervals import sums_by_cluster
    from tacit.statistics.ranking import divided

    unit, of = clusters
    sums = sums_by_cluster(of, over), sums_by_cluster(of, under)

    def compute(times: Floats) -> Floats:
        return divided(times @ sums[0], times @ sums[1])

    return ScaledFigure(
        name, unit, compute, np.arange(len(sums[0])) if blocks is None else blocks, falls
    )


@dataclass(frozen=True)
class Sized:
    """A model's family and number of parameters; an unknown value is None."""

    family: str | None
    parameters: int | None


def by_family(models: Mapping[str, Sized]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each model family with its models' sizes, sorted from smallest to largest."""
    known = [
        (of.family, of.parameters, model)
        for model, of in models.items()
        if of.family and of.parameters
    ]
    for family, group in groupby(sorted(known), key=lambda each: each[0]):
        yield family, {model: parameters for _, parameters, model in group}


def scale(
    found: Mapping[str, Findings],
    models: Mapping[str, Sized],
    scaling: Scaling,
    how: Bootstrap | None = None,
) -> pl.DataFrame:
    """Return the slope and the trend test of each result in each family of models."""
    import polars as pl

    from tacit.statistics import Bootstrap

    how = how or Bootstrap()
    rows = [
        {"family": family, **_row(figure, list(sizes.values()), how)}
        for family, sizes in by_family(models)
        for figure in scaling({model: found[model] for model in sizes})
    ]
    order = {name: at for at, name in enumerate(dict.fromkeys(row["figure"] for row in rows))}
    rows.sort(key=lambda row: order[row["figure"]])
    return pl.DataFrame(rows, SCALE.schema)


def _row(figure: ScaledFigure, parameters: Sequence[int], how: Bootstrap) -> dict[str, Any]:
    from tacit.statistics.scale import slope, trend

    change, reason = slope(parameters, figure.observed(), figure.resampled(how), how)
    page = trend(parameters, figure.by_block(), falls=figure.falls)
    return {
        "figure": figure.name,
        "models": len(parameters),
        "sizes": " to ".join(dict.fromkeys(map(size, (parameters[0], parameters[-1])))),
        "smallest": parameters[0],
        "largest": parameters[-1],
        "n": len(figure.blocks),
        "clusters": figure.clusters,
        "slope": change.value,
        "low": change.low,
        "high": change.high,
        "page_p": page.p_value,
        "page_l": page.statistic,
        "blocks": page.blocks,
        "better": "lower" if figure.falls else "higher",
        "note": "; ".join(filter(None, (reason, page.reason))) or None,
    }
