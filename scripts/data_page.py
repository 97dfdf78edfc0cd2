# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/how-to/get-the-data.md from the registry of sources (``make docs``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.sources.registry import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.sources.registry import Registry, Source, SourceFile

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "get-the-data.md"
_UNKNOWN = "unknown"
_BEGINNING = """\
<!-- Generated from src/tacit/sources/registry.yaml by scripts/data_page.py: make docs. -->

# Get the data

This page lists the published data sets that Tacit reads. You must download each data set yourself,
under the licence of the data set. `tacit show sources` lists the data sets, and `tacit show sources
NAME` describes a single data set. In place of a published data set, you can use your own files. The
reference pages that are linked below describe the layouts of the files.

To check a downloaded file, run `sha256sum FILE` and compare the output with the SHA-256 checksum of
the file on this page. Sizes, checksums and licences that could not be verified are marked as
unknown.
"""


def page() -> str:
    """The page in Markdown."""
    known = registry()
    return "\n".join([_BEGINNING, *_overview(known), *_sections(known)])


def _overview(known: Registry) -> Iterator[str]:
    yield "| source | what it is | licence |"
    yield "|---|---|---|"
    for source in known.sources.values():
        licence = source.licence or _UNKNOWN
        yield f"| [{source.label}](#{source.name}) | {source.title} | {licence} |"


def _sections(known: Registry) -> Iterator[str]:
    for kind in known.kinds.values():
        yield ""
        yield f"## {kind.noun.capitalize()}"
        yield ""
        yield f"Tacit reads {kind.expected} ([layouts](../reference/{kind.reference}))."
        for source in known.of_kind(kind.name):
            yield from _section(source)
    yield ""


def _section(source: Source) -> Iterator[str]:
    yield ""
    yield f"### {source.name}"
    yield ""
    yield f"{source.title}."
    yield ""
    yield "| property | value |"
    yield "|---|---|"
    yield from (f"| {heading} | {text} |" for heading, text in source.facts().items())
    yield ""
    yield "| file | save as | bytes | SHA-256 |"
    yield "|---|---|---|---|"
    yield from map(_row, source.files)
    yield ""
    yield from (f"{number}. {step}" for number, step in enumerate(source.steps, 1))


def _row(file: SourceFile) -> str:
    name = f"[{file.name}]({file.url})" if file.url else f"`{file.name}`"
    save_as = f"`{file.save_as}`" if file.save_as else "any name"
    size = _UNKNOWN if file.bytes is None else f"{file.bytes:,}"
    checksum = f"`{file.sha256}`" if file.sha256 else _UNKNOWN
    return f"| {name} | {save_as} | {size} | {checksum} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
