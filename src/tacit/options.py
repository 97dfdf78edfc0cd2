"""Options of probes, models and engines; each option is declared once, as a dataclass field."""

from __future__ import annotations

import hashlib
from dataclasses import MISSING, dataclass, field, fields
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from tacit.errors import RequestError
from tacit.tables import check_file, frame_of, recorded_path, table_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import Field

_KEY = "tacit"


@dataclass(frozen=True)
class Option:
    """The declaration of an option; the dataclass field defines the name, type and default.

    Args:
        help: The help text of the option, of one or two sentences. The help text should not mention
            the default value, which is added automatically.
        flags: The names of the option on the command line. If ``flags`` is empty, the option has
            the name of the dataclass field.
        metavar: The placeholder for the option's value in the help text.
        least: The minimum value, if the option is a number.
        group: The heading in the help text under which the option is listed.
        requested: Whether ``run.yaml`` includes the option. If ``run.yaml`` includes an option, a
            run with a different value of this option needs a new run folder.
        data: A function that takes the option's value and returns the digest of each data file to
            which the value refers, keyed by file name. If ``data`` is None and the option's value
            is the path of a file, Tacit computes only the SHA-256 hash of this file.
        hidden: Whether the help of the command omits the option.
        check: A function that checks a value from the command line and returns it. The function is
            called before the value is used for anything else.
        figures: Whether the option affects only figures. A command that draws no figures does not
            accept the option.
        permits: Whether the option allows what only the user may allow, such as running code from a
            model's repository. No file can set such an option.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    least: int | None = None
    group: str = "What to ask"
    requested: bool = True
    data: Callable[[Any], Mapping[str, Any]] | None = None
    hidden: bool = False
    check: Callable[[Any], Any] | None = None
    figures: bool = False
    permits: bool = False


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


def option_of(one: Field[Any]) -> Option | None:
    """Return the option that a dataclass field declares; None if the field is not an option."""
    found: Option | None = one.metadata.get(_KEY)
    return found


def names_of(kind: type, *, figures: bool = True) -> tuple[str, ...]:
    """Return the names of all options of a dataclass; dataclasses nested in it are included.

    Args:
        kind: The dataclass.
        figures: Whether to include options that affect only figures.
    """
    found: list[str] = []
    for one in fields(kind):
        about = option_of(one)
        if about is None:
            found += names_of(_within(one), figures=figures)
        elif figures or not about.figures:
            found.append(one.name)
    return tuple(found)


def declarations(kind: type) -> dict[str, tuple[Any, Option]]:
    """Return the type and the declaration of each option of a dataclass, by option name."""
    found: dict[str, tuple[Any, Option]] = {}
    hints = get_type_hints(kind)
    for one in fields(kind):
        about = option_of(one)
        found |= {one.name: (hints[one.name], about)} if about else declarations(_within(one))
    return found


def build(kind: type, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an instance of kind
    """Create an options dataclass from a mapping of option names to values.

    An option that expects a path also accepts a string, and an option that expects comma-separated
    names also accepts a sequence of names.

    Raises:
        RequestError: If a required option is missing, or if the value of an option is not an
            allowed choice.
    """
    values: dict[str, Any] = {}
    kinds = get_type_hints(kind)
    for one in fields(kind):
        if option_of(one) is None:
            values[one.name] = build(_within(one), given)
        elif one.name in given:
            values[one.name] = _converted(one.name, given[one.name], kinds[one.name])
        elif one.default is MISSING:
            raise RequestError(f"{one.name} is missing: {(option_of(one) or Option('')).help}")
    return kind(**values)


def requested(options: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of options
    """Return a dict from option name to value for the options that ``run.yaml`` includes."""
    found: dict[str, Any] = {}
    for one in fields(options):
        value, about = getattr(options, one.name), option_of(one)
        if about is None:
            found |= requested(value)
        elif about.requested:
            found[one.name] = recorded_path(value) if isinstance(value, Path) else value
    return found


def digests(options: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of options
    """Return a dict from file name to digest for all data files that the options name."""
    found: dict[str, Any] = {}
    for one in fields(options):
        value, about = getattr(options, one.name), option_of(one)
        if about is None:
            found |= digests(value)
        elif value is not None and about.data is not None:
            found |= about.data(value)
        elif isinstance(value, Path):
            found |= sha256_of(value)
    return found


def sha256_of(*files: Path) -> dict[str, str]:
    """Map the path of each file, as it was passed, to the SHA-256 hash of the file.

    Raises:
        DataError: If a file is missing or cannot be read.
    """
    return {recorded_path(file): _sha256(file) for file in files}


def _sha256(file: Path) -> str:
    check_file(file)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _within(one: Field[Any]) -> type:
    """Return the options dataclass that is nested in a field."""
    kind = one.default_factory
    if kind is MISSING or not isinstance(kind, type):
        raise TypeError(f"the field {one.name} is neither an option nor a dataclass of options")
    return kind


def _converted(name: str, value: Any, kind: Any) -> Any:  # noqa: ANN401 - any value and type
    """Convert a value to the type of its option, and check that the option allows the value."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    if {Path, Any}.isdisjoint(kinds) and (
        type(value).__name__ == "Series" or frame_of(value) is not None
    ):
        raise RequestError(f"{name} is a data frame or a column; this option does not accept one")
    choices = [choice for one in kinds if get_origin(one) is Literal for choice in get_args(one)]
    if choices and value is not None and value not in choices:
        raise RequestError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    if Path in kinds and value is not None:
        if not isinstance(value, str | PathLike) and frame_of(value) is None:
            raise RequestError(
                f"{name} is an object of type {type(value).__name__}; expected a data frame, or "
                "the path of a file or a folder"
            )
        return table_path(value)
    if str in kinds and isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return value
