"""Read the folders of finished runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tacit.errors import DataError, FindingsError, RequestError
from tacit.findings.findings import SHARED, SKIPPED
from tacit.findings.spec import check_tables
from tacit.probes.base import declared_tables
from tacit.probes.registry import load_file, probe, probes
from tacit.runs.folder import read_findings, read_manifest, read_request
from tacit.runs.run import Run, named


def read_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    """Read the runs in folders, by probe; a Python file defines the probe of some runs.

    The runs of a probe are in the order of the folders and, within a folder, of their starts.
    """
    files = [one for one in folders if one.suffix == ".py"]
    for file in files:
        load_file(file)
    by_folder = [_runs_in(folder) for folder in folders if folder not in files]
    each = Counter(path.resolve() for paths in by_folder for path in paths)
    twice = [folder for folder, n in each.items() if n > 1]
    if twice:
        raise RequestError(f"the run {twice[0]} is given twice; give each run once")
    runs = [run for paths in by_folder for run in sorted(map(_read, paths), key=_started)]
    order = list(probes())
    return named(sorted(runs, key=lambda run: order.index(run.probe)))


def _started(run: Run) -> str:
    return str(run.manifest.get("started", ""))


def all_runs(given: Sequence[Run | Path | str]) -> list[Run]:
    """Return finished runs, those that are given as folders after the others."""
    for one in given:
        if not isinstance(one, str | Path | Run):
            kind = type(one).__name__
            raise RequestError(
                f"an object of type {kind} is no run; expected runs or their folders"
            )
    folders = [Path(one) for one in given if isinstance(one, str | Path)]
    read = read_runs(folders) if folders else ()
    return [*(one for one in given if isinstance(one, Run)), *read]


def _runs_in(folder: Path) -> list[Path]:
    """Return the run folders in a folder, or only the folder itself if it contains a run."""
    if not folder.is_dir():
        problem = "is a file" if folder.is_file() else "does not exist"
        raise RequestError(f"{folder} {problem}; expected the folder of a run")
    paths = sorted(_searched(folder))
    if not paths:
        raise RequestError(
            f"{folder} contains no run; expected manifest.json in this folder or in its subfolders"
        )
    return paths


def _searched(folder: Path) -> Iterator[Path]:
    """Yield a folder if it contains a run; otherwise, search its non-hidden subfolders."""
    if any((folder / name).is_file() for name in ("manifest.json", "run.yaml")):
        yield folder
        return
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.name.startswith(".") and not inside.is_symlink():
            yield from _searched(inside)


def read_run(folder: Path, name: str | None = None) -> Run:
    """Read a folder that contains one run, which is of the probe ``name`` if one is given."""
    runs = read_runs([folder])
    if len(runs) > 1:
        names = ", ".join(str(run.folder) for run in runs)
        raise RequestError(f"{folder} contains several runs: give one of them ({names})")
    (run,) = runs
    if name not in {None, run.probe}:
        raise RequestError(
            f"{folder} contains a run of the probe {run.probe}; expected one of tacit run {name}"
        )
    return run


def _read(folder: Path) -> Run:
    tables, manifest, request = read_findings(folder), read_manifest(folder), read_request(folder)
    name = request.get("probe")
    if name not in probes():
        raise DataError(
            f"names the unknown probe {name!r}; expected one of {', '.join(probes())}. If a "
            "Python file defines the probe, give this file: tacit report FILE.py RUN or, in "
            "Python, tacit.load_run(RUN, probe='FILE.py')",
            folder / "run.yaml",
        )
    specs = declared_tables(probe(name))
    try:
        if specs:
            check_tables(tables, {**specs, SKIPPED: SHARED[SKIPPED]})
    except FindingsError as error:
        raise DataError(
            f"was written by another version of Tacit ({error}); repeat the run with the options "
            "in run.yaml",
            folder,
        ) from error
    return Run(folder, "", request, manifest, tables)
