"""The runs of each probe together: their comparison as files, and what makes it doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tacit.probes.registry import probe, probes
from tacit.runs.run import Run, Runs
from tacit.tables import write_table

_WORDS = {"family": "family", "parameters": "number of parameters"}


def by_probe(runs: Iterable[Run]) -> dict[str, Runs]:
    """Return the runs of each probe, in the order of the registry."""
    runs = list(runs)
    groups = {name: tuple(run for run in runs if run.probe == name) for name in probes()}
    return {name: Runs(mine) for name, mine in groups.items() if mine}


def write_comparison(runs: Runs, out: Path) -> None:
    """Write the tables that compare the models, if there are any."""
    for name, table in runs.compared.items():
        write_table(table, out / f"{name}.parquet")


def warnings(runs: Runs) -> Iterator[str]:
    """Yield what makes runs of one probe hard to compare."""
    yield from warnings_of_elicitation(runs)
    yield from warnings_of_questions(runs)


def warnings_of_elicitation(runs: Runs) -> Iterator[str]:
    """Yield a warning if the elicitation methods of the models differ."""
    methods = {name: run.elicitation for name, run in runs.items()}
    if len(set(methods.values())) > 1:
        listed = "; ".join(f"{name}: {method}" for name, method in methods.items())
        yield (
            f"{runs.probe.capitalize()}: these models' beliefs come from different elicitation "
            f"methods ({listed}). Differences between the models may be due to the method."
        )


def warnings_of_questions(runs: Runs) -> Iterator[str]:
    """Yield a warning if different models were asked different questions."""
    yield from probe(runs.probe).different_questions(runs.findings)


def unsized(runs: Iterable[Run]) -> Iterator[str]:
    """Yield a warning for each model whose family or number of parameters is unknown."""
    for run in runs:
        lacking = [name for name in _WORDS if not run.model.get(name)]
        if lacking:
            options = " and ".join(f"--{name}" for name in lacking)
            yield (
                f"{run.probe.capitalize()}: {run.name} is not in the table of slopes, because its "
                f"{' and '.join(_WORDS[name] for name in lacking)} "
                f"{'are' if len(lacking) > 1 else 'is'} unknown; repeat the run with {options}"
            )
