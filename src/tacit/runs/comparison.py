"""Compare the models that have runs of the same probe: paired differences, slopes by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.findings.comparison import by_family, comparison, slopes
from tacit.probes.registry import probe, probes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.runs.run import Run


@dataclass(frozen=True)
class Together:
    """The tables that compare the models of one probe; None where there is nothing to compare."""

    comparison: pl.DataFrame | None = None
    slopes: pl.DataFrame | None = None

    @classmethod
    def of(cls, runs: Sequence[Run], out: Path | None) -> Together:
        """Compare runs of one probe, and write the tables to a folder if one is given."""
        from tacit.tables import write_table

        made = cls(compared(runs), sloped(runs))
        for name, table in (("comparison", made.comparison), ("slopes", made.slopes)):
            if table is not None and out is not None:
                write_table(table, out / f"{name}.parquet")
        return made


def compared(runs: Sequence[Run]) -> pl.DataFrame | None:
    """Return the paired differences between each two models; None if there is only one."""
    if len(runs) == 1:
        return None
    return comparison(probe(runs[0].probe).measures, {run.name: run.findings for run in runs})


def sloped(runs: Sequence[Run]) -> pl.DataFrame | None:
    """Return the slopes by model size; None if no family has models of two sizes."""
    described = {run.name: run.model for run in runs}
    families = by_family(
        {name: model.get("family") for name, model in described.items()},
        {name: model.get("parameters") for name, model in described.items()},
    )
    if not families:
        return None
    found = {run.name: run.findings for run in runs}
    return slopes(probe(runs[0].probe).measures, found, families)


def unsized(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a warning for each model whose family or number of parameters is unknown."""
    for run in runs:
        lacking = [name for name in ("family", "parameters") if not run.model.get(name)]
        if lacking:
            options = " and ".join(f"--{name}" for name in lacking)
            yield (
                f"{run.probe.capitalize()}: {run.name} is not in the table of slopes, because its "
                f"{' and '.join(_WORDS[name] for name in lacking)} "
                f"{'are' if len(lacking) > 1 else 'is'} unknown; repeat the run with {options}"
            )


_WORDS = {"family": "family", "parameters": "number of parameters"}


def warnings(runs: Sequence[Run]) -> Iterator[str]:
    """Yield warnings about differences that make runs of the same probe hard to compare."""
    yield from warnings_of_elicitation(runs)
    yield from warnings_of_wording(runs)


def warnings_of_elicitation(runs: Sequence[Run]) -> Iterator[str]:
    """For each probe, yield a warning if the elicitation methods of the models differ."""
    for name, mine in by_probe(runs).items():
        if len({run.elicitation for run in mine}) > 1:
            methods = "; ".join(f"{run.name}: {run.elicitation}" for run in mine)
            yield (
                f"{name.capitalize()}: these models' beliefs come from different elicitation "
                f"methods ({methods}). Differences between the models may be due to the method."
            )


def warnings_of_wording(runs: Sequence[Run]) -> Iterator[str]:
    """For each probe, yield a warning if different models were asked different questions."""
    for name, mine in by_probe(runs).items():
        yield from probe(name).different_questions({run.name: run.findings for run in mine})


def by_probe(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each probe, in the order of the registry."""
    groups = {name: [run for run in runs if run.probe == name] for name in probes()}
    return {name: mine for name, mine in groups.items() if mine}
