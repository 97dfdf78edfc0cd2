"""``tacit report`` and ``tacit compare``: write one HTML file about one or several runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import AsJson, Force

RunFolders = Annotated[
    list[Path], typer.Argument(help="Folders of runs, or folders that contain several runs.")
]
HtmlFile = Annotated[Path, typer.Option("--out", "-o", "--output", help="The HTML file to write.")]


def report(runs: RunFolders, out: HtmlFile = Path("report.html"), force: Force = False) -> None:
    """Write an HTML report of one or several runs.

    The report is one self-contained HTML file that a browser can open without a network connection.

    Example: tacit report runs/gpt2 --out report.html
    """
    from tacit.outputs import check_outputs, page
    from tacit.report.writing import write_report

    check_outputs([], [(out, page("report"))], force=force)
    write_report(runs, out)
    typer.echo(f"Written: {out}")


def compare(
    runs: RunFolders,
    out: HtmlFile = Path("comparison.html"),
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Compare runs even if they differ in more than the model, and overwrite an output "
            "file even if it was written by another command or program.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print how several models differ, and write an HTML page about it.

    The differences are paired, between runs of the same probe on the same data. For each model
    family, the HTML page also shows how results change with model size.

    Example: tacit compare runs/gpt2 runs/opt --out comparison.html
    """
    from tacit.files import publish_text
    from tacit.outputs import check_outputs, page
    from tacit.present.comparison import print_comparison
    from tacit.report.differences import check_comparable, tables_of
    from tacit.report.writing import report
    from tacit.runs.comparison import by_probe, warnings
    from tacit.runs.reading import read_runs

    check_outputs([], [(out, page("comparison"))], force=force)
    found = read_runs(runs)
    check_comparable(found, force=force)
    for warning in (each for mine in by_probe(found).values() for each in warnings(mine)):
        sys.stderr.write(f"tacit: {warning}\n")
    publish_text(out, report(found, "comparison", force=force))
    if as_json:
        tables = tables_of(found).items()
        typer.echo(json.dumps({name: table.to_dicts() for name, table in tables}))
        return
    for mine in by_probe(found).values():
        print_comparison(mine)
        if len(mine) == 1:
            typer.echo(
                f"{mine.probe}: not compared, because there is a run of {next(iter(mine))} only"
            )
    typer.echo(f"Written: {out}")
