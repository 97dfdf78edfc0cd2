"""``tacit show table``: a table of results for the terminal, a page or a paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from tacit.findings.spec import TableSpec

Format = Literal["text", "markdown", "latex", "csv"]


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

    from tacit.errors import RequestError
    from tacit.findings.spec import selected
    from tacit.present.tables import laid_out, latex, markdown, print_table
    from tacit.probes.base import declared_tables
    from tacit.probes.registry import probe
    from tacit.runs.reading import read_runs

    found = read_runs(runs)
    kinds = list(dict.fromkeys(run.probe for run in found))
    if len(kinds) > 1:
        raise RequestError(f"these are runs of {' and '.join(kinds)}; expected one probe")
    tables = [run.tables[name].select(pl.lit(run.name).alias("model"), pl.all()) for run in found]
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
