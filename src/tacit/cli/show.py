"""``tacit show``: prompts of a probe, statements of drawings, tables and questions of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tacit.cli import prompts
from tacit.cli.options import AsJson, Force, group
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.findings.spec import TableSpec

Format = Literal["text", "markdown", "latex", "csv"]

_FEW = 3  # ids in a message
app = group("Show prompts, statements, and tables or one question of a run.")
app.add_typer(prompts.app, name="prompts")


@app.command("anchor")
def anchor(
    run: Annotated[Path, typer.Argument(help="Folder of a run of the consistency probe.")],
    start: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The id of the anchor question in the file of questions; a unique beginning of "
            "the id is enough.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show one anchor question of a run, with its background facts and its scores.

    The output shows the question's background facts, the model's answers and scores, and how much
    the question contributes to the conceptual consistency of the run.

    Example: tacit show anchor runs/gpt2 1afa02df
    """
    from tacit.present.tables import print_table
    from tacit.probes.consistency.details import TRACED, tables_of, trace
    from tacit.runs.reading import read_run

    tables = {name: read_run(run, "consistency").tables[name] for name in TRACED}
    traced = trace(tables, _anchor_id(tables["anchors"]["anchor"].to_list(), start))
    if as_json:
        typer.echo(json.dumps(traced))
        return
    for spec, table in tables_of(traced):
        print_table(spec, table, spec.title)


def _anchor_id(ids: Sequence[str], start: str) -> str:
    """Return the only id that begins with ``start``, which is returned itself if there is none."""
    matches = [start] if start in ids else [each for each in ids if each.startswith(start)]
    if len(matches) > 1:
        listed = ", ".join(matches[:_FEW])
        raise RequestError(
            f"{len(matches):,} anchor questions have an id that starts with {start!r}: {listed}"
            f"{', …' if len(matches) > _FEW else ''}; give more of the id"
        )
    return matches[0] if matches else start


@app.command("statements")
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


@app.command("table")
def table(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs of one probe.")],
    name: Annotated[str, typer.Argument(help="Name of the table, such as accuracy.")],
    form: Annotated[
        Format,
        typer.Option("--format", help="csv has all columns and digits, the others what is shown."),
    ] = "text",
) -> None:
    """Show a table of results, with one row per model and group.

    Example: tacit show table runs/gpt2 accuracy --format latex
    """
    import polars as pl

    from tacit.findings.spec import selected
    from tacit.present.tables import laid_out, latex, markdown, print_table
    from tacit.probes.base import declared_tables
    from tacit.probes.registry import probe
    from tacit.runs.reading import read_runs

    finished = read_runs(runs)
    kinds = list(dict.fromkeys(run.probe for run in finished))
    if len(kinds) > 1:
        raise RequestError(f"these are runs of {' and '.join(kinds)}; expected one probe")
    tables = [
        run.tables[name].select(pl.lit(run.name).alias("model"), pl.all()) for run in finished
    ]
    rows = pl.concat(tables, how="diagonal_relaxed")
    spec = _with_model(declared_tables(probe(kinds[0]))[name])
    if form == "csv":
        lists = pl.selectors.by_dtype(pl.List).cast(pl.List(pl.String)).list.join("; ")
        typer.echo(rows.with_columns(lists).write_csv(), nl=False)
        return
    kept = selected(rows, spec.printed.where).height if spec.printed else rows.height
    if kept < rows.height:
        typer.echo(f"tacit: {kept} of {rows.height} rows are shown; --format csv has all", err=True)
    if form == "text":
        print_table(spec, rows, spec.title, most=None)
        return
    typer.echo({"markdown": markdown, "latex": latex}[form](*laid_out(spec, rows)))


def _with_model(spec: TableSpec) -> TableSpec:
    """Return the declaration of a table whose first column is the model."""
    from tacit.findings.spec import Column

    layout = spec.printed
    if layout and layout.columns:
        layout = replace(layout, columns=("model", *layout.columns))
    return replace(spec, printed=layout, columns=(Column("model", "model"), *spec.columns))
