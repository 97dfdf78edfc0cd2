"""Check whether runs are comparable, and show the paired differences between models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import polars as pl

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.display import Details
from tacit.findings.findings import SHARED
from tacit.findings.spec import Column
from tacit.models.options import ModelOptions
from tacit.options import declarations, names_of
from tacit.probes.registry import probe
from tacit.report.sections import Section, Tab
from tacit.runs.comparison import by_probe, unsized, warnings_of_questions
from tacit.runs.run import Run, Runs


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


def differences(runs: Sequence[Run], only: Collection[str] | None = None) -> Section | None:
    """Return the report's section on paired differences; None if no probe has two runs."""
    runs = [run for run in runs if only is None or run.probe in only]
    tables = tables_of(runs)
    if tables["comparison"].is_empty():
        return None
    # Measures that only one of two models has come last.
    undefined = pl.col("difference").is_null()
    tables["comparison"] = tables["comparison"].sort(undefined, maintain_order=True)
    together = _of_several(runs)
    warnings = [warning for mine in together for warning in warnings_of_questions(mine)]
    if not tables["slopes"].is_empty():
        warnings += unsized(run for mine in together for run in mine.runs)
    shown = tuple(
        Details(replace(SHARED[name], columns=(_PROBE, *SHARED[name].columns)), table)
        for name, table in tables.items()
        if not table.is_empty()
    )
    return Section(
        id="differences",
        title="Differences",
        question="How do the models differ, and could chance explain the differences?",
        tabs=(Tab("Differences", tables=shown),),
        warnings=tuple(dict.fromkeys(warnings)),
    )


_PROBE = Column("probe", "probe")


def tables_of(runs: Sequence[Run]) -> dict[str, pl.DataFrame]:
    """Return the paired differences and the slopes of all probes, with a column ``probe``."""
    found: dict[str, list[pl.DataFrame]] = {"comparison": [], "flips": [], "slopes": []}
    for mine in _of_several(runs):
        for name, table in mine.compared.items():
            found[name].append(table.select(pl.lit(mine.probe).alias("probe"), pl.all()))
    return {
        name: pl.concat(some, how="diagonal_relaxed") if some else pl.DataFrame()
        for name, some in found.items()
    }


def _of_several(runs: Sequence[Run]) -> list[Runs]:
    """Return the runs of each probe that has at least two runs."""
    return [mine for mine in by_probe(runs).values() if len(mine) > 1]


def check_comparable(runs: Sequence[Run], *, force: bool = False) -> None:
    """Raise an error if runs of the same probe differ in more than the model."""
    if not _of_several(runs):
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
