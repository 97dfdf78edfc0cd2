"""``tacit drawings``: people's drawings of things, and the statements that the drawings imply."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.options import Force, group
from tacit.english import several
from tacit.errors import RequestError

app = group("Read people's drawings of everyday things and their parts.")


@app.command("enrich")
def enrich_command(
    path: Annotated[Path, typer.Argument(help="A folder of drawings, or one annotations file.")],
    out: Annotated[
        Path,
        typer.Option(help="File for the labelled statements: TSV, CSV, JSONL or Parquet."),
    ],
    things: Annotated[
        str | None,
        typer.Option(
            help="Use only annotators' drawings of the listed things (separated by commas)."
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the counts of drawings, parts, relations and statements as JSON."
        ),
    ] = False,
) -> None:
    """Derive true and false statements about parts from people's drawings.

    Each row of the output contains a statement about the parts in one drawing, and the label True
    or False.

    Example: tacit drawings enrich drawings --out statements.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_table

    labelled = ("thing", "annotator", "subject", "relation", "object", "label")
    _keep_input(path, out)
    check_outputs([], [(out, table_with("a table of labelled statements", *labelled))], force=force)

    from tacit.sources.statements import enriched_drawings

    table, summary = enriched_drawings(path, None if things is None else things.split(","))
    write_table(table, out)
    typer.echo(json.dumps(summary) if as_json else f"{_readable(summary)}\n\nWritten: {out}")


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


def _readable(summary: dict[str, Any]) -> str:
    ask, table_1 = summary["to_ask"], summary["table_1"]
    read = (
        f"{several(summary['drawings'], 'drawing')} of {several(summary['things'], 'thing')}: "
        f"{several(summary['parts'], 'part')}, {several(summary['relations'], 'relation')} "
        f"({several(summary['repeated_rows'], 'repeated row')} removed)"
    )
    published = ", ".join(f"{name} {count:,}" for name, count in table_1.items())
    lines = [
        read,
        "",
        f"{'':<14}{'relations':>12}{'statements':>12}",
        *(
            f"{name:<14}{counts['relations']:>12,}{counts['statements']:>12,}"
            for name, counts in summary["categories"].items()
        ),
        f"{'all':<14}{summary['relations']:>12,}{summary['statements']:>12,}",
        f"As in Table 1 of the paper (required by is spatial): {published}",
        "",
        f"{'':<22}{'statements':>12}{'true':>12}{'false':>12}",
        _label_line("all", summary),
        _label_line("all agree", summary["agreed"]),
        "",
        (
            f"Questions for a model: {several(ask['statements'], 'statement')}, "
            f"{several(ask['distinct'], 'distinct question')}"
        ),
    ]
    return "\n".join(lines)


def _label_line(name: str, counts: dict[str, int]) -> str:
    return f"{name:<22}{counts['statements']:>12,}{counts['true']:>12,}{counts['false']:>12,}"
