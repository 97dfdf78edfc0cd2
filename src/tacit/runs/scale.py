"""Compute how the results of a probe change with the size of the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.findings.scale import Sized, scale
from tacit.probes.registry import probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.runs.reading import Run


def size_of(run: Run) -> Sized:
    """Return the family and the number of parameters of a run's model."""
    return Sized(run.model.get("family"), run.model.get("parameters"))


def scaled(runs: Sequence[Run], out: Path | None = None) -> pl.DataFrame | None:
    """Return a table that shows, for each model family, how results change with model size."""
    from tacit.tables import write_table

    kind: Any = probe(runs[0].probe)
    if len(runs) == 1 or not hasattr(kind, "scaling"):
        return None
    sizes = {run.name: size_of(run) for run in runs}
    table = scale({run.name: run.findings for run in runs}, sizes, kind.scaling)
    if (table["smallest"] == table["largest"]).all():
        return None
    if out is not None:
        write_table(table, out / "scale.parquet")
    return table


def unsized(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a warning for each model whose family or number of parameters is unknown."""
    for run in runs:
        of = size_of(run)
        lacking = [name for name in ("family", "parameters") if not getattr(of, name)]
        if lacking:
            options = " and ".join(f"--{name}" for name in lacking)
            yield (
                f"{run.probe.capitalize()}: {run.name} is not in the table of sizes, because its "
                f"{' and '.join(_WORDS[name] for name in lacking)} "
                f"{'are' if len(lacking) > 1 else 'is'} unknown; repeat the run with {options}"
            )


_WORDS = {"family": "family", "parameters": "number of parameters"}
