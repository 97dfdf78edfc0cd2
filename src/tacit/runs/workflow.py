"""Run a probe on models: create folders, send requests, compare models, write a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit.engine.ask import Engine
from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.errors import RequestError
from tacit.files import file_names
from tacit.findings.findings import Findings
from tacit.models.base import LanguageModel
from tacit.models.options import LoadOptions, ModelOptions
from tacit.options import declarations, digests, requested, sha256_of
from tacit.probes.base import ModelWords, Probe
from tacit.probes.registry import probe
from tacit.requests import RankingPrompt, Request
from tacit.runs import asking
from tacit.runs.comparison import warnings, write_comparison
from tacit.runs.estimate import Cost
from tacit.runs.folder import RunFolder
from tacit.runs.model import RunModel
from tacit.runs.reporter import Reporter, resumable
from tacit.runs.run import Run, Runs, named
from tacit.tables import recorded_path

REPORT = "report.html"
"""The file name of the report."""

FROM_FILE = "beliefs from a file"
"""The name of the elicitation method if the beliefs were read from a file."""


@dataclass(frozen=True)
class RunRequest:
    """A request to run a probe on models, or on beliefs that another program has elicited.

    ``from_file`` says that a file names the models, whose addresses then get no key.
    """

    probe: str
    options: Any
    models: tuple[str, ...] = ()
    beliefs: Path | None = None
    out: Path | None = None
    settings: ModelOptions = field(default_factory=ModelOptions)
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Reporter)
    own_settings: Mapping[str, ModelOptions] = field(default_factory=dict)
    nested: bool = False
    from_file: bool = False
    objects: Mapping[str, LanguageModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.models) == (self.beliefs is not None):
            raise RequestError("give either a model or a file of beliefs")
        if len(set(self.models)) < len(self.models):
            raise RequestError("a model is given twice; give each model once")
        kind = probe(self.probe)
        if self.beliefs is not None and not kind.reads_beliefs():
            raise RequestError(
                f"the probe {self.probe} cannot read beliefs from a file: give a model (--model)"
            )
        for name in self.models:
            self.model(name).check()
            if kind.ranks_vocabulary:
                self.model(name).check_answers(RankingPrompt)
        for name in self._names:
            self._described(name)  # raises if a name or a number is wrong

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the models or, in their place, of the beliefs."""
        if self.beliefs is None:
            return self.models
        # A data frame has no suffix.
        is_file = recorded_path(self.beliefs) == str(self.beliefs)
        return (self.beliefs.name if is_file else self.beliefs.stem,)

    @cached_property
    def _loading(self) -> LoadOptions:
        """The options with which a model without settings of its own is loaded."""
        return self.settings.load.of(self.models, from_file=self.from_file)

    def settings_of(self, name: str) -> ModelOptions:
        """Return the settings with which a model is loaded."""
        return self.own_settings.get(name, self.settings)

    def model(self, name: str) -> RunModel:
        """Return one of the models, with what it is started."""
        own = self.own_settings.get(name)
        loading = self._loading if own is None else own.load.of([name], from_file=True)
        return RunModel(name, loading, self.engine, self.store, self.objects.get(name))

    def _described(self, name: str) -> Mapping[str, str | int]:
        """The family and the number of parameters that the user specified for a model."""
        names = (name,) if name in self.own_settings else self._names
        return self.settings_of(name).described.of(names)[name]

    @cached_property
    def made(self) -> Probe:
        """The probe, created from ``options``."""
        return probe(self.probe).of(self.options)

    @cached_property
    def folders(self) -> Mapping[str, RunFolder]:
        """The folder of each model's run, by model name."""
        request = {"probe": self.probe, **requested(self.options)}
        if self.beliefs is not None:
            request["beliefs"] = recorded_path(self.beliefs)
            paths: Mapping[str, Path | None] = dict.fromkeys(self._names, self.out)
        else:
            if self.made.ranks_vocabulary:
                request["compared"] = sorted(self.models)  # the requests depend on all models
            paths = folders_of(self.models, self.out, nested=self.nested)
        data = digests(self.options)
        return {
            name: RunFolder(path, request | self._of_model(name), data, self._described(name))
            for name, path in paths.items()
        }

    def _of_model(self, name: str) -> dict[str, Any]:
        """The part of the request that is about a model."""
        if self.beliefs is not None:
            return {}
        return {**requested(self.settings_of(name)), "model": name}

    @cached_property
    def probes(self) -> Mapping[str, Probe]:
        """The probe for each model; some probes depend on the vocabularies of all models."""
        from tacit.models import loading

        if not self.made.ranks_vocabulary:
            return dict.fromkeys(self.models, self.made)
        words = {
            name: loading.words_of_model(self.objects[name])
            if name in self.objects
            else loading.words_of(name, self.model(name).loading)
            for name in self.models
        }
        return self.made.for_models({name: ModelWords(*each) for name, each in words.items()})

    @resumable()
    def run(self) -> Runs:
        """Run the probe on each model in turn."""
        _ = self.folders  # raises if a folder has another run
        if self.beliefs is not None:
            return Runs((self._measured(self.beliefs),))
        self._check_models()
        self.confirm(self.models)
        return Runs(tuple(self.ask(name, self.model(name).start()) for name in self.models))

    @resumable()
    def publish(self, runs: Runs, *, report: bool = True) -> None:
        """Compare the models; write a report and comparison tables, unless ``out`` is None."""
        for warning in warnings(runs):
            self.reporter.warn(warning)
        if self.out is not None:
            if report:
                Runs(named(runs.runs)).report(self.out / REPORT)
            write_comparison(runs, self.out)

    def estimate(self) -> dict[str, dict[str, Any]]:
        """Estimate the number of requests to each model, and their duration or cost."""
        if self.beliefs is not None:
            raise RequestError("beliefs from a file need no requests: a dry run needs a model")
        self._check_models()
        return {name: self._estimate(name) for name in self.models}

    def _estimate(self, name: str) -> dict[str, Any]:
        """Estimate a model's requests, as the options are and with the opposite of ``--fast``."""
        model = self.model(name)
        engine = None if model.chats else model.start()
        estimate = self.size(name, engine)
        if (limit := requested(self.options).get("limit")) is not None:
            about = declarations(type(self.options))["limit"].help
            estimate["limit"] = about.replace(" N ", f" {limit:,} ")
        if (other := self._other) is not None:
            key = "with_fast" if other.options.fast else "without_fast"
            estimate[key] = other.size(name, engine)
        return estimate

    def size(self, name: str, engine: Engine | None = None) -> dict[str, Any]:
        """Estimate a model's requests with its engine, which a chat does not need."""
        groups = asking.requests_of(self.probes[name])
        requests = asking.ungrouped(groups)
        estimate = self.model(name).estimate(requests, engine, self.folders[name].blocks)
        return {**estimate, "groups": {key: len(group.requests) for key, group in groups.items()}}

    @property
    def _other(self) -> RunRequest | None:
        """The same request with the opposite of ``--fast``; None if it is not possible."""
        fast = requested(self.options).get("fast")
        if fast is None:
            return None
        try:
            return replace(self, options=replace(self.options, fast=not fast), out=None)
        except RequestError:
            return None

    def ask(self, name: str, engine: Engine) -> Run:
        """Use a model's engine to run the probe on the model."""
        findings = asking.ask(self.probes[name], engine, self.folders[name], self.reporter)
        return self._run(name, findings)

    def _measured(self, beliefs: Path) -> Run:
        """Run the probe on beliefs from a file."""
        ((name, folder),) = self.folders.items()
        model = {"kind": "beliefs", "name": name, "elicitation": FROM_FILE}
        (model["sha256"],) = sha256_of(beliefs).values()
        folder.begin({"model": model})
        with folder.failing():
            findings = self.made.measure_file(beliefs).with_summary(elicitation=FROM_FILE)
            return self._run(name, folder.finish(findings))

    def _run(self, name: str, findings: Findings) -> Run:
        folder, tables = self.folders[name], findings.tables
        return Run(folder.folder, name, folder.request, folder.manifest, tables, findings.questions)

    def confirm(self, names: Iterable[str]) -> None:
        """Ask the user to confirm the cost of querying chat models."""
        chats = [model for name in names if (model := self.model(name)).chats]
        for yes in (True, False):
            costs: dict[str, Cost] = {}
            for model in chats:
                if model.loading.server.yes is yes:
                    costs |= model.costs(self._requests(model.name))
            self.reporter.confirm(costs, yes=yes)

    def _check_models(self) -> None:
        """Raise an error if a model does not exist, or is a chat model that the probe cannot use.

        The first model is found when it is loaded.
        """
        for name in self.models[1:]:
            self.model(name).find()
        self.check_replies()

    def check_replies(self) -> None:
        """Raise an error if a model is a chat model and the probe cannot use chat replies."""
        for name in self.models:
            model = self.model(name)
            if model.chats:
                sampled = model.loading.server.samples is not None
                self.probes[name].check_replies(sampled=sampled)

    def _requests(self, name: str) -> list[Request]:
        return asking.ungrouped(asking.requests_of(self.probes[name]))


def folders_of(
    models: Sequence[str], out: Path | None, *, nested: bool = False
) -> dict[str, Path | None]:
    """Return each model's run folder: ``out`` itself, or a subfolder of ``out`` per model."""
    if out is None or (len(models) == 1 and not nested):
        return dict.fromkeys(models, out)
    if (out / "run.yaml").exists():
        raise RequestError(
            f"{out} contains the run of one model: choose another folder for several models"
        )
    folders = [out / name for name in file_names(map(_last_name, models))]
    if not any((folder / "run.yaml").is_file() for folder in folders):
        _check_beside(out)
    return dict(zip(models, folders, strict=True))


def _check_beside(out: Path) -> None:
    """Raise an error if the output of several runs would overwrite existing files."""
    for name in ("comparison.parquet", "flips.parquet", "slopes.parquet", "figures", REPORT):
        if (out / name).exists():
            raise RequestError(
                f"{out / name} exists, but {out} contains none of these runs: choose another folder"
            )


def _last_name(model: str) -> str:
    """Return the name of a model's folder, or the model's name if it has none."""
    try:
        folder = Path(model)
        return folder.resolve().name if folder.exists() else model
    except OSError:
        return model  # not a valid path
