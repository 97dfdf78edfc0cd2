"""Read the file of a suite: its models, its runs, and the options of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tacit.documents import Document, read_as, similar, unknown_key
from tacit.errors import DataError, RequestError
from tacit.files import file_name
from tacit.models.openai.options import check_holds_no_key, is_address
from tacit.models.options import ModelOptions
from tacit.models.registry import DEMOS
from tacit.options import OptionError, build, declarations
from tacit.probes.registry import probe, probes

Location: TypeAlias = tuple[str, int]

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
class ModelEntry:
    """A model of a suite."""

    name: str
    settings: ModelOptions
    location: Location


@dataclass(frozen=True)
class RunEntry:
    """A probe with its options, and the models on which the probe runs."""

    name: str
    probe: str
    options: Any
    models: tuple[ModelEntry, ...]
    location: Location


@dataclass(frozen=True)
class SuiteFile:
    """A suite that was read from a file.

    Options in ``given`` have precedence over those of the file; ``only`` are the names of the runs
    to include, all of them if it is empty.
    """

    SHIPPED: ClassVar[tuple[str, ...]] = tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))

    document: Document[_Content]
    given: Mapping[str, Any] = field(default_factory=dict)
    only: Sequence[str] = ()

    @classmethod
    def read(
        cls,
        name_or_path: str | Path,
        given: Mapping[str, Any] | None = None,
        only: Sequence[str] = (),
    ) -> SuiteFile:
        """Read a suite from a path or by the name of a shipped suite."""
        document = read_as(_Content, path_of(name_or_path), check_holds_no_key)
        read = cls(document, given or {}, only)
        read._check_given()
        _ = read.runs  # raises if an entry is wrong
        return read

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.document.path

    @property
    def _base(self) -> Path:
        """The folder to which the relative paths in the file refer."""
        return Path() if self.path.parent == SHIPPED else self.path.parent

    @property
    def out(self) -> Path | None:
        """The folder for all runs, which must lie beside the file; None if the file names none."""
        named, base = self.document.content.out, self._base
        if named is not None and not (base / named).resolve().is_relative_to(base.resolve()):
            raise self.document.error(
                f"out is {named}, which leads out of {base.resolve()}: give another folder", "out"
            )
        return None if named is None else base / named

    @property
    def models(self) -> tuple[ModelEntry, ...]:
        """The models of the runs, in the order of the file."""
        used = {model.name for run in self.runs for model in run.models}
        return tuple(model for model in self._models.values() if model.name in used)

    @cached_property
    def runs(self) -> tuple[RunEntry, ...]:
        """The runs."""
        found: dict[str, RunEntry] = {}
        for at, entry in enumerate(self.document.content.runs):
            name, location = entry.name or entry.probe, ("runs", at)
            if name.casefold() in map(str.casefold, found):
                raise self.document.error(
                    f"two runs are called {name}; give each a different name (name: …)", *location
                )
            found[name] = self._run(entry, name, location)
        for name in self.only:
            if name not in found:
                raise RequestError(f"--only: there is no run {name!r}; expected {', '.join(found)}")
        return tuple(run for name, run in found.items() if not self.only or name in self.only)

    @cached_property
    def _models(self) -> Mapping[str, ModelEntry]:
        """The models, by the names that they have in the file."""
        found: dict[str, ModelEntry] = {}
        for at, entry in enumerate(self.document.content.models):
            location = ("models", at)
            if entry.model in found:
                problem = f"the model {entry.model} is given twice; give it once"
                raise self.document.error(problem, *location)
            name = _model_name(entry.model, self._base)
            about = entry.model_dump(include={*_DESCRIBING}, exclude_none=True)
            described = {key: {name: value} for key, value in about.items()}
            settings = self._options(ModelOptions, entry, location, described)
            found[entry.model] = ModelEntry(name, settings, location)
        return found

    def _run(self, entry: _Run, name: str, location: Location) -> RunEntry:
        kind, models = probe(entry.probe).Options, self._models
        taken = sorted({*declarations(kind)} & {*_Run.model_fields})
        if taken:
            raise self.document.error(
                f"the probe {entry.probe} has an option {taken[0]}, which is a key of every run: "
                "it cannot be part of a suite",
                *location,
            )
        for at, model in enumerate(entry.models or ()):
            if model not in models:
                raise self.document.error(
                    f"{_dotted(location)}.models names {model!r}; expected models of this suite: "
                    f"{', '.join(models)}{similar(model, tuple(models))}",
                    *(*location, "models", at),
                )
        chosen = tuple(models[model] for model in dict.fromkeys(entry.models or models))
        options = self._options(kind, entry, location, {})
        return RunEntry(name, entry.probe, options, chosen, location)

    def _options(
        self, kind: type, entry: _Model | _Run, location: Location, more: Mapping[str, Any]
    ) -> Any:  # noqa: ANN401 - an instance of kind
        """Return the options of a model or run."""
        known, where = declarations(kind), _dotted(location)
        values: dict[str, Any] = {**more}
        for key, value in (entry.model_extra or {}).items():
            if key not in known or known[key].hidden:
                own = [name for name, one in known.items() if not one.hidden]
                names = list(dict.fromkeys([*type(entry).model_fields, *own]))
                raise self.document.error(unknown_key(where, key, names), *location, key)
            if known[key].permits:
                raise self.document.error(
                    f"{where}.{key} counts only on the command line: remove it and, if "
                    f"you allow it for these models, add --set {key}=true",
                    *(*location, key),
                )
            values[key] = known[key].beneath(value, self._base)
        mine = {
            key: known[key].beneath(value, Path())
            for key, value in self.given.items()
            if key in known
        }
        try:
            return build(kind, values | mine)
        except RequestError as error:
            name = error.name if isinstance(error, OptionError) else ""
            if name in mine:
                raise RequestError(f"--set {name}={self.given[name]}: {error}") from error
            raise self.document.error(f"{where}: {error}", *location, name) from error

    def _check_given(self) -> None:
        entries = self.document.content.runs
        kinds = (*(probe(entry.probe).Options for entry in entries), ModelOptions)
        known = dict.fromkeys(key for kind in kinds for key in declarations(kind))
        for key in self.given:
            if key not in known or key in _DESCRIBING:
                raise RequestError(unknown_key("--set", key, tuple(known)))

    def error(self, problem: object, entry: RunEntry | ModelEntry) -> DataError:
        """Return an error whose message contains the file's path and the entry's line number."""
        text = str(problem)
        named = text.startswith(f"{entry.name}: ")
        return self.document.error(text if named else f"{entry.name}: {text}", *entry.location)


def path_of(name_or_path: str | Path) -> Path:
    """Return the path of a suite file, given this path or the name of a shipped suite."""
    path = Path(name_or_path)
    if isinstance(name_or_path, Path) or path.suffix or len(path.parts) > 1:
        return path
    if path.name not in SuiteFile.SHIPPED:
        raise RequestError(
            f"there is no suite {path.name!r}; expected {', '.join(SuiteFile.SHIPPED)}, or the "
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


def _dotted(location: Location) -> str:
    return ".".join(map(str, location))
