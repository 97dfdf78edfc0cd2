"""``tacit get``: fetch a published data set, or say how to get it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import AsJson
from tacit.english import several
from tacit.errors import RequestError
from tacit.present import progress
from tacit.sources.registry import Source, registry

_INDENT = 11  # the length of the longest heading, plus two spaces


def get(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="Name of a data set; tacit list shows all of them."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            "--output",
            help="Folder for the files [default: the data set's folder below "
            "~/.local/share/tacit or $XDG_DATA_HOME/tacit, where the probes find it].",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Describe the data set, and fetch nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch a published data set, or say how to get it.

    The size and the SHA-256 hash of each file are checked. To resume an interrupted download, run
    the same command again.

    Example: tacit get everyday-things
    """
    from tacit.sources.fetching import fetch, folder_of

    data_set = registry().source(source)
    folder = out or folder_of(data_set)
    if dry_run:
        typer.echo(json.dumps(asdict(data_set)) if as_json else "\n".join(_description(data_set)))
        return
    if not data_set.fetched:
        steps = "".join(f"\n{number}. {step}" for number, step in enumerate(data_set.steps, 1))
        raise RequestError(f"{source} cannot be fetched ({data_set.access}); by hand:{steps}")
    size = data_set.size
    if not as_json:
        facts = _facts(data_set, "Licence", "Home", "Cite")
        typer.echo("\n".join([f"{data_set.name}: {data_set.title}", *facts]))
        files = several(len(data_set.fetched), "file")
        typer.echo(f"Fetching {files}{f' of {size:,} bytes' if size else ''} to {folder}")
    showing = progress.reading(size, "fetched") if size else nullcontext(lambda _: None)
    with showing as advance:
        paths = fetch(data_set, folder, advance)
    if as_json:
        typer.echo(json.dumps(asdict(data_set) | {"paths": [str(path) for path in paths]}))
        return
    typer.echo("\n".join([f"Files: {', '.join(path.name for path in paths)}", *_steps(data_set)]))


def _facts(source: Source, *headings: str) -> Iterator[str]:
    for heading, text in source.facts().items():
        if not headings or heading in headings:
            yield f"{heading:<{_INDENT}}{text}"


def _steps(source: Source) -> Iterator[str]:
    yield "Next:" if source.fetched else "By hand:"
    for number, step in enumerate(source.steps, 1):
        yield f"{number}. {step}"


def _description(source: Source) -> Iterator[str]:
    yield from (f"{source.name}: {source.title}", "", *_facts(source), "")
    for file in source.files:
        size = "" if file.bytes is None else f", {file.bytes:,} bytes"
        renamed = "" if file.save_as is None else f", saved as {file.save_as}"
        yield f"{file.name}{size}{renamed}"
        if file.url:
            yield f"  {file.url}"
        if file.sha256:
            yield f"  sha256 {file.sha256}"
    yield from ("", *_steps(source))
