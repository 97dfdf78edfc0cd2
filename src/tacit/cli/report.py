"""``tacit report``: one HTML file of one run or several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import Force

RunFolders = Annotated[
    list[Path], typer.Argument(help="Runs' folders, or folders that hold several.")
]
HtmlFile = Annotated[Path, typer.Option("--out", "-o", "--output", help="The file to write.")]


def report(runs: RunFolders, out: HtmlFile = Path("report.html"), force: Force = False) -> None:
    """Write one HTML file that shows what runs found; it opens from disk and loads nothing.

    Example: tacit report runs/gpt2 --out report.html
    """
    from tacit.outputs import check_outputs
    from tacit.report.writing import page_kind, write_report

    check_outputs([], [(out, page_kind("report"))], force=force)
    write_report(runs, out)
    typer.echo(f"Written: {out}")
