"""Published data that Tacit reads: where it lives and how to get it, from ``registry.yaml``.

Nothing is fetched here. ``missing`` words the error of a reader that finds no file, and names the
sources that fit.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, RequestError
from tacit.tables import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

_ADDRESS = re.compile(r"https?://[^\s/]+\S*")
_DOI = re.compile(r"10\.[0-9]{4,}/\S+")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PATH = Path(str(resources.files("tacit") / "sources" / "registry.yaml"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of data, and the options that take it.

    Attributes:
        name: As the registry calls it: drawings, dumps, questions or norms.
        noun: As a message calls it.
        expected: What an option expects there.
        options: The commands with their option.
        suffixes: Those that the reader takes; none when it goes by the content.
        reference: The page of the reference that describes the layouts.
    """

    name: str
    noun: str
    expected: str
    options: tuple[str, ...]
    suffixes: tuple[str, ...]
    reference: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it is published; what is not known is None.

    Attributes:
        name: Its published name.
        save_as: The name under which the reader looks for it, where that is another one.
        url: Its address.
        bytes: Its size.
        sha256: Its checksum, in lower-case hexadecimal.
    """

    name: str
    save_as: str | None = None
    url: str | None = None
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """The publication that describes a source."""

    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    doi: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        """One line: authors, year, title, venue and address."""
        address = f"https://doi.org/{self.doi}" if self.doi else self.url
        end = "" if self.title.endswith("?") else "."
        line = f"{', '.join(self.authors)} ({self.year}). {self.title}{end} {self.venue}."
        return f"{line} {address}" if address else line


@dataclass(frozen=True, slots=True)
class Source:
    """A published data set that Tacit reads; what is not known is None.

    Attributes:
        name: As ``tacit show sources`` takes it.
        kind: What it is, and which options take it.
        label: As a message calls it.
        title: What it holds.
        home: The address of the page that leads to the data.
        layout: Its layout among those that the reader takes.
        files: The files that are needed.
        steps: How to get the data and give it to Tacit, one sentence or two each.
        citation: The publication that describes it.
        condition: What access depends on, such as "after registration".
        licence: The licence of the data.
        checksums_from: Where sizes and checksums come from.
    """

    name: str
    kind: Kind
    label: str
    title: str
    home: str
    layout: str
    files: tuple[SourceFile, ...]
    steps: tuple[str, ...]
    citation: Citation
    condition: str | None = None
    licence: str | None = None
    checksums_from: str | None = None

    def facts(self) -> dict[str, str]:
        """What a person is told of the source beside its files and steps, by heading."""
        facts = {
            "For": "; ".join(self.kind.options),
            "Home": _where(self),
            "Licence": self.licence or "not known; see the home page",
            "Layout": self.layout,
            "Suffixes": ", ".join(self.kind.suffixes),
            "Cite": str(self.citation),
            "Checksums": f"from {self.checksums_from}" if self.checksums_from else "",
        }
        return {heading: text for heading, text in facts.items() if text}


@dataclass(frozen=True, slots=True)
class Registry:
    """The kinds of data and the sources, each by name, in the order of the file."""

    kinds: Mapping[str, Kind]
    sources: Mapping[str, Source]

    def of_kind(self, kind: str) -> list[Source]:
        """The sources of a kind."""
        return [source for source in self.sources.values() if source.kind.name == kind]

    def source(self, name: str) -> Source:
        """The source of this name.

        Raises:
            RequestError: There is none; the message names those that there are.
        """
        if name in self.sources:
            return self.sources[name]
        near = difflib.get_close_matches(name.lower(), self.sources, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(self.sources)}"
        raise RequestError(f"{name!r} is no source that Tacit knows; {hint}")


@cache
def registry() -> Registry:
    """The registry that comes with Tacit, read once."""
    return read_registry(_PATH)


def read_registry(path: Path) -> Registry:
    """Reads and validates a registry.

    Raises:
        DataError: The file is missing or no YAML, or an entry is malformed; the message names the
            entry.
    """
    from tacit.documents import read_yaml

    top = _Entry(path, "the file", read_yaml(path), ("kinds", "sources"))
    kinds = {name: _kind(name, entry) for name, entry in top.entries("kinds", _keys(Kind))}
    sources = {
        name: _source(name, entry, kinds) for name, entry in top.entries("sources", _keys(Source))
    }
    return Registry(kinds, sources)


def check_exists(path: Path, kind: str, *, folder: bool = False) -> None:
    """Refuses a path with nothing to read; the message names the sources that fit.

    Args:
        path: What a user gave.
        kind: What was expected there, as the registry calls it.
        folder: Whether it may be a folder.

    Raises:
        DataError: There is no such file (or folder), or no file can have this path.
    """
    found = resolved(path)
    if found.is_file() or (folder and found.is_dir()):
        return
    problem = "there is no such file or folder" if folder else "there is no such file"
    if found.is_dir():
        problem += ", but a folder"
    raise DataError(f"{problem}; expected {registry().kinds[kind].expected}; {advice(kind)}", path)


def advice(kind: str) -> str:
    """The sources of a kind and where each is found, for the end of an error message."""
    known = registry()
    sources = known.of_kind(kind)
    listed = ", ".join(f"{source.label} ({_where(source)})" for source in sources)
    name = f" {sources[0].name}" if len(sources) == 1 else ""
    return f"{known.kinds[kind].noun} that Tacit reads: {listed}; see tacit show sources{name}"


def _where(source: Source) -> str:
    return f"{source.home}, {source.condition}" if source.condition else source.home


class _Entry:
    """A mapping of the registry; each value is checked when it is taken.

    Raises:
        DataError: It is no mapping, or has a key that nothing takes.
    """

    def __init__(self, path: Path, where: str, content: object, keys: tuple[str, ...]) -> None:
        self.path = path
        self.where = where
        if not isinstance(content, dict):
            raise self.error(f"is {content!r}; expected a mapping with {', '.join(keys)}")
        self.content: dict[Any, Any] = content
        unknown = [str(key) for key in content if key not in keys]
        if unknown:
            raise self.error(f"has the unknown key {unknown[0]}; expected {', '.join(keys)}")

    def error(self, problem: str) -> DataError:
        return DataError(f"{self.where} {problem}", self.path)

    def text(self, key: str, form: re.Pattern[str] | None = None) -> str:
        value = self.optional(key, form)
        if value is None:
            raise self.error(f"has no {key}; expected a text")
        return value

    def optional(self, key: str, form: re.Pattern[str] | None = None) -> str | None:
        value = self.content.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"has {value!r} as {key}; expected a text")
        if form is not None and not form.fullmatch(value):
            raise self.error(f"has {value!r} as {key}; expected the form {form.pattern}")
        return " ".join(value.split())

    def number(self, key: str) -> int | None:
        value = self.content.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.error(f"has {value!r} as {key}; expected a whole number of at least 1")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.items(key)
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self.error(f"has {value!r} in {key}; expected a text")
        return tuple(" ".join(value.split()) for value in values)

    def items(self, key: str) -> list[Any]:
        values = self.content.get(key)
        if not isinstance(values, list):
            raise self.error(f"has {values!r} as {key}; expected a list")
        return values

    def entries(self, key: str, keys: tuple[str, ...]) -> list[tuple[str, _Entry]]:
        """The mappings below a key by name."""
        below = self.content.get(key)
        if not isinstance(below, dict) or not below:
            raise self.error(f"has {below!r} as {key}; expected a mapping of names")
        for name in below:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise self.error(f"has the name {name!r} in {key}; expected the form a-b")
        return [
            (name, _Entry(self.path, f"{key}.{name}", content, keys))
            for name, content in below.items()
        ]

    def below(self, key: str, keys: tuple[str, ...]) -> _Entry:
        return _Entry(self.path, f"{self.where}.{key}", self.content.get(key), keys)


def _keys(kind: type) -> tuple[str, ...]:
    """What an entry may say; its name is the key above it, but for a file's."""
    names = tuple(field.name for field in fields(kind))
    return names if kind is SourceFile else tuple(name for name in names if name != "name")


def _kind(name: str, entry: _Entry) -> Kind:
    return Kind(
        name,
        entry.text("noun"),
        entry.text("expected"),
        entry.texts("options"),
        entry.texts("suffixes"),
        entry.text("reference"),
    )


def _source(name: str, entry: _Entry, kinds: Mapping[str, Kind]) -> Source:
    kind = entry.text("kind")
    if kind not in kinds:
        raise entry.error(f"has {kind!r} as kind; expected {', '.join(kinds)}")
    steps = entry.texts("steps")
    if not steps:
        raise entry.error("has no steps; expected at least one")
    return Source(
        name,
        kinds[kind],
        entry.text("label"),
        entry.text("title"),
        entry.text("home", _ADDRESS),
        entry.text("layout"),
        _files(entry),
        steps,
        _citation(entry.below("citation", _keys(Citation))),
        entry.optional("condition"),
        entry.optional("licence"),
        entry.optional("checksums_from"),
    )


def _files(entry: _Entry) -> tuple[SourceFile, ...]:
    files = [
        _file(_Entry(entry.path, f"{entry.where}.files[{index}]", content, _keys(SourceFile)))
        for index, content in enumerate(entry.items("files"))
    ]
    if not files:
        raise entry.error("has no files; expected at least one")
    return tuple(files)


def _file(entry: _Entry) -> SourceFile:
    return SourceFile(
        entry.text("name"),
        entry.optional("save_as"),
        entry.optional("url", _ADDRESS),
        entry.number("bytes"),
        entry.optional("sha256", _SHA256),
    )


def _citation(entry: _Entry) -> Citation:
    year = entry.number("year")
    if year is None:
        raise entry.error("has no year; expected a whole number")
    authors = entry.texts("authors")
    if not authors:
        raise entry.error("has no authors; expected at least one")
    return Citation(
        authors,
        year,
        entry.text("title"),
        entry.text("venue"),
        entry.optional("doi", _DOI),
        entry.optional("url", _ADDRESS),
    )
