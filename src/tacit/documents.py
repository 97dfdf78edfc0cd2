"""Read YAML or JSON files that people write; error messages contain the line number."""

from __future__ import annotations

import string
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

import yaml

from tacit.errors import DataError, RequestError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

ModelT = TypeVar("ModelT", bound="BaseModel")

_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_EXPECTED = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dataclass_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is missing",
    "model_type": "must be a mapping",
    "path_type": "must be a path",
    "string_type": "must be text (in quotes, if necessary)",
    "too_short": "is empty",
    "tuple_type": "must be a list",
}


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - any content
    """Return the content of a YAML file; tags that are specific to Python are rejected."""
    return _composed(path)[1]


@dataclass(frozen=True)
class Document(Generic[ModelT]):
    """A YAML file whose content matches a pydantic model."""

    path: Path
    content: ModelT
    lines: Mapping[tuple[int | str, ...], int]

    def error(self, problem: str, *location: int | str) -> DataError:
        """Return an error that names the file and the line of a location in the file."""
        return DataError(problem, self.path, _line(self.lines, location))


def read_as(
    model: type[ModelT], path: Path, check: Callable[[str], object] | None = None
) -> Document[ModelT]:
    """Read a YAML file as a pydantic model; first, ``check`` is called with each text in it."""
    from pydantic import ValidationError

    root, content = _composed(path)
    if root is None:
        names = [name for name in model.model_fields if name != "root"]
        raise DataError(f"is empty; expected {', '.join(names) or 'a mapping'}", path)
    nodes = list(_lines(root))
    lines = {location: line for _, location, line in nodes}
    for node, _, line in nodes if check else ():
        try:
            _ = isinstance(node, yaml.ScalarNode) and check and check(node.value)
        except RequestError as error:
            raise DataError(str(error), path, line) from error
    try:
        return Document(path, model.model_validate(content), lines)
    except ValidationError as error:
        line = _line(lines, _first(error)["loc"])
        raise DataError(problem_in(error, model), path, line) from None


def problem_in(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of content that does not match a model."""
    return _problem(_first(error), model)


def _first(error: ValidationError) -> ErrorDetails:
    # A misspelt key also causes an error for the missing right key; report the misspelt one.
    problems = error.errors(include_url=False)
    return next((each for each in problems if each["type"] in _UNKNOWN_KEY), problems[0])


def _composed(path: Path) -> tuple[yaml.Node | None, Any]:
    with _translated(path):
        loader = _Once(path.read_text(encoding="utf-8"))
        try:
            root = loader.get_single_node()
            return root, None if root is None else loader.construct_document(root)
        finally:
            loader.dispose()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise DataError("there is no such file", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"is not YAML: {error.problem}", path, line) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise DataError(f"is not YAML: {error}", path) from error


def _lines(root: yaml.Node) -> Iterator[tuple[yaml.Node, tuple[int | str, ...], int]]:
    """Yield each YAML node once, with its location and its line number."""
    seen: set[int] = set()
    left: list[tuple[yaml.Node, tuple[int | str, ...]]] = [(root, ())]
    while left:
        node, location = left.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node, location, node.start_mark.line + 1
        if isinstance(node, yaml.SequenceNode):
            left += [(inner, (*location, at)) for at, inner in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            left += [(inner, (*location, str(key.value))) for key, inner in node.value]


def _line(lines: Mapping[tuple[int | str, ...], int], location: Sequence[int | str]) -> int:
    """Return the line number of a location in a YAML file."""
    at = tuple(location)
    while at not in lines:
        at = at[:-1]
    return lines[at]


def _problem(error: ErrorDetails, model: type[BaseModel]) -> str:
    location, kind = [str(part) for part in error["loc"]], error["type"]
    if kind in _UNKNOWN_KEY:
        *around, key = location
        return unknown_key(".".join(around) or "the file", key, _fields(model, around))
    if location[-1:] == ["[key]"]:
        location[-2:] = [f"the key {location[-2]}"]
    named = ".".join(location) or "the file"
    return f"{named} {problem_of(error)}"


def problem_of(error: ErrorDetails) -> str:
    """Return a phrase that can follow the name of an invalid value, such as ``is missing``."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    return _EXPECTED[kind].format(**context) if kind in _EXPECTED else error["msg"].lower()


def unknown_key(where: str, key: str, expected: Sequence[str]) -> str:
    """Return the error message for an unknown key, and suggest the most similar known key."""
    expects = f"expected {', '.join(expected)}{similar(key, expected)}"
    return f"{where} has the unknown key {key}; {expects}"


def check_placeholders(text: str, *wanted: Sequence[str], once: bool = True) -> str:
    """Check the placeholders of a template for ``str.format``, and return the template."""
    expected = " and ".join("/".join(f"{{{name}}}" for name in names) for names in wanted)
    try:
        parsed = [field for field in string.Formatter().parse(text) if field[1] is not None]
    except ValueError as error:
        raise ValueError(
            f"has a brace that belongs to no placeholder ({error}); expected {expected}"
        ) from None
    placeholders = [
        f"{name}{f'!{how}' if how else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, how in parsed
    ]
    known = [name for names in wanted for name in names]
    for name in placeholders:
        if name not in known:
            near = similar(name, known)
            raise ValueError(f"has the unknown placeholder {{{name}}}; expected {expected}{near}")
    for names in wanted:
        count = sum(name in names for name in placeholders)
        if not count or (once and count > 1):
            problem = "lacks the placeholder" if not count else f"has {count} times the placeholder"
            raise ValueError(f"{problem} {{{names[0]}}}; expected {expected}")
    return text


def similar(name: str, expected: Sequence[str]) -> str:
    """Return a "did you mean" question with the most similar name; "" if none is similar."""

    def plain(name: str) -> str:
        return name.strip().lower().replace("_", " ")

    names = {plain(one): one for one in expected}
    closest = get_close_matches(plain(name), list(names), n=1)
    return f" (did you mean {names[closest[0]]}?)" if closest else ""


def _fields(model: Any, location: Sequence[str]) -> Sequence[str]:  # noqa: ANN401 - a type
    """Return the names of the fields that the mapping at a location may have."""
    for part in location:
        known = getattr(model, "model_fields", None)
        if known and "root" in known:
            model, known = known["root"].annotation, None
        model = known[part].annotation if known else get_args(model)[-1]
    return [each.name for each in fields(model)] if is_dataclass(model) else [*model.model_fields]


class _Once(yaml.SafeLoader):
    """A YAML loader that rejects mappings with duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        known: list[object] = []
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if name in known:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {name!r} occurs twice; expected it once",
                    problem_mark=key.start_mark,
                )
            known.append(name)
        return super().construct_mapping(node, deep)
