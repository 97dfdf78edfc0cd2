"""``tacit report`` and ``tacit compare``: write one HTML file about one or several runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.options import AsJson, Force
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.runs.run import Run

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
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs, or folders that contain several runs; with --gate, the base "
            "first."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o", "--output"),
            help="The HTML file to write [default: comparison.html, or none with --gate].",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option(
            help="A policy (YAML) with the limits of measures, such as {violation_rate: "
            "{rises_by: 1.0}}: exit with 0 if all runs are within the limits, with 3 if one is "
            "beyond, and with 4 if the questions are too few to decide."
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the result of the gate for a pull request.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the result of the gate as JUnit XML.")
    ] = None,
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
    family, the HTML page also shows how results change with model size. With --gate, the first run
    is the base, and the others must stay within the limits of a policy.

    Example: tacit compare runs/gpt2 runs/opt --out comparison.html
    """
    from tacit.outputs import check_outputs, page

    if gate is not None:
        code = _gated(runs, gate, out, markdown, junit, force=force, as_json=as_json)
        raise typer.Exit(code)
    if markdown or junit:
        raise RequestError(f"{'--markdown' if markdown else '--junit'} requires --gate")
    out = out or Path("comparison.html")
    check_outputs([], [(out, page("comparison"))], force=force)
    _compare(runs, out, force=force, as_json=as_json)


def _compare(runs: list[Path], out: Path, *, force: bool, as_json: bool) -> None:
    from tacit.files import publish_text
    from tacit.present.results import print_comparison
    from tacit.report.differences import tables_of
    from tacit.report.writing import report
    from tacit.runs.comparison import by_probe, check_comparable
    from tacit.runs.reading import read_runs

    finished = read_runs(runs)
    check_comparable(finished, force=force)
    _warn(finished)
    publish_text(out, report(finished, "comparison", force=force))
    if as_json:
        tables = tables_of(finished).items()
        typer.echo(json.dumps({name: table.to_dicts() for name, table in tables}))
        return
    for mine in by_probe(finished).values():
        print_comparison(mine)
        if len(mine) == 1:
            typer.echo(
                f"{mine.probe}: not compared, because there is a run of {next(iter(mine))} only"
            )
    typer.echo(f"Written: {out}")


def _gated(
    runs: list[Path],
    policy: Path,
    out: Path | None,
    markdown: Path | None,
    junit: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Print the result of a gate, write its files, and return its exit code."""
    from tacit.files import publish_text
    from tacit.outputs import check_outputs, page
    from tacit.present import gate as results
    from tacit.report.writing import report
    from tacit.runs.gate.gate import gate_of
    from tacit.runs.gate.policy import Policy

    files = [(markdown, results.MARKDOWN), (junit, results.JUNIT)]
    check_outputs([policy], [(out, page("comparison")), *files], force=force)
    gate, every = gate_of(runs[:1], runs[1:], Policy.of(policy), force=force)
    _warn(every)
    for path, text in ((markdown, results.markdown), (junit, results.junit)):
        if path is not None:
            publish_text(path, text(gate))
    if out is not None:
        publish_text(out, report(every, "comparison", force=force))
    typer.echo(json.dumps(gate.to_json()) if as_json else str(gate))
    return gate.exit_code


def _warn(runs: Sequence[Run]) -> None:
    from tacit.runs.comparison import by_probe, warnings

    for warning in (each for mine in by_probe(runs).values() for each in warnings(mine)):
        sys.stderr.write(f"tacit: {warning}\n")
