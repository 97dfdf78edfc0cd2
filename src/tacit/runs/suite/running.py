"""Run a suite, one model after the other; ``suite.json`` has the state of each of its runs."""

from __future__ import annotations

import gc
import json
import logging
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tacit.english import several
from tacit.errors import RequestError, TacitError
from tacit.files import SUITE, publish_text
from tacit.outputs import OutputKind, check_outputs, page
from tacit.runs.comparison import warnings, write_comparison
from tacit.runs.reading import read_runs
from tacit.runs.reporter import resumable
from tacit.runs.run import Runs, named
from tacit.runs.suite.file import PlannedRun, Suite
from tacit.runs.workflow import REPORT

log = logging.getLogger("tacit")

STATUS = "suite.json"
"""The name of the file that contains the state of each run of a suite."""

State: TypeAlias = Literal["waiting", "done", "failed", "skipped"]
"""The state of a run; ``skipped`` means not started because an earlier run failed."""


@dataclass(frozen=True, repr=False, eq=False)
class SuiteRuns(Mapping[str, Runs]):
    """The finished runs of a suite: a mapping from run names to one run for each model."""

    runs: Mapping[str, Runs]
    failed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    skipped: Sequence[tuple[str, str]] = ()
    report: Path | None = None

    def __getitem__(self, name: str) -> Runs:
        return self.runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def problem(self) -> str | None:
        """A message with the number of failed runs and their errors; None if no run failed."""
        if not self.failed:
            return None
        every = len(self.failed) + len(self.skipped) + sum(map(len, self.runs.values()))
        lines = [
            f"{len(self.failed):,} of {several(every, 'run')} failed"
            + (f", {len(self.skipped):,} not attempted" if self.skipped else ""),
            *(f"  {name}, {model}: {error}" for (name, model), error in self.failed.items()),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        lines = [f"  {name}: {', '.join(runs)}" for name, runs in self.runs.items()]
        return "\n".join(["SuiteRuns:", *lines, *([self.problem] if self.problem else [])])


@resumable("finished runs and all answers so far are stored")
def run_suite(suite: Suite, *, fail_fast: bool = False, report: bool = True) -> SuiteRuns:
    """Run the unfinished runs of a suite, and write one report about all finished runs."""
    if suite.out is None:
        raise RequestError(
            "the suite names no folder: add out: FOLDER to its file, or give a folder"
        )
    _check_folder(suite.out, suite.document.path, report=report)
    suite.check()
    suite.find_models()
    states: dict[tuple[str, str], State] = {run.key: "waiting" for run in suite.runs}
    work = _Work(suite, suite.out, fail_fast, states)
    work.run()
    return work.published(report=report)


def _check_folder(out: Path, file: Path, *, report: bool) -> None:
    """Raise an error if files that no suite wrote would be overwritten."""
    for folder in (out, *out.parents):
        if folder.is_file():
            raise RequestError(f"{folder} is a file; expected a folder for the runs")
    if (out / "run.yaml").exists():
        raise RequestError(
            f"{out} contains the run of one model: choose another folder for a suite"
        )
    status = (out / STATUS, OutputKind("the status of a suite", _is_status))
    check_outputs([file], [status, (out / REPORT if report else None, page("report"))])


def _is_status(path: Path) -> bool:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"format", "suite", "runs"} <= set(content)


@dataclass(frozen=True)
class _Work:
    """The runs of a suite with their states; the key of a run is its name and its model's name."""

    suite: Suite
    out: Path
    fail_fast: bool
    states: dict[tuple[str, str], State]
    errors: dict[tuple[str, str], str] = field(default_factory=dict)

    def run(self) -> None:
        """Run unfinished runs, model by model; with ``fail_fast``, stop at the first failure."""
        for run in self.suite.runs:
            if run.finished:
                self.states[run.key] = "done"
                self.suite.reporter.note(f"{run.name}, {run.model}: already finished")
        self._write()
        self._read_vocabularies()
        self._confirm()
        for model in self.suite.models:
            waiting = [run for run in self._in("waiting") if run.model == model]
            if waiting and not self._stopped:
                self._run_model(model, waiting)
                gc.collect()  # frees the model before the next one is loaded
        self.states.update(dict.fromkeys([run.key for run in self._in("waiting")], "skipped"))
        self._write()

    def published(self, *, report: bool) -> SuiteRuns:
        """Compare the models of each run, and write one report about all finished runs."""
        done = {run.folder: run.name for run in self._in("done")}
        finished = read_runs([folder for folder in done if folder]) if done else ()
        by_name: dict[str, Runs] = {}
        for name in (name for name in self.suite.requests if name in done.values()):
            runs = Runs(named(run for run in finished if done[run.folder] == name))
            for warning in warnings(runs):
                self.suite.reporter.warn(warning)
            write_comparison(runs, self.out / name)
            by_name[name] = runs
        page = self.out / REPORT if finished and report else None
        if page is not None:
            Runs(finished).report(page)
        return SuiteRuns(by_name, self.errors, [run.key for run in self._in("skipped")], page)

    def _in(self, state: State) -> list[PlannedRun]:
        return [run for run in self.suite.runs if self.states[run.key] == state]

    @property
    def _stopped(self) -> bool:
        return self.fail_fast and bool(self.errors)

    def _read_vocabularies(self) -> None:
        """Read the models' vocabularies, on which the questions of some probes depend."""
        for name, request in self.suite.requests.items():
            runs = [run for run in self._in("waiting") if run.name == name]
            if not runs or not request.made.ranks_vocabulary or self._stopped:
                continue
            with self._reporting(runs, " (its questions depend on all of its models)"):
                _ = request.probes

    def _confirm(self) -> None:
        """Ask the user whether to accept the cost of querying chat models."""
        for name, request in self.suite.requests.items():
            request.confirm([run.model for run in self._in("waiting") if run.name == name])

    def _run_model(self, model: str, runs: Sequence[PlannedRun]) -> None:
        """Load a model, run all of its runs, and remove the model from memory."""
        self.suite.reporter.note(f"{model}: {', '.join(run.name for run in runs)}")
        with self._reporting(runs):
            engine = runs[0].request.model(model).start()
            for run in runs:
                if not self._stopped:
                    with self._reporting([run]):
                        run.request.ask(model, engine)
                        self.states[run.key] = "done"
                        self._write()

    @contextmanager
    def _reporting(self, runs: Sequence[PlannedRun], because: str = "") -> Iterator[None]:
        """Return a context manager that records runs as failed if its ``with`` block fails."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a failure must not stop the other runs
            text = _text(error) + because
            for run in runs:
                self.states[run.key] = "failed"
                self.errors[run.key] = text
                self.suite.reporter.warn(f"{run.name}, {run.model}: failed: {text}")
            self._write()

    def _write(self) -> None:
        runs = [
            {
                "run": run.name,
                "probe": run.request.probe,
                "model": run.model,
                "folder": run.folder and run.folder.relative_to(self.out).as_posix(),
                "status": self.states[run.key],
                "error": self.errors.get(run.key),
            }
            for run in self.suite.runs
        ]
        content = {"format": SUITE, "suite": str(self.suite.document.path), "runs": runs}
        publish_text(self.out / STATUS, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _text(error: Exception) -> str:
    """Return the message of an error; if the error is a bug, log its traceback."""
    if isinstance(error, TacitError):
        return str(error)
    # As text, because a record with the traceback would keep the model in memory.
    log.error("unexpected error\n%s", "".join(traceback.format_exception(error)))
    return f"{type(error).__name__}: {error}"
