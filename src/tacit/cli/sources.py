"""The lines that ``tacit show sources`` prints: all sources, or one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.sources.registry import Registry, Source, SourceFile

_INDENT = 11  # the longest heading, and two spaces


def listing(known: Registry) -> Iterator[str]:
    """The lines that list all sources, grouped by the options that take them."""
    width = max(map(len, known.sources)) + 2
    for kind in known.kinds.values():
        yield f"{kind.noun}: {'; '.join(kind.options)}"
        for source in known.of_kind(kind.name):
            condition = f" ({source.condition})" if source.condition else ""
            yield f"  {source.name:<{width}}{source.title}{condition}"
        yield ""
    yield "tacit show sources NAME shows how to get a source; Tacit downloads nothing"


def detail(source: Source) -> Iterator[str]:
    """The lines that show one source."""
    yield f"{source.name}: {source.title}"
    yield ""
    for heading, text in source.facts().items():
        yield f"{heading:<{_INDENT}}{text}"
    yield ""
    for file in source.files:
        yield from _file(file)
    yield ""
    for number, step in enumerate(source.steps, 1):
        yield f"{number}. {step}"


def _file(file: SourceFile) -> Iterator[str]:
    size = "" if file.bytes is None else f", {file.bytes:,} bytes"
    renamed = "" if file.save_as is None else f", to be saved as {file.save_as}"
    yield f"{file.name}{size}{renamed}"
    if file.url:
        yield f"  {file.url}"
    if file.sha256:
        yield f"  sha256 {file.sha256}"
