"""A suite: the file that describes it, and the runs that it plans, checked before any request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tacit.documents import Document, read_as, similar, unknown_key
from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.errors import DataError, NetworkError, RequestError
from tacit.files import file_name
from tacit.models.openai.options import check_holds_no_key, is_address
from tacit.models.options import LoadOptions, ModelOptions
from tacit.models.registry import DEMOS
from tacit.options import OptionError, build, declarations
from tacit.probes.registry import probe, probes
from tacit.runs.folder import read_findings
from tacit.runs.reporter import Reporter
from tacit.runs.workflow import RunRequest

SHIPPED = Path(__file__).parents[2] / "data" / "suites"

RESERVED = ("report.html", "suite.json")
"""Names of files that a suite writes, and that cannot be used as names of runs."""

_DESCRIBING = ("family", "parameters")
"""Options whose value in a file is that of the entry's model, and not a list of models."""


def _probe_name(name: str) -> str:
    if name not in probes():
        known = f"expected one of {', '.join(probes())}{similar(name, probes())}"
        raise ValueError(f"is {name!r}, and there is no such probe; {known}")
    return name


def _run_name(name: str) -> str:
    if file_name(name) != name or name in RESERVED:
        raise ValueError(f"is {name!r}; expected letters, digits, dots, hyphens and underscores")
    return name


class _Model(BaseModel):
    """An entry of ``models``; its other keys are options of the model."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True, str_min_length=1)

    model: str
    family: str | None = None
    parameters: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, entry: Any) -> Any:  # noqa: ANN401 - YAML
        if not isinstance(entry, str | dict):
            raise ValueError("must be a name or a mapping")  # noqa: TRY004 - for pydantic
        return {"model": entry} if isinstance(entry, str) else entry


class _Run(BaseModel):
    """An entry of ``runs``; its other keys are options of the probe."""

    model_config = ConfigDict(extra="allow")

    probe: Annotated[str, AfterValidator(_probe_name)]
    name: Annotated[str, AfterValidator(_run_name)] | None = None
    models: Annotated[list[str], Field(min_length=1)] | None = None


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    out: str | None = None
    models: Annotated[list[_Model], Field(min_length=1)]
    runs: Annotated[list[_Run], Field(min_length=1)]


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
class Suite:
    """The runs that a suite's file describes, given its path or the name of a shipped suite.

    Options in ``given`` have precedence over those of the file; ``only`` are the names of the runs
    to include, all of them if it is empty. ``out`` is in place of the folder that the file names.
    """

    SHIPPED: ClassVar[tuple[str, ...]] = tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))

    file: str | Path
    given: Mapping[str, Any] = field(default_factory=dict)
    only: Sequence[str] = ()
    out: Path | None = None
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Reporter)

    def __post_init__(self) -> None:
        known = [declarations(probe(entry.probe).Options) for entry in self._content.runs]
        names = dict.fromkeys(key for kind in (*known, declarations(ModelOptions)) for key in kind)
        for key in self.given:
            if key not in names or key in _DESCRIBING:
                raise RequestError(unknown_key("--set", key, tuple(names)))
        if self.out is None:
            object.__setattr__(self, "out", self._named_folder)

    @cached_property
    def document(self) -> Document[_Content]:
        return read_as(_Content, path_of(self.file), check_holds_no_key)

    @property
    def _content(self) -> _Content:
        return self.document.content

    @property
    def _base(self) -> Path:
        """The folder to which the relative paths in the file refer."""
        path = self.document.path
        return Path() if path.parent == SHIPPED else path.parent

    @property
    def _named_folder(self) -> Path | None:
        """The folder that the file names, which must lie beside the file."""
        named, base = self._content.out, self._base
        if named is not None and not (base / named).resolve().is_relative_to(base.resolve()):
            raise self.document.error(
                f"out is {named}, which leads out of {base.resolve()}: give another folder", "out"
            )
        return None if named is None else base / named

    @cached_property
    def settings(self) -> Mapping[str, ModelOptions]:
        """The settings of each model, in the order of the file."""
        settings: dict[str, ModelOptions] = {}
        for at, entry in enumerate(self._content.models):
            name = self._names[entry.model]
            if name in settings:
                problem = f"the model {entry.model} is given twice; give it once"
                raise self.document.error(problem, "models", at)
            about = entry.model_dump(include={*_DESCRIBING}, exclude_none=True)
            described = {key: {name: value} for key, value in about.items()}
            settings[name] = self._options(ModelOptions, entry, ("models", at), described)
        return settings

    def _check_model(self, name: str) -> None:
        try:
            self.engine.check([name], self.settings[name].load.of([name], from_file=True))
        except RequestError as error:
            raise self._error(error, name, "models", [*self.settings].index(name)) from error

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """The names of the models, by the names that they have in the file."""
        names = [entry.model for entry in self._content.models]
        return {name: _model_name(name, self._base) for name in names}

    @cached_property
    def requests(self) -> Mapping[str, RunRequest]:
        """The request for each run in the suite, by the name of the run."""
        return {name: self._request(name, at) for name, at in self._entries.items()}

    @cached_property
    def _entries(self) -> Mapping[str, int]:
        """The index of each run's entry in the file, by the name of the run."""
        order: dict[str, int] = {}
        for at, entry in enumerate(self._content.runs):
            name = entry.name or entry.probe
            if name.casefold() in map(str.casefold, order):
                problem = f"two runs are called {name}; give each a different name (name: …)"
                raise self.document.error(problem, "runs", at)
            order[name] = at
        for name in self.only:
            if name not in order:
                raise RequestError(f"--only: there is no run {name!r}; expected {', '.join(order)}")
        return {name: at for name, at in order.items() if not self.only or name in self.only}

    @cached_property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The planned runs, in the order of their models in the suite's file."""
        return tuple(
            PlannedRun(name, model, request)
            for model in self.settings
            for name, request in self.requests.items()
            if model in request.models
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that have a run."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    def check(self) -> None:
        """Check the options, data and folders of all runs without sending any request."""
        for name, request in self.requests.items():
            try:
                for folder in request.folders.values():
                    folder.check_data()
                if not request.made.ranks_vocabulary:
                    request.check_replies()  # other probes reject servers at once
            except RequestError as error:
                raise self._error(error, name, "runs", self._entries[name]) from error

    def find_models(self) -> None:
        """Raise an error if there is no such model as one that an unfinished run would ask."""
        waiting = {run.model: run for run in self.runs if not run.finished}
        for name, run in waiting.items():
            try:
                with suppress(NetworkError):  # the other models can be asked
                    run.request.model(name).find()
            except RequestError as error:
                raise self._error(error, name, "models", [*self.settings].index(name)) from error

    def _request(self, name: str, at: int) -> RunRequest:
        entry = self._content.runs[at]
        kind = probe(entry.probe).Options
        taken = sorted({*declarations(kind)} & {*_Run.model_fields})
        if taken:
            raise self.document.error(
                f"the probe {entry.probe} has an option {taken[0]}, which is a key of every run: "
                "it cannot be part of a suite",
                *("runs", at),
            )
        for number, model in enumerate(entry.models or ()):
            if model not in self._names:
                raise self.document.error(
                    f"runs.{at}.models names {model!r}; expected models of this suite: "
                    f"{', '.join(self._names)}{similar(model, tuple(self._names))}",
                    *("runs", at, "models", number),
                )
        options = self._options(kind, entry, ("runs", at), {})
        models = tuple(self._names[each] for each in dict.fromkeys(entry.models or self._names))
        for model in models:
            self._check_model(model)
        try:
            return RunRequest(
                entry.probe,
                options,
                models,
                out=self.out and self.out / name,
                engine=self.engine,
                store=self.store,
                reporter=self.reporter,
                own_settings={model: self.settings[model] for model in models},
                nested=True,
            )
        except RequestError as error:
            raise self._error(error, name, "runs", at) from error

    def _options(
        self,
        kind: type,
        entry: _Model | _Run,
        location: tuple[str, int],
        values: Mapping[str, Any],
    ) -> Any:  # noqa: ANN401 - an instance of kind
        """Return the options of a model or run: ``values``, those of the file and those given."""
        known, where = declarations(kind), ".".join(map(str, location))
        own = dict(values)
        for key, value in (entry.model_extra or {}).items():
            if key not in known:
                names = list(dict.fromkeys([*type(entry).model_fields, *known]))
                raise self.document.error(unknown_key(where, key, names), *location, key)
            if known[key].permits:
                raise self.document.error(
                    f"{where}.{key} counts only on the command line: remove it and, if "
                    f"you allow it for these models, add --set {key}=true",
                    *(*location, key),
                )
            own[key] = known[key].beneath(value, self._base)
        given = {
            key: known[key].beneath(value, Path())
            for key, value in self.given.items()
            if key in known and not (isinstance(entry, _Model) and _has_no_effect(key, entry.model))
        }
        try:
            return build(kind, own | given)
        except RequestError as error:
            name = error.name if isinstance(error, OptionError) else ""
            if name in given:
                raise RequestError(f"--set {name}={self.given[name]}: {error}") from error
            raise self.document.error(f"{where}: {error}", *location, name) from error

    def _error(self, error: RequestError, name: str, *location: str | int) -> DataError:
        """Return an error with the path of the file, the line of the entry and its name."""
        text = str(error)
        named = text.startswith(f"{name}: ")
        return self.document.error(text if named else f"{name}: {text}", *location)


def _has_no_effect(key: str, model: str) -> bool:
    """Return whether an option for all models has none on a server."""
    return is_address(model) and key in vars(LoadOptions())


def path_of(name_or_path: str | Path) -> Path:
    """Return the path of a suite file, given this path or the name of a shipped suite."""
    path = Path(name_or_path)
    if isinstance(name_or_path, Path) or path.suffix or len(path.parts) > 1:
        return path
    if path.name not in Suite.SHIPPED:
        raise RequestError(
            f"there is no suite {path.name!r}; expected {', '.join(Suite.SHIPPED)}, or the "
            "path of a YAML file"
        )
    return SHIPPED / f"{path.name}.yaml"


def _model_name(name: str, base: Path) -> str:
    """Return a model's name; for a model in a folder or a file, its absolute path."""
    if name in DEMOS or is_address(name):
        return name
    is_path = name.startswith((".", "/", "~"))
    path = base.resolve() / Path(name).expanduser()
    return str(path) if is_path or path.exists() else name
