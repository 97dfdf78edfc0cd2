"""Check whether runs are comparable, and compute paired differences between models."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.findings import SHARED
from tacit.findings.spec import Column, Details
from tacit.report.sections import Section
from tacit.runs.comparison import by_probe, compared, sloped, unsized, warnings_of_wording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from tacit.runs.run import Run

# Entries of a request that describe the model and the elicitation method, and so may differ between
# models. Different elicitation methods cause a warning.
_OF_THE_MODEL = frozenset(
    {"model", "revision", "dtype", "masked_mode", "beliefs", "served_model", "chat", "api"}
    | {"samples", "thinking_tokens", "tokenizer", "adapter"}
)
# Files, which are compared by the digests in the manifest.
_FILES = frozenset(
    {"drawings", "questions", "kb", "templates", "prompt", "nouns", "norms", "corrections"}
)


def refusals(runs: Sequence[Run]) -> dict[str, list[str]]:
    """For each probe whose runs are not comparable, return the reasons."""
    reasons = {
        probe: list(dict.fromkeys(r for other in mine[1:] for r in _reasons(mine[0], other)))
        for probe, mine in by_probe(runs).items()
    }
    return {probe: why for probe, why in reasons.items() if why}


def _reasons(first: Run, other: Run) -> Iterator[str]:
    """Yield each reason why two runs are not comparable."""
    both = f"between {first.name} and {other.name}"
    versions = [_versions(run) for run in (first, other)]
    if versions[0] != versions[1]:
        yield f"the version of Tacit differs {both}: {versions[0]} and {versions[1]}"
    if _data(first) != _data(other):
        yield f"the data differ {both}: {_differing(first, other)}"
    for key in sorted({*first.request, *other.request} - _OF_THE_MODEL - _FILES):
        values = [_requested(run, key) for run in (first, other)]
        if values[0] != values[1]:
            yield f"{key} differs {both}: {values[0]} and {values[1]}"


def _versions(run: Run) -> str:
    """Return the versions of Tacit, and of the probe's package, that were used for a run."""
    told = run.manifest.get("versions")
    each = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    used = {
        " with ".join([str(one.get("tacit")), *map(" ".join, (one.get("plugins") or {}).items())])
        for one in each
    }
    return ", ".join(sorted(used)) or "unknown"


def _requested(run: Run, key: str) -> object:
    """Return the value of a run's option, or "a file" for the path of a vocabulary file."""
    value, data = run.request.get(key), run.manifest.get("data")
    is_file = key == "vocabulary" and isinstance(data, dict) and value in data
    return "a file" if is_file else value


def _data(run: Run) -> list[str]:
    """Return the sorted digests of a run's data files, regardless of the file names."""
    data = run.manifest.get("data")
    values = data.values() if isinstance(data, dict) else [data]
    return sorted(json.dumps(value, sort_keys=True, default=str) for value in values)


def _differing(first: Run, other: Run) -> str:
    """Return the names of the data files that differ between two runs."""
    told = [run.manifest.get("data") for run in (first, other)]
    data = [each if isinstance(each, dict) else {str(each): each} for each in told]
    names = [
        name
        for own, others in (data, data[::-1])
        for name, value in own.items()
        if value not in others.values()
    ]
    return ", ".join(dict.fromkeys(names))


def differences(runs: Sequence[Run], only: Collection[str] | None = None) -> Section | None:
    """Return the report's section on paired differences; None if no probe has two runs."""
    import polars as pl

    runs = [run for run in runs if only is None or run.probe in only]
    tables = tables_of(runs)
    if tables["comparison"].is_empty():
        return None
    # Measures that only one of two models has come last.
    undefined = pl.col("difference").is_null()
    tables["comparison"] = tables["comparison"].sort(undefined, maintain_order=True)
    several_runs = list(chain.from_iterable(_of_several(runs)))
    warnings = [*warnings_of_wording(several_runs)]
    if not tables["slopes"].is_empty():
        warnings += unsized(several_runs)
    return Section(
        id="differences",
        title="Differences",
        question="How do the models differ, and could chance explain the differences?",
        tables=tuple(
            Details(replace(SHARED[name], columns=(_PROBE, *SHARED[name].columns)), table)
            for name, table in tables.items()
            if not table.is_empty()
        ),
        warnings=tuple(dict.fromkeys(warnings)),
    )


_PROBE = Column("probe", "probe")


def tables_of(runs: Sequence[Run]) -> dict[str, pl.DataFrame]:
    """Return the paired differences and the slopes of all probes, with a column ``probe``."""
    import polars as pl

    found: dict[str, list[pl.DataFrame]] = {"comparison": [], "slopes": []}
    for mine in _of_several(runs):
        for name, table in (("comparison", compared(mine)), ("slopes", sloped(mine))):
            if table is not None:
                found[name].append(table.select(pl.lit(mine[0].probe).alias("probe"), pl.all()))
    return {
        name: pl.concat(some, how="diagonal_relaxed") if some else pl.DataFrame()
        for name, some in found.items()
    }


def _of_several(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs of each probe that has at least two runs."""
    return [mine for mine in by_probe(runs).values() if len(mine) > 1]


def check_comparable(runs: Sequence[Run], *, force: bool = False) -> None:
    """Raise an error if runs of the same probe differ in more than the model."""
    if not _of_several(runs):
        raise RequestError(
            f"there is nothing to compare: {several(len(runs), 'run')}, but no two of the same "
            "probe; give runs of at least two models"
        )
    reasons = refusals(runs)
    if reasons and not force:
        told = "; ".join(f"{probe}: {reason}" for probe, of in reasons.items() for reason in of)
        raise RequestError(
            f"these runs differ in more than the model: {told}. Repeat them with the same data, "
            "options and version, or compare them anyway with --force (in Python: force=True)"
        )
