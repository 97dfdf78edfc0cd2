"""The published data sets that Tacit can read, declared in ``registry.yaml``.

For each data set, the registry contains the address, the licence, the citation, and what to do
before the data can be used. ``fetching`` downloads the files with an address and a SHA-256 hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import yaml

from tacit.documents import similar
from tacit.errors import DataError, RequestError
from tacit.tables import resolved


@dataclass(frozen=True, kw_only=True)
class DataKind:
    """A kind of data, and the commands and options that accept data of this kind."""

    name: str
    noun: str
    expected: str
    options: Sequence[str]
    suffixes: Sequence[str]
    reference: str


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file of a published data set. Attributes with unknown values are None."""

    name: str
    save_as: str | None = None
    url: str | None = None
    bytes: int | None = None
    sha256: str | None = None

    @property
    def saved(self) -> str:
        return self.save_as or self.name


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The publication in which a data set is described."""

    authors: Sequence[str]
    year: int
    title: str
    venue: str
    doi: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        """Return the citation as one line: authors, year, title, venue and web address."""
        address = f"https://doi.org/{self.doi}" if self.doi else self.url
        end = "" if self.title.endswith("?") else "."
        line = f"{', '.join(self.authors)} ({self.year}). {self.title}{end} {self.venue}."
        return f"{line} {address}" if address else line


@dataclass(frozen=True, kw_only=True)
class Source:
    """A published data set that Tacit can read. Attributes with unknown values are None."""

    name: str
    kind: DataKind
    label: str
    title: str
    home: str
    layout: str
    files: Sequence[SourceFile]
    steps: Sequence[str]
    citation: Citation
    condition: str | None = None
    licence: str | None = None
    checksums_from: str | None = None

    @property
    def fetched(self) -> Sequence[SourceFile]:
        """The files that can be fetched, because their address and SHA-256 hash are known."""
        return [one for one in self.files if one.url and one.sha256]

    @property
    def size(self) -> int:
        """The size in bytes of the files that can be fetched; 0 if it is not known."""
        sizes = [one.bytes for one in self.fetched]
        return sum(one for one in sizes if one) if all(sizes) else 0

    @property
    def access(self) -> str:
        """The address of the home page, followed by the condition for access if there is one."""
        return f"{self.home}, {self.condition}" if self.condition else self.home

    def facts(self) -> dict[str, str]:
        """Return a description of the data set as a mapping from headings to texts."""
        checksums = f"The checksums are from {self.checksums_from}."
        facts = {
            "Used by": "; ".join(self.kind.options),
            "Home": self.access,
            "Licence": self.licence or "licence unknown; see the home page of the data set",
            "Layout": self.layout,
            "Suffixes": ", ".join(self.kind.suffixes),
            "Cite": str(self.citation),
            "Checksums": checksums if self.checksums_from else "",
        }
        return {heading: text for heading, text in facts.items() if text}


@dataclass(frozen=True)
class Registry:
    """All kinds of data and all data sets, by name, in the order of the registry file."""

    kinds: Mapping[str, DataKind]
    sources: Mapping[str, Source]

    def of_kind(self, kind: str) -> list[Source]:
        return [source for source in self.sources.values() if source.kind.name == kind]

    def source(self, name: str) -> Source:
        if name not in self.sources:
            raise RequestError(
                f"there is no source named {name!r}; expected {', '.join(self.sources)}"
                f"{similar(name, [*self.sources])}"
            )
        return self.sources[name]


@cache
def registry() -> Registry:
    """Return the registry that is part of Tacit; its file is read only once."""
    path = Path(str(resources.files("tacit") / "sources" / "registry.yaml"))
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    kinds = {name: DataKind(name=name, **entry) for name, entry in content["kinds"].items()}
    sources = {
        name: Source(
            name=name,
            **entry
            | {
                "kind": kinds[entry["kind"]],
                "files": [SourceFile(**file) for file in entry["files"]],
                "citation": Citation(**entry["citation"]),
            },
        )
        for name, entry in content["sources"].items()
    }
    return Registry(kinds, sources)


def check_exists(path: Path, kind: str, *, folder: bool = False) -> None:
    """Raise an error that lists suitable data sets, if a path does not exist."""
    found = resolved(path)
    if found.is_file() or (folder and found.is_dir()):
        return
    problem = "there is no such file or folder" if folder else "there is no such file"
    if found.is_dir():
        problem = "is a folder"
    raise DataError(f"{problem}; expected {registry().kinds[kind].expected}; {advice(kind)}", path)


def advice(kind: str) -> str:
    """Return text for an error message: the data sets of a kind, and where to get them."""
    known = registry()
    sources = known.of_kind(kind)
    listed = ", ".join(f"{source.label} ({source.access})" for source in sources)
    name = sources[0].name if len(sources) == 1 else "NAME"
    return f"{known.kinds[kind].noun} that Tacit reads: {listed}; see tacit get {name} --dry-run"
