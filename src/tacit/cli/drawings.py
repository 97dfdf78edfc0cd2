"""``tacit show statements``: the statements that people's drawings of things imply."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import AsJson, Force
from tacit.errors import RequestError


def statements(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DRAWINGS", help="A folder of drawings, or one file of annotations."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File for the labelled statements: TSV, CSV, JSONL or Parquet."),
    ] = None,
    things: Annotated[
        str | None,
        typer.Option(
            help="Use only annotators' drawings of the listed things (separated by commas)."
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show how many true and false statements about parts follow from people's drawings.

    With --out, the statements are written to a file. Each row contains a statement about the parts
    in one drawing, and the label True or False.

    Example: tacit show statements drawings --out statements.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.present.tables import print_rows
    from tacit.sources.statements import counted, enriched_drawings
    from tacit.tables import write_table

    if out is not None:
        labelled = ("thing", "annotator", "subject", "relation", "object", "label")
        kind = table_with("a table of labelled statements", *labelled)
        _keep_input(path, out)
        check_outputs([], [(out, kind)], force=force)
    table, summary = enriched_drawings(path, None if things is None else things.split(","))
    if out is not None:
        write_table(table, out)
    if as_json:
        typer.echo(json.dumps(summary))
        return
    for title, rows in counted(summary).items():
        print_rows(title, rows)
    if out is not None:
        typer.echo(f"Written: {out}")


def _keep_input(path: Path, out: Path) -> None:
    """Raise an error if ``out`` is an input file or has a reserved file name."""
    target = out.resolve()
    folder = path if path.is_dir() else path.parent
    inside = target.parent == folder.resolve() and (
        fnmatch(out.name, "annotations-*.tsv") or out.name == "things.tsv"
    )
    if target == path.resolve() or inside:
        raise RequestError(
            f"--out {out} is a file of the drawings, or would be read as one; choose another name"
        )
