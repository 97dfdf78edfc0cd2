"""The runs of each probe together: their comparison as files, and what makes it doubtful."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tacit.english import several
from tacit.errors import RequestError
from tacit.models.options import ModelOptions
from tacit.options import declarations, names_of
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


def of_several(runs: Sequence[Run]) -> list[Runs]:
    """Return the runs of each probe that has at least two runs."""
    return [mine for mine in by_probe(runs).values() if len(mine) > 1]


def check_comparable(runs: Sequence[Run], *, force: bool = False) -> None:
    """Raise an error if runs of the same probe differ in more than the model."""
    if not of_several(runs):
        raise RequestError(
            f"there is nothing to compare: {several(len(runs), 'run')}, but no two of the same "
            "probe; give runs of at least two models"
        )
    reasons = [f"{name}: {reason}" for name, of in refusals(runs).items() for reason in of]
    if reasons and not force:
        raise RequestError(
            f"these runs differ in more than the model: {'; '.join(reasons)}. Repeat them with the "
            "same data, options and version, or compare them anyway with --force"
        )


def refusals(runs: Sequence[Run]) -> dict[str, list[str]]:
    """For each probe whose runs are not comparable, return the reasons."""
    reasons = {
        name: list(dict.fromkeys(r for run in others for r in _reasons(first, run)))
        for name, (first, *others) in ((name, mine.runs) for name, mine in by_probe(runs).items())
    }
    return {name: why for name, why in reasons.items() if why}


def _reasons(first: Run, other: Run) -> Iterator[str]:
    """Yield each reason why two runs are not comparable."""
    both, runs = f"between {first.name} and {other.name}", (first, other)
    versions = [_versions(run) for run in runs]
    if versions[0] != versions[1]:
        yield f"the version of Tacit differs {both}: {versions[0]} and {versions[1]}"
    digests = [[_text(digest) for digest in run.data.values()] for run in runs]
    if sorted(digests[0]) != sorted(digests[1]):
        differing = [
            name
            for run, others in zip(runs, digests[::-1], strict=True)
            for name, digest in run.data.items()
            if _text(digest) not in others
        ]
        yield f"the data differ {both}: {', '.join(dict.fromkeys(differing))}"
    # Other elicitation methods cause a warning; files are compared by their digests.
    of_model = {"model", "beliefs", *names_of(ModelOptions)}
    options = declarations(probe(first.probe).Options)
    files = {name for name, one in options.items() if one.is_path}
    for key in sorted({*first.request, *other.request} - of_model - files):
        values = [_requested(run, key) for run in runs]
        if values[0] != values[1]:
            yield f"{key} differs {both}: {values[0]} and {values[1]}"


def _versions(run: Run) -> str:
    """Return the versions of Tacit, and of the probe's package, that were used for a run."""
    used = {
        " with ".join([str(one.get("tacit")), *map(" ".join, one.get("plugins", {}).items())])
        for one in run.manifest.get("versions", [])
    }
    return ", ".join(sorted(used)) or "unknown"


def _requested(run: Run, key: str) -> object:
    """Return the value of a run's option, or "a file" for the path of a vocabulary file."""
    value = run.request.get(key)
    return "a file" if key == "vocabulary" and value in run.data else value


def _text(digest: object) -> str:
    return json.dumps(digest, sort_keys=True, default=str)
