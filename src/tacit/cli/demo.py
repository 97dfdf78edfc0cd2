"""``tacit demo``: all three probes on bundled models and data, without downloads."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import Force


def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", "--output", help="Folder for the runs and the report."),
    ] = Path("tacit-demo"),
    force: Force = False,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the report in a browser.")
    ] = False,
) -> None:
    """Run all three probes on bundled models and data.

    The command prints the main results, writes a report, and opens the report in a browser.

    Example: tacit demo
    """
    from tacit.demo import errors_found, run_demo
    from tacit.outputs import check_outputs, page
    from tacit.present.results import print_blocks
    from tacit.report.writing import write_report

    report = out / "report.html"
    check_outputs([], [(report, page("report"))], force=force)
    runs = run_demo(out)
    write_report([out / name for name in runs], report)
    print_blocks(runs.values())
    typer.echo(errors_found(runs))
    typer.echo(f"Report: {report}")
    if not no_open and _has_display():
        webbrowser.open(report.resolve().as_uri())


def _has_display() -> bool:
    if sys.platform.startswith(("win", "darwin")):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
