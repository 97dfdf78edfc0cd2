"""The steps of running a probe on models: folders, requests, answers, findings and comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine.options import EngineOptions
from tacit.errors import ModelError, RequestError
from tacit.files import file_name
from tacit.models.settings import ModelSettings
from tacit.options import digests, requested, sha256_of
from tacit.probes.base import ModelWords, ReadsBeliefs, probe
from tacit.runs import asking
from tacit.runs.comparison import compared, warnings
from tacit.runs.estimate import estimate
from tacit.runs.folder import RunFolder
from tacit.runs.reading import Run, Runs, named
from tacit.runs.reporter import Quiet
from tacit.runs.scale import scaled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.findings.findings import Findings
    from tacit.models.loading import LoadOptions
    from tacit.probes.base import AnyProbe, Probe
    from tacit.requests import Request
    from tacit.runs.reporter import Reporter

REPORT = "report.html"
"""File name of the report in a folder of runs."""

FROM_FILE = "beliefs from a file"
"""The elicitation method of beliefs that were elicited elsewhere."""


@dataclass(frozen=True)
class Together:
    """The tables about several models.

    Args:
        comparison: The differences between each pair of models; None for a single model.
        scale: The figures over the size of models; None if no family has two sizes.
    """

    comparison: pl.DataFrame | None = None
    scale: pl.DataFrame | None = None


@dataclass(frozen=True)
class RunRequest:
    """A request to run a probe on one or more models, or on beliefs that were elicited elsewhere.

    Args:
        probe: The probe's name.
        options: An instance of the probe's ``Options``.
        models: The models' names.
        beliefs: A file of beliefs, instead of a model.
        out: The run's folder, or with several models the parent of their folders; None writes
            nothing.
        settings: How models are loaded.
        engine: The engine that queries the models.
        store: The score store; None for the default.
        reporter: Receives the progress of the run.
        own_settings: How single models are loaded, by name, if not as in ``settings``.
        nested: Whether the run of a single model is in a subfolder of ``out``, too.

    Raises:
        RequestError: Neither models nor a file of beliefs are given, or both are; a model is named
            twice; or a folder contains another run.
        ModelError: A model's name is invalid.
    """

    probe: str
    options: Any
    models: tuple[str, ...] = ()
    beliefs: Path | None = None
    out: Path | None = None
    settings: ModelSettings = field(default_factory=ModelSettings)
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Quiet)
    own_settings: Mapping[str, ModelSettings] = field(default_factory=dict)
    nested: bool = False

    def __post_init__(self) -> None:
        if bool(self.models) == (self.beliefs is not None):
            raise RequestError("give either models (--model) or a file of beliefs (--beliefs)")
        if len(set(self.models)) < len(self.models):
            raise RequestError("a model is given twice; give each model once")
        for name in self.models:
            self.engine.check([name], self.loading_of(name))
        _ = self._described  # raises if a name or a number is wrong
        kind = probe(self.probe)
        if hasattr(kind, "for_models"):
            _check_vocabularies(self.models, self.beliefs)

    @cached_property
    def loading(self) -> LoadOptions:
        """The options for loading the models."""
        return self.settings.options(self.models)

    def settings_of(self, name: str) -> ModelSettings:
        """Return the settings of a model."""
        return self.own_settings.get(name, self.settings)

    def loading_of(self, name: str) -> LoadOptions:
        """Return the options for loading a model.

        Raises:
            RequestError: As ``ModelSettings.options``.
        """
        own = self.own_settings.get(name)
        return self.loading if own is None else own.options([name])

    @cached_property
    def _described(self) -> Mapping[str, Mapping[str, str | int]]:
        """The family and the number of parameters that the user gives, by model."""
        names = self.models if self.beliefs is None else (self.beliefs.name,)
        return self.settings.described.of(names)

    @cached_property
    def _store(self) -> Store:
        from tacit.engine.store import Store

        return self.store or Store.default()

    @cached_property
    def made(self) -> AnyProbe:
        """The probe with its options."""
        return probe(self.probe).of(self.options)

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The digests of the data, by file name."""
        return digests(self.options)

    @cached_property
    def folders(self) -> Mapping[str, RunFolder]:
        """Each model's run folder."""
        request = {"probe": self.probe, **requested(self.options)}
        if self.beliefs is not None:
            return {
                self.beliefs.name: RunFolder(self.out, {**request, "beliefs": str(self.beliefs)})
            }
        if hasattr(self.made, "for_models"):
            request["compared"] = sorted(self.models)  # the requests depend on all models
        requests = {
            name: {**request, **requested(self.settings_of(name).named)} for name in self.models
        }
        return folders_of(requests, self.out, nested=self.nested)

    @cached_property
    def probes(self) -> Mapping[str, Probe]:
        """Each model's probe; a probe that depends on vocabularies first reads those of the models.

        Raises:
            ModelError: A model cannot be loaded.
            RequestError: The models share no word, or there is nothing to ask.
        """
        from tacit.models import loading

        if not hasattr(self.made, "for_models"):
            return dict.fromkeys(self.models, self.made)
        told = {name: loading.words_of(name, self.loading_of(name)) for name in self.models}
        return self.made.for_models({name: ModelWords(*each) for name, each in told.items()})

    def run(self) -> dict[str, Run]:
        """Run one model after the other, with one in memory at a time; return the runs by name."""
        folders, about = self.folders, {"data": self.data}
        if self.beliefs is not None:
            return {self.beliefs.name: self._measured(self.beliefs, folders, about)}
        self.check_replies()
        self.confirm(self.models)
        return {name: self.ask(name, self.start(name)) for name in self.models}

    def publish(self, found: Mapping[str, Run], *, report: bool = True) -> Together:
        """Compare the models and, if there is a folder, write the report and the tables.

        Args:
            found: The runs.
            report: Whether to write a report.

        Raises:
            WorkError: A file cannot be written.
        """
        runs = list(found.values())
        for warning in warnings(runs):
            self.reporter.warn(warning)
        if self.out is not None and report:
            Runs(tuple(named(runs))).report(self.out / REPORT)
        return Together(compared(runs, self.out), scaled(runs, self.out))

    def estimate(self) -> dict[str, dict[str, Any]]:
        """Estimate the requests to each model, and their duration or cost.

        Raises:
            RequestError: Beliefs are given, so that there is nothing to estimate.
        """
        if self.beliefs is not None:
            raise RequestError(
                "--dry-run requires a model (--model); beliefs from a file need no requests"
            )
        self.check_replies()
        return {
            name: self.cost(name) if self.chats(name) else self.estimated(name, self.start(name))
            for name in self.models
        }

    def estimated(self, name: str, engine: Engine) -> dict[str, Any]:
        """Estimate the requests to one model, and their duration, with its engine."""
        return estimate(engine, self.requests(name), self.folders[name].blocks)

    def ask(self, name: str, engine: Engine) -> Run:
        """Run the probe on one model, with its engine."""
        folder = self.folders[name].about({"data": self.data}).describing(self._described[name])
        return _run(folder, asking.ask(self.probes[name], engine, folder, self.reporter), name)

    def _measured(
        self, beliefs: Path, folders: Mapping[str, RunFolder], about: Mapping[str, Any]
    ) -> Run:
        """Run the probe on beliefs that were elicited elsewhere."""
        made = self.made
        if not isinstance(made, ReadsBeliefs):
            raise RequestError(
                f"the probe {self.probe} cannot read beliefs from a file: give a model (--model)"
            )
        folder = folders[beliefs.name].about(about).describing(self._described[beliefs.name])
        model = {"kind": "beliefs", "name": beliefs.name, "elicitation": FROM_FILE}
        (model["sha256"],) = sha256_of(beliefs).values()
        folder.begin({"model": model})
        with folder.failing():
            findings = folder.finish(made.measure_file(beliefs).with_elicitation(FROM_FILE))
        return _run(folder, findings, beliefs.name)

    def start(self, name: str) -> Engine:
        """Start the engine of one model; dropping the engine frees the model."""
        return self.engine.start(name, self.loading_of(name), self._store)

    def requests(self, name: str) -> list[Request]:
        """Return the requests to one model."""
        return asking.ungrouped(asking.requests_of(self.probes[name]))

    def chats(self, name: str) -> bool:
        """Return whether a model is queried through a server's chat API."""
        from tacit.runs.estimate import chats_of

        return bool(chats_of([name], self.loading_of(name).server))

    def cost(self, name: str) -> dict[str, Any]:
        """Return the maximum cost of querying a server's chat API, as the output of a dry run."""
        found: dict[str, Any] = self._cost(name).to_json()
        return found

    def confirm(self, names: Iterable[str]) -> None:
        """Ask for confirmation of the cost of those of the models that chat.

        Raises:
            RequestError: The user declines, or cannot be asked.
        """
        for yes in (True, False):
            costs = {
                name: self._cost(name)
                for name in names
                if self.chats(name) and self.settings_of(name).server.yes is yes
            }
            self.reporter.confirm(costs, yes=yes)

    def check_replies(self) -> None:
        """Raise if replies in a chat cannot answer the probe's questions.

        Raises:
            RequestError: As ``tacit.runs.asking.check_replies``.
        """
        for name in filter(self.chats, self.models):
            sampled = asking.is_sampled(name, self.loading_of(name))
            asking.check_replies(self.probes[name], sampled=sampled)

    def _cost(self, name: str) -> Any:  # noqa: ANN401 - a Cost
        from tacit.models.openai.options import ServerOptions
        from tacit.runs.estimate import Cost

        return Cost.of(self.requests(name), self.loading_of(name).server or ServerOptions())


def _run(folder: RunFolder, findings: Findings, name: str) -> Run:
    return Run(
        folder.folder, name, folder.request, folder.manifest, findings.tables, findings.questions
    )


def _check_vocabularies(models: Sequence[str], beliefs: Path | None) -> None:
    """Raise if a probe that ranks vocabularies is given a server or a file of beliefs.

    Raises:
        ModelError: A name is a server's address.
        RequestError: A file of beliefs is given.
    """
    from tacit.models.openai.options import is_address

    if beliefs is not None:
        raise RequestError(
            "this probe ranks a model's vocabulary, so it cannot read beliefs from a file: give a "
            "model (--model)"
        )
    for name in models:
        if is_address(name):
            raise ModelError(
                f"{name}: this probe ranks a model's whole vocabulary, and a server returns only "
                "the most probable tokens: use a local model"
            )


def folders_of(
    requests: Mapping[str, Mapping[str, Any]], out: Path | None, *, nested: bool = False
) -> dict[str, RunFolder]:
    """Return each model's run folder: ``out`` itself, or with several models a subfolder for each.

    Args:
        requests: Each model's request, without the model, by model name.
        out: The folder; None for runs that are not written.
        nested: Whether a single model has a subfolder, too.

    Raises:
        RequestError: A folder contains another run.
    """
    if out is None or (len(requests) == 1 and not nested):
        return {name: RunFolder(out, {**of, "model": name}) for name, of in requests.items()}
    if (out / "run.yaml").exists():
        raise RequestError(
            f"{out} contains the run of one model: choose another --out for several models"
        )
    taken: set[str] = set()
    folders: dict[str, RunFolder] = {}
    for name, request in requests.items():
        place = _folder_name(name, taken)
        taken.add(place.casefold())
        folders[name] = RunFolder(out / place, {**request, "model": name})
    _check_beside(out, [run.folder for run in folders.values() if run.folder])
    return folders


def _check_beside(out: Path, folders: Sequence[Path]) -> None:
    """Raise if the comparison, figures or report of several runs would overwrite other files.

    If one of the runs already exists, these files are assumed to belong to the same command.

    Raises:
        RequestError: One of these files exists, and none of the runs.
    """
    if any((folder / "run.yaml").is_file() for folder in folders):
        return
    for name in ("comparison.parquet", "scale.parquet", "figures", REPORT):
        if (out / name).exists():
            raise RequestError(
                f"{out / name} exists, but {out} contains none of these runs: choose another --out"
            )


def _folder_name(model: str, taken: Collection[str]) -> str:
    """Return an unused folder name for a model, also unique on case-insensitive file systems."""
    try:
        place = Path(model)
        own = place.resolve().name if place.is_dir() else model
    except OSError:
        own = model  # not a valid path
    name = file_name(own)
    candidates = (f"{name}-{n}" if n > 1 else name for n in count(1))
    return next(candidate for candidate in candidates if candidate.casefold() not in taken)
