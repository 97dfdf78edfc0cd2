"""Read the file of a suite: its models, its runs, and the options of each run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tacit.documents import Document, problem_of, read_as, similar, unknown_key
from tacit.errors import DataError, RequestError
from tacit.files import file_name
from tacit.models.openai.options import check_holds_no_key, is_address
from tacit.models.registry import DEMOS
from tacit.models.settings import ModelSettings
from tacit.options import Option, build, declarations
from tacit.probes.base import probe, probes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHIPPED = Path(__file__).parents[2] / "data" / "suites"

RESERVED = ("report.html", "suite.json")
"""Names of files that a suite writes, and that cannot be used as names of runs."""

_OF_RUN = ("probe", "name", "models")
_DESCRIBING = ("family", "parameters")


class _Content(BaseModel):
    """The top level of a suite's file; the entries of ``models`` and ``runs`` are unchecked."""

    model_config = ConfigDict(extra="forbid")

    out: str | None = None
    models: Annotated[list[Any], Field(min_length=1)]
    runs: Annotated[list[Any], Field(min_length=1)]


@dataclass(frozen=True)
class ModelEntry:
    """A model of a suite."""

    name: str
    settings: ModelSettings
    described: Mapping[str, str]
    index: int

    @property
    def location(self) -> tuple[str, int]:
        """The location of the entry in the suite's file: "models" and the entry's index."""
        return ("models", self.index)


@dataclass(frozen=True)
class RunEntry:
    """A probe with its options, and the models on which the probe runs."""

    name: str
    probe: str
    options: Any
    models: tuple[ModelEntry, ...]
    index: int

    @property
    def location(self) -> tuple[str, int]:
        """The location of the entry in the suite's file: "runs" and the entry's index."""
        return ("runs", self.index)

    @property
    def settings(self) -> Mapping[str, ModelSettings]:
        """The settings with which each model of the run is loaded, by the name of the model."""
        return {model.name: model.settings for model in self.models}

    @property
    def described(self) -> dict[str, list[str]]:
        """Values of the options ``family`` and ``parameters``: a list of NAME=VALUE per option."""
        return {
            key: [f"{m.name}={m.described[key]}" for m in self.models if key in m.described]
            for key in _DESCRIBING
        }


@dataclass(frozen=True)
class SuiteFile:
    """A suite that was read from a file."""

    SHIPPED: ClassVar[tuple[str, ...]] = tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))

    path: Path
    models: tuple[ModelEntry, ...]
    runs: tuple[RunEntry, ...]
    document: Document[_Content]

    @property
    def out(self) -> Path | None:
        """The folder for all runs, which must lie beside the file; None if the file names none."""
        named, base = self.document.content.out, base_of(self.path)
        if named is not None and not (base / named).resolve().is_relative_to(base.resolve()):
            raise self.document.error(
                f"out is {named}, which leads out of {base.resolve()}: give the folder with --out",
                "out",
            )
        return None if named is None else base / named

    @classmethod
    def read(
        cls,
        name_or_path: str | Path,
        given: Mapping[str, Any] | None = None,
        only: Sequence[str] = (),
    ) -> SuiteFile:
        """Read a suite's file, which is given by its path or by the name of a shipped suite."""
        path = path_of(name_or_path)
        return _Reader(read_as(_Content, path), base_of(path)).suite(given or {}, only)

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


def base_of(path: Path) -> Path:
    """Return the folder to which the relative paths in a suite's file refer."""
    return Path() if path.parent == SHIPPED else path.parent


@dataclass(frozen=True)
class _Reader:
    """A reader of the entries in a suite's file; its error messages contain line numbers."""

    document: Document[_Content]
    base: Path

    def suite(self, given: Mapping[str, Any], only: Sequence[str]) -> SuiteFile:
        """Return the suite; see ``SuiteFile.read``."""
        content = self.document.content
        self._check_secrets()
        models = self._models(content.models, given)
        entries = [self._mapping(one, "runs", at) for at, one in enumerate(content.runs)]
        probes_of = [self._probe(entry, at) for at, entry in enumerate(entries)]
        names = self._names(entries, probes_of)
        _check_only(only, names)
        _check_given(given, probes_of)
        runs = tuple(
            self._run(entry, (names[at], at), models, given)
            for at, entry in enumerate(entries)
            if not only or names[at] in only
        )
        used = {model.name for run in runs for model in run.models}
        order = tuple(model for model in models.values() if model.name in used)
        return SuiteFile(self.document.path, order, runs, self.document)

    def _mapping(self, entry: Any, *location: int | str) -> dict[str, Any]:  # noqa: ANN401 - YAML
        if not isinstance(entry, dict):
            what = "a name or a mapping" if location[0] == "models" else "a mapping"
            raise self._error(f"{_dotted(location)} must be {what}", *location)
        return {str(key): value for key, value in entry.items()}

    def _models(self, entries: Sequence[Any], given: Mapping[str, Any]) -> dict[str, ModelEntry]:
        """Return the models, by the names that they have in the suite's file."""
        known = declarations(ModelSettings)
        allowed = ("model", *dict.fromkeys((*_shown(known), *_DESCRIBING)))
        found: dict[str, ModelEntry] = {}
        for at, one in enumerate(entries):
            location = ("models", at)
            entry = self._mapping(_as_mapping(one), *location)
            self._check_keys(entry, allowed, location)
            name = entry.pop("model", None)
            if not isinstance(name, str) or not name.strip():
                problem = "must be a model's name or path" if name is not None else "is missing"
                raise self._error(f"{_dotted(location)}.model {problem}", *location, "model")
            if name in found:
                raise self._error(f"the model {name} is given twice; give it once", *location)
            described = {key: entry.pop(key) for key in _DESCRIBING if key in entry}
            for key, value in described.items():
                if not isinstance(value, str | int | float) or isinstance(value, bool):
                    problem = f"{_dotted(location)}.{key} must be text or a number"
                    raise self._error(problem, *location, key)
            settings = self._built(ModelSettings, entry, location, given)
            texts = {key: str(value) for key, value in described.items()}
            found[name] = ModelEntry(_model_name(name, self.base), settings, texts, at)
        return found

    def _check_secrets(self) -> None:
        """Refuse addresses with secrets before any message can repeat them."""
        content = self.document.content
        seen: set[int] = set()  # aliases repeat nodes, or contain themselves
        left: list[tuple[tuple[int | str, ...], Any]] = [
            ((name,), getattr(content, name)) for name in type(content).model_fields
        ]
        while left:
            location, value = left.pop()
            if isinstance(value, str):
                try:
                    check_holds_no_key(value)
                except RequestError as error:
                    raise self._error(str(error), *location) from error
            elif isinstance(value, dict | list) and id(value) not in seen:
                seen.add(id(value))
                items = value.items() if isinstance(value, dict) else enumerate(value)
                left += [((*location, key), one) for key, one in items]

    def _probe(self, entry: Mapping[str, Any], at: int) -> str:
        name = entry.get("probe")
        if name is None:
            raise self._error(
                f"runs.{at}.probe is missing; expected one of {', '.join(probes())}", "runs", at
            )
        if name not in probes():
            problem = f"there is no probe {name!r}; expected one of {', '.join(probes())}"
            raise self._error(problem + similar(str(name), probes()), "runs", at, "probe")
        return str(name)

    def _names(self, entries: Sequence[Mapping[str, Any]], of: Sequence[str]) -> list[str]:
        """Return the names of the runs; each name is unique and can be used as a folder name."""
        names: list[str] = []
        for at, entry in enumerate(entries):
            name = entry.get("name", of[at])
            if not isinstance(name, str) or file_name(name) != name or name in RESERVED:
                raise self._error(
                    f"runs.{at}.name is {name!r}; expected letters, digits, dots, hyphens and "
                    "underscores",
                    *("runs", at, "name"),
                )
            if name.casefold() in (each.casefold() for each in names):
                raise self._error(
                    f"two runs are called {name}; give each a different name (name: …)",
                    *("runs", at),
                )
            names.append(name)
        return names

    def _run(
        self,
        entry: Mapping[str, Any],
        named: tuple[str, int],
        models: Mapping[str, ModelEntry],
        given: Mapping[str, Any],
    ) -> RunEntry:
        name, at = named
        kind = probe(entry["probe"])
        known = declarations(kind.Options)
        taken = sorted({*known} & {*_OF_RUN})
        if taken:
            raise self._error(
                f"the probe {kind.name} has an option {taken[0]}, which is a key of every run: "
                "it cannot be part of a suite",
                *("runs", at),
            )
        self._check_keys(entry, (*_OF_RUN, *_shown(known)), ("runs", at))
        options = {key: value for key, value in entry.items() if key in known}
        built = self._built(kind.Options, options, ("runs", at), given)
        return RunEntry(name, kind.name, built, self._chosen(entry, at, models), at)

    def _chosen(
        self, entry: Mapping[str, Any], at: int, models: Mapping[str, ModelEntry]
    ) -> tuple[ModelEntry, ...]:
        """Return the models that a run's entry lists, or all models if it lists no models."""
        names = entry.get("models")
        if names is None:
            return tuple(models.values())
        location = ("runs", at, "models")
        if not isinstance(names, list) or not names:
            raise self._error(f"{_dotted(location)} must be a list of models", *location)
        for number, name in enumerate(names):
            if name not in models:
                raise self._error(
                    f"{_dotted(location)} names {name!r}; expected models of this suite: "
                    f"{', '.join(models)}{similar(str(name), tuple(models))}",
                    *(*location, number),
                )
        return tuple(models[name] for name in dict.fromkeys(names))

    def _check_keys(
        self, entry: Mapping[str, Any], allowed: Sequence[str], location: Sequence[int | str]
    ) -> None:
        for key in entry:
            if key not in allowed:
                problem = unknown_key(_dotted(location), key, allowed)
                raise self._error(problem, *location, key)

    def _built(
        self,
        kind: type,
        entry: Mapping[str, Any],
        location: Sequence[int | str],
        given: Mapping[str, Any],
    ) -> Any:  # noqa: ANN401 - an instance of kind
        """Return the options of a model or run; values in ``given`` override the file's values."""
        known = declarations(kind)
        for key in entry:
            if known[key][1].permits:
                raise self._error(
                    f"{_dotted(location)}.{key} counts only on the command line: remove it and, if "
                    f"you allow it for these models, add --set {key}=true",
                    *(*location, key),
                )
        mine = {
            key: _given(key, of, known[key])
            for key, of in given.items()
            if key in known and key not in _DESCRIBING
        }
        values = {
            key: self._option(value, known[key], (*location, key))
            for key, value in entry.items()
            if key not in mine
        }
        try:
            return build(kind, {**values, **mine})
        except RequestError as error:
            raise self._error(f"{_dotted(location)}: {error}", *location) from error

    def _option(
        self,
        value: Any,  # noqa: ANN401 - YAML
        declared: tuple[Any, Option],
        location: Sequence[int | str],
    ) -> Any:  # noqa: ANN401 - any value
        kind, about = declared
        return within(self._value(value, kind, location, about), declared, self.base)

    def _value(
        self,
        value: Any,  # noqa: ANN401 - YAML
        kind: Any,  # noqa: ANN401 - a type
        location: Sequence[int | str],
        about: Option | None = None,
    ) -> Any:  # noqa: ANN401 - any value
        try:
            return valid(value, kind, about)
        except ValidationError as error:
            problem = problem_of(error.errors(include_url=False)[0])
            raise self._error(f"{_dotted(location)} {problem}", *location) from None

    def _error(self, problem: str, *location: int | str) -> DataError:
        return self.document.error(problem, *location)


def valid(value: Any, kind: Any, about: Option | None = None) -> Any:  # noqa: ANN401 - any value
    """Convert a value from YAML to the type of an option."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    choices = [one for each in kinds if get_origin(each) is Literal for one in get_args(each)]
    if isinstance(value, bool) and {"on", "off"} <= {*choices}:
        return "on" if value else "off"
    if str in kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if str in kinds and isinstance(value, list):
        return TypeAdapter(list[str]).validate_python(value)
    if about is not None and about.least is not None and value is not None:
        kind = Annotated[next(one for one in kinds if one is not type(None)), Field(ge=about.least)]
    return TypeAdapter(kind).validate_python(value)


def within(value: Any, declared: tuple[Any, Option], base: Path) -> Any:  # noqa: ANN401 - any value
    """Return the value of an option; a relative path is joined to the folder ``base``."""
    _, about = declared
    names_file = isinstance(value, str) and about.data is not None and (base / value).is_file()
    if isinstance(value, Path) or names_file:
        found = base.resolve() / value
        return str(found) if names_file else found
    return value


def _given(key: str, value: Any, declared: tuple[Any, Option]) -> Any:  # noqa: ANN401 - any value
    """Return the value of an option that was set outside the suite's file."""
    try:
        return within(valid(value, *declared), declared, Path())
    except ValidationError as error:
        problem = problem_of(error.errors(include_url=False)[0])
        raise RequestError(f"--set {key}={value}: {key} {problem}") from None


def _check_only(only: Sequence[str], names: Sequence[str]) -> None:
    for name in only:
        if name not in names:
            raise RequestError(f"--only: there is no run {name!r}; expected {', '.join(names)}")


def _check_given(given: Mapping[str, Any], of: Sequence[str]) -> None:
    kinds = (*(probe(name).Options for name in of), ModelSettings)
    known = dict.fromkeys(key for kind in kinds for key in declarations(kind))
    for key in given:
        if key not in known or key in _DESCRIBING:
            raise RequestError(unknown_key("--set", key, tuple(known)))


def _as_mapping(entry: Any) -> Any:  # noqa: ANN401 - YAML
    return {"model": entry} if isinstance(entry, str) else entry


def _model_name(name: str, base: Path) -> str:
    """Return a model's name; for a model in a folder or a file, its absolute path."""
    if name in DEMOS or is_address(name):
        return name
    is_path = name.startswith((".", "/", "~"))
    path = base.resolve() / Path(name).expanduser()
    return str(path) if is_path or path.exists() else name


def _shown(known: Mapping[str, tuple[Any, Option]]) -> list[str]:
    return [name for name, (_, about) in known.items() if not about.hidden]


def _dotted(location: Sequence[int | str]) -> str:
    return ".".join(map(str, location))
