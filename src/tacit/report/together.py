"""The tables of several runs, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.runs.reading import Run


def together(runs: Sequence[Run]) -> dict[str, pl.DataFrame]:
    """Each finding of all runs, with the model's name in front as ``model``."""
    import polars as pl

    names = dict.fromkeys(name for run in runs for name in run.tables)
    return {
        name: pl.concat(
            [
                run.tables[name].select(pl.lit(run.name).alias("model"), pl.all())
                for run in runs
                if name in run.tables
            ],
            how="diagonal_relaxed",
        )
        for name in names
    }
