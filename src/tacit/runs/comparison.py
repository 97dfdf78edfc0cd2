"""Compare each pair of models that have runs of the same probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.findings.compare import compare, with_holm
from tacit.probes.base import declared_tables
from tacit.probes.registry import probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.runs.reading import Run


def compared(runs: Sequence[Run], out: Path | None = None) -> pl.DataFrame | None:
    """Return a table that compares each pair of models and lists their elicitation methods."""
    import polars as pl

    from tacit.tables import write_table

    table = compared_by(runs)
    if table is None:
        return None
    ways = {run.name: run.summary["elicitation"] for run in runs if "elicitation" in run.summary}
    models = [name for name in ("first", "second") if name in table.columns]
    table = table.with_columns(
        pl.col(model)
        .replace_strict(ways, default=None, return_dtype=pl.String)
        .alias(f"{model}_elicitation")
        for model in models
    )
    if out is not None:
        write_table(table, out / "comparison.parquet")
    return table


def compared_by(runs: Sequence[Run]) -> pl.DataFrame | None:
    """Compare models by the probe's method ``compare`` or, without it, by mean values."""
    kind: Any = probe(runs[0].probe)
    if len(runs) == 1:
        return None
    found: pl.DataFrame | None
    if hasattr(kind, "compare"):
        found = kind.compare({run.name: run.findings for run in runs})
    else:
        specs = tuple(declared_tables(kind).values())
        found = compare(specs, {run.name: run.questions for run in runs})
    return None if found is None else with_holm(found)


def warnings(runs: Sequence[Run]) -> Iterator[str]:
    """Yield warnings about differences that make runs of one probe hard to compare."""
    kind: Any = probe(runs[0].probe)
    ways = {run.name: run.summary["elicitation"] for run in runs if "elicitation" in run.summary}
    yield from warnings_of_elicitation(kind.name, ways)
    yield from warnings_of_wording(runs)


def warnings_of_wording(runs: Sequence[Run]) -> Iterator[str]:
    """For each probe, yield a warning if different models were asked different questions."""
    for name in dict.fromkeys(run.probe for run in runs):
        kind: Any = probe(name)
        if hasattr(kind, "different_questions"):
            yield from kind.different_questions(
                {run.name: run.findings for run in runs if run.probe == name}
            )


def warnings_of_elicitation(probe_name: str, ways: dict[str, str]) -> list[str]:
    """Return a warning if the elicitation methods of the models differ."""
    if len(set(ways.values())) <= 1:
        return []
    told = "; ".join(f"{name}: {way}" for name, way in ways.items())
    return [
        (
            f"{probe_name.capitalize()}: these models' beliefs come from different elicitation "
            f"methods ({told}). Differences between the models may be due to the method."
        )
    ]
