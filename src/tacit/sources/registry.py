"""The registry ``registry.yaml``: the published data sets that Tacit can read.

For each data set, the registry contains the address, the licence, the citation, and instructions
for obtaining the data. Tacit does not download the data sets.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from tacit.errors import DataError, RequestError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]
Count = Annotated[int, Field(strict=True, ge=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+\S*$")]
Doi = Annotated[str, StringConstraints(pattern=r"^10\.[0-9]{4,}/\S+$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

_PATH = Path(str(resources.files("tacit") / "sources" / "registry.yaml"))


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Kind(_Entry):
    """A kind of data, and the commands and options that accept data of this kind."""

    name: Name
    noun: Text
    expected: Text
    options: Texts
    suffixes: tuple[Text, ...]
    reference: Text


class SourceFile(_Entry):
    """A file of a published data set. Attributes with unknown values are None."""

    name: Text
    save_as: Text | None = None
    url: Url | None = None
    bytes: Count | None = None
    sha256: Sha256 | None = None


class Citation(_Entry):
    """The publication in which a data set is described."""

    authors: Texts
    year: Count
    title: Text
    venue: Text
    doi: Doi | None = None
    url: Url | None = None

    def __str__(self) -> str:
        """Return the citation as one line: authors, year, title, venue and web address."""
        address = f"https://doi.org/{self.doi}" if self.doi else self.url
        end = "" if self.title.endswith("?") else "."
        line = f"{', '.join(self.authors)} ({self.year}). {self.title}{end} {self.venue}."
        return f"{line} {address}" if address else line


class Source(_Entry):
    """A published data set that Tacit can read. Attributes with unknown values are None."""

    name: Name
    kind: InstanceOf[Kind]
    label: Text
    title: Text
    home: Url
    layout: Text
    files: Annotated[tuple[SourceFile, ...], Field(min_length=1)]
    steps: Texts
    citation: Citation
    condition: Text | None = None
    licence: Text | None = None
    checksums_from: Text | None = None

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


class Registry(_Entry):
    """All kinds of data and all data sets, by name, in the order of the registry file."""

    kinds: Annotated[dict[Name, Kind], Field(min_length=1)]
    sources: Annotated[dict[Name, Source], Field(min_length=1)]

    @field_validator("kinds", "sources", mode="before")
    @classmethod
    def _complete(cls, entries: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - not yet validated
        """Add the field ``name`` to each entry, and replace kind names by ``Kind`` objects."""
        if not isinstance(entries, dict):
            return entries
        kinds = info.data.get("kinds", {})
        return {name: _completed(name, entry, kinds) for name, entry in entries.items()}

    def of_kind(self, kind: str) -> list[Source]:
        """Return the data sets of the given kind."""
        return [source for source in self.sources.values() if source.kind.name == kind]

    def source(self, name: str) -> Source:
        """Return the data set with the given name."""
        if name in self.sources:
            return self.sources[name]
        near = difflib.get_close_matches(name.lower(), self.sources, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(self.sources)}"
        raise RequestError(f"there is no source named {name!r}; {hint}")


@cache
def registry() -> Registry:
    """Return the registry that is part of Tacit; its file is read only once."""
    return read_registry(_PATH)


def read_registry(path: Path) -> Registry:
    """Read and validate a registry file of published data sets."""
    from tacit.documents import read_yaml

    try:
        return Registry.model_validate(read_yaml(path))
    except ValidationError as error:
        raise DataError(_problem(error), path) from error


def _completed(name: object, entry: object, kinds: dict[str, Kind]) -> object:
    if not isinstance(entry, dict):
        return entry
    if "name" in entry:
        raise ValueError(
            f"{name} has the key name; remove it, since the key of the entry is its name"
        )
    kind = entry.get("kind")
    found = {"kind": kinds[kind]} if isinstance(kind, str) and kind in kinds else {}
    return {"name": name, **entry, **found}


def _problem(error: ValidationError) -> str:
    """Describe the first validation error, with its location and the invalid value."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "the file"
    value = "" if first["type"] == "missing" else f"; found {first['input']!r}"
    return f"{where}: {first['msg']}{value}"
