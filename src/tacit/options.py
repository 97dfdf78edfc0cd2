"""Options of probes, models and engines; each option is declared once, as a dataclass field."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from os import PathLike
from pathlib import Path
from string import Formatter
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    SupportsIndex,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tacit.errors import RequestError, TacitError
from tacit.files import file_hash
from tacit.strings import shown
from tacit.tables import check_file, frame_of, recorded_path, table_path

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KEY = "tacit"


@dataclass(frozen=True)
class Option:
    """The declaration of an option; ``declarations`` fills in what the dataclass field defines.

    Args:
        help: The help text, of one or two sentences, to which the default value is added.
        flags: The names on the command line; if empty, the name of the dataclass field.
        metavar: The placeholder for the option's value in the help text.
        least: The minimum value, if the option is a number.
        group: The heading in the help text under which the option is listed.
        requested: Whether ``run.yaml`` includes the option, so that a run with another value needs
            a new folder.
        data: A function from a value to the digest of each data file to which it refers, by file
            name; by default, a path is the only such file.
        rare: Whether only ``--help-all`` lists the option, and not the short help of a command.
        absent: A function that returns the value if a required option is not given, such as the
            path of a data set that was fetched, or raises a ``ValueError`` (see ``check``).
        check: A function that returns a value, or the default, or raises a ``ValueError`` that can
            follow the name of the option, such as "must be even".
        figures: Whether the option affects only figures; other commands do not accept it.
        permits: Whether no file can set the option, because it allows what only the user may allow,
            such as running code from a model's repository.
        kind: The type of the dataclass field.
        default: The default value of the dataclass field; ``MISSING`` if there is none.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    least: int | None = None
    group: str = "What to ask"
    requested: bool = True
    data: Callable[[Any], Mapping[str, Any]] | None = None
    rare: bool = False
    absent: Callable[[], Any] | None = None
    check: Callable[[Any], Any] | None = None
    figures: bool = False
    permits: bool = False
    kind: Any = None
    default: Any = field(default_factory=lambda: MISSING)

    @property
    def optional(self) -> bool:
        """Whether the option has a default value."""
        return self.default is not MISSING

    @property
    def is_path(self) -> bool:
        """Whether the values are paths."""
        return Path in _members(self.kind)

    def beneath(self, value: Any, base: Path) -> Any:  # noqa: ANN401 - any value
        """Join a value that is a relative path to a folder."""
        if isinstance(value, str) and self.is_path:
            return base.resolve() / value
        is_file = isinstance(value, str) and self.data and (base / value).is_file()
        return str(base.resolve() / value) if is_file else value


def option(default: Any = MISSING, **about: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Declare a dataclass field as an option of a probe.

    Args:
        default: The default value of the option. If there is no default, the option is required.
        about: The arguments of ``Option``.

    Examples:
        >>> from dataclasses import dataclass
        >>> from tacit import option
        >>> @dataclass(frozen=True)
        ... class Options:
        ...     first: int | None = option(None, help="Only the first rows.", least=1)
        >>> Options().first is None
        True
    """
    return field(default=default, metadata={_KEY: Option(**about)})


def template(default: str, **about: Any) -> Any:  # noqa: ANN401 - as ``option``
    """Declare a dataclass field as a text with the placeholders that its default has.

    A value that lacks one of the placeholders, or has another one, is refused.

    Args:
        default: The default text, such as ``True or false? {statement} Answer:``.
        about: The arguments of ``Option``.

    Examples:
        >>> from dataclasses import dataclass
        >>> from tacit import template
        >>> @dataclass(frozen=True)
        ... class Options:
        ...     template: str = template("Is {thing} red?", help="How a thing is asked about.")
        >>> Options().template
        'Is {thing} red?'
    """
    from tacit.documents import check_placeholders

    names = dict.fromkeys(name for _, name, _, _ in Formatter().parse(default) if name)
    wanted = [(name,) for name in names]
    return option(
        default, check=lambda text: check_placeholders(text, *wanted, once=False), **about
    )


class OptionError(RequestError):
    """The option ``name`` is missing, or its value is not allowed."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.name, self.problem = name, problem


@contextmanager
def spelled_in_python(*kinds: type) -> Iterator[None]:
    """Let errors name the options of ``kinds`` as Python does, such as ``chat=True`` for --chat."""
    try:
        yield
    except TacitError as error:
        error.args = (python_names(str(error), *kinds),)
        raise


def python_names(text: str, *kinds: type) -> str:
    """Return a text with the options of ``kinds`` named as Python does."""
    known = {name: one for kind in kinds for name, one in declarations(kind).items()}

    def spelled(match: re.Match[str]) -> str:
        if match["command"]:
            return match["command"]
        name, value = match["name"].replace("-", "_"), match["value"]
        one = known.get(name, Option("", kind=bool if name == "force" else None))
        if one.kind is bool:
            return f"{name}=True" + (f" {value}" if value else "")
        if value in _choices(_members(one.kind)):
            return f"{name}={value!r}"
        if value and (value.isdecimal() or value.isupper()):  # such as 4 or FILE
            return f"{name}={value}"
        return f"{name} {value}" if value else name

    return _FLAG.sub(spelled, text)


# An option of a command, such as "tacit get NAME --dry-run", is not one of Python's.
_FLAG = re.compile(
    r"(?P<command>\btacit(?: [\w./-]+){1,3}? --[\w-]+)"
    r"|--(?P<name>[a-z]+(?:-[a-z]+)*)(?: (?P<value>\w[\w-]*))?"
)


def declarations(kind: type) -> Mapping[str, Option]:
    """The options of a dataclass and of the dataclasses nested in it, by name."""
    return _declarations(kind)


@cache  # reading type hints is slow, and happens at start-up
def _declarations(kind: type) -> Mapping[str, Option]:
    declared: dict[str, Option] = {}
    for one in fields(kind):
        about, within = one.metadata.get(_KEY), _within(one)
        if within is not None:
            declared |= declarations(within)
        elif about is not None:
            declared[one.name] = replace(about, kind=_hint(kind, one.name), default=one.default)
    return declared


def _hint(kind: type, name: str) -> Any:  # noqa: ANN401 - any type
    """The type of a field; other annotations of the class may not be known at run time."""
    of = next(one for one in kind.__mro__ if name in vars(one).get("__annotations__", {}))
    alone = type(of.__name__, (), {"__annotations__": {name: of.__annotations__[name]}})
    return get_type_hints(alone, vars(sys.modules[of.__module__]))[name]


def names_of(kind: type, *, figures: bool = True) -> tuple[str, ...]:
    """The names of a dataclass's options, with or without those that affect only figures."""
    known = declarations(kind)
    return tuple(name for name, one in known.items() if figures or not one.figures)


def build(kind: type, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an instance of kind
    """Create an options dataclass from values by name; see ``value_of``."""
    known = declarations(kind)
    values: dict[str, Any] = {}
    for one in fields(kind):
        within = _within(one)
        if within is not None:
            values[one.name] = build(within, given)
        elif one.name in known:
            value = given.get(one.name, one.default)
            values[one.name] = value_of(one.name, value, known[one.name])
    return kind(**values)


def value_of(name: str, given: Any, about: Option) -> Any:  # noqa: ANN401 - any value
    """Convert a value to the type of its option, and refuse what the option does not allow.

    A path may be text or a data frame; text may be a number, or a list that commas separate.
    """
    from pydantic import TypeAdapter, ValidationError

    if given is MISSING:
        given = _absent(name, about)
    kinds = _members(about.kind)
    try:
        value = TypeAdapter(_limited(kinds, about.least)).validate_python(_plain(given, kinds))
    except ValidationError as error:
        problem = _problem(error.errors(include_url=False)[0], given, kinds)
        raise OptionError(name, f"is {_described(given)}; it {problem}") from None
    try:
        return about.check(value) if about.check else value
    except ValueError as error:
        raise OptionError(name, str(error)) from error


def _absent(name: str, about: Option) -> Any:  # noqa: ANN401 - any value
    """Return the value of a required option that was not given."""
    if about.absent is None:
        raise OptionError(name, f"is missing: {about.help}")
    try:
        return about.absent()
    except ValueError as error:
        raise OptionError(name, str(error)) from error


def missing(kind: type) -> list[str]:
    """Return the names of the required options whose value is not already here, such as data."""
    return [name for name, one in declarations(kind).items() if not (one.optional or _has(one))]


def _has(about: Option) -> bool:
    try:
        return about.absent is not None and about.absent() is not None
    except ValueError:
        return False


def validated(options: Any) -> None:  # noqa: ANN401 - any dataclass of options
    """Check the values of options that a program passed to the constructor; see ``value_of``."""
    known = declarations(type(options))
    for name, _, value in _values(options):
        value_of(name, value, known[name])


def requested(options: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of options
    """The values of the options that ``run.yaml`` includes, by name."""
    return {
        name: recorded_path(value) if isinstance(value, Path) else value
        for name, about, value in _values(options)
        if about.requested
    }


def digests(options: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of options
    """The digest of each data file that the options name, by file name."""
    by_file: dict[str, Any] = {}
    for _, about, value in _values(options):
        if value is not None and about.data is not None:
            by_file |= about.data(value)
        elif isinstance(value, Path):
            by_file |= sha256_of(value)
    return by_file


def sha256_of(*files: Path) -> dict[str, str]:
    """The SHA-256 hash of each file, by its path as it was passed."""
    return {recorded_path(file): _sha256(file) for file in files}


def _sha256(file: Path) -> str:
    check_file(file)
    return file_hash(file)


def _values(options: Any) -> Iterator[tuple[str, Option, Any]]:  # noqa: ANN401
    for one in fields(options):
        value, about = getattr(options, one.name), one.metadata.get(_KEY)
        if _within(one) is not None:
            yield from _values(value)
        elif about is not None:
            yield one.name, about, value


def internal(default: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Declare a dataclass field that only programs set: no option of a command or file."""
    return field(default=default, metadata={_KEY: None})


def _within(one: Field[Any]) -> type | None:
    """The options dataclass that is nested in a field; None for an option or an internal field."""
    if _KEY in one.metadata:
        return None
    kind = one.default_factory
    if kind is MISSING or not isinstance(kind, type):
        raise TypeError(f"the field {one.name} is neither an option nor a dataclass of options")
    return kind


def _members(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - any type
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def _choices(kinds: Sequence[Any]) -> list[str]:
    return [one for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]


def _limited(kinds: Sequence[Any], least: float | None) -> Any:  # noqa: ANN401 - any type
    """The type for pydantic: neither text nor a Boolean is a number; numbers have a minimum."""
    from pydantic import Field

    strict = {bool: Field(strict=True), str: Field(strict=True)}
    strict |= dict.fromkeys((int, float), Field(strict=True, ge=least))
    return Union[tuple(Annotated[one, strict[one]] if one in strict else one for one in kinds)]  # noqa: UP007 - computed


def _plain(value: Any, kinds: Sequence[Any]) -> Any:  # noqa: ANN401 - any value
    """Convert a value of Python or YAML to what would stand for it on the command line."""
    if Path in kinds and (isinstance(value, str | PathLike) or frame_of(value) is not None):
        return table_path(value)
    if isinstance(value, bool):
        return ("off", "on")[value] if {"on", "off"} <= {*_choices(kinds)} else value
    if isinstance(value, Mapping) and any(
        get_origin(one) is list for one in kinds
    ):  # family={"gpt2": "gpt"}
        return [f"{key}={of}" for key, of in value.items()]
    if str in kinds:
        return _text(value)
    return operator.index(value) if isinstance(value, SupportsIndex) else value  # numpy's integers


def _text(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, int | float | PathLike) else value


def _described(value: object) -> str:
    is_plain = isinstance(value, str | int | float | list | tuple | dict | None)
    return shown(value) if is_plain else f"an object of type {type(value).__name__}"


def _problem(error: ErrorDetails, given: object, kinds: Sequence[Any]) -> str:
    from tacit.documents import problem_of, similar

    if error["type"] != "literal_error":
        return problem_of(error)
    choices = _choices(kinds)
    return f"must be one of {', '.join(choices)}{similar(str(given), choices)}"
