"""Plan the runs of a suite, and check them before any request is sent to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.errors import DataError, RequestError
from tacit.runs.folder import read_findings
from tacit.runs.reporter import Reporter
from tacit.runs.workflow import RunRequest

if TYPE_CHECKING:
    from tacit.runs.suite.file import RunEntry, SuiteFile


@dataclass(frozen=True)
class PlannedRun:
    """A planned run of one probe on one model."""

    name: str
    model: str
    request: RunRequest

    @property
    def key(self) -> tuple[str, str]:
        """The name of the run and the name of its model."""
        return self.name, self.model

    @property
    def folder(self) -> Path | None:
        """The run's folder; None if the run is not written to disk."""
        return self.request.folders[self.model].folder

    @cached_property
    def finished(self) -> bool:
        """Whether the folder contains the finished run and its files are unchanged."""
        try:
            return self.folder is not None and bool(read_findings(self.folder))
        except DataError:
            return False


@dataclass(frozen=True)
class Plan:
    """The planned runs of a suite."""

    file: SuiteFile
    out: Path | None
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Reporter)

    @cached_property
    def requests(self) -> Mapping[str, RunRequest]:
        """The request for each run in the suite, by the name of the run."""
        for model in self.file.models:
            try:
                loading = model.settings.load.of([model.name], from_file=True)
                self.engine.check([model.name], loading)
            except RequestError as error:
                raise self.file.error(error, model) from error
        return {run.name: self._request(run) for run in self.file.runs}

    @cached_property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The planned runs, in the order of their models in the suite's file."""
        return tuple(
            PlannedRun(run.name, model.name, self.requests[run.name])
            for model in self.file.models
            for run in self.file.runs
            if model in run.models
        )

    def check(self) -> None:
        """Check the options, data and folders of all runs without sending any request."""
        for run in self.file.runs:
            request = self.requests[run.name]
            try:
                for folder in request.folders.values():
                    folder.check_data()
                if not request.made.ranks_vocabulary:
                    request.check_replies()  # other probes reject servers at once
            except RequestError as error:
                raise self.file.error(error, run) from error

    def _request(self, run: RunEntry) -> RunRequest:
        try:
            return RunRequest(
                run.probe,
                run.options,
                tuple(model.name for model in run.models),
                out=self.out and self.out / run.name,
                engine=self.engine,
                store=self.store,
                reporter=self.reporter,
                own_settings={model.name: model.settings for model in run.models},
                nested=True,
            )
        except RequestError as error:
            raise self.file.error(error, run) from error
