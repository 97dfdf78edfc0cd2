"""What runs found, as a person reads it in a terminal."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

import typer

from tacit.english import several
from tacit.present import progress
from tacit.present.comparison import print_comparison
from tacit.present.tables import MOST_ROWS, print_table
from tacit.probes.base import declared, probe
from tacit.report.obtained import obtained_told

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.runs.reading import Run


def echo_runs(found: Mapping[str, Run], together: pl.DataFrame | None) -> None:
    """Prints what each model showed and, of several, how they differ."""
    for run in found.values():
        echo_run(run)
        typer.echo(f"Written: {run.folder}")
    runs = list(found.values())
    notes = [note for run in runs for note in declared(probe(run.probe)).notes(run.findings)]
    typer.echo("".join(f"{note}\n" for note in dict.fromkeys(notes)), nl=False)
    if together is not None:
        print_comparison(together)
        ways = {name: run.summary.get("obtained") for name, run in found.items()}
        typer.echo(_elicited({name: str(way) for name, way in ways.items() if way}))


def echo_run(run: Run) -> None:
    """Prints what a model showed: tables, how it was asked, and sentences."""
    told, findings = declared(probe(run.probe)), run.findings
    made = ((each.spec, each.table) for each in told.views(findings, run.request, MOST_ROWS))
    found = ((spec, findings.table(spec)) for spec in told.tables.values() if spec.printed)
    for spec, table in chain(found, made):
        if spec.printed and table is not None and not table.is_empty():
            print_table(spec, table, f"{run.name}: {spec.title}")
    typer.echo("\n".join([*obtained_told(findings.summary), *told.sentences(findings)]))


def _elicited(ways: Mapping[str, str]) -> str:
    """A line for all models that were asked alike, else one for each."""
    alike = set(ways.values())
    if len(alike) == 1:
        return f"Obtained: {alike.pop()}"
    return "\n".join(f"Obtained, {name}: {way}" for name, way in ways.items())


def echo_estimates(estimates: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Prints what would be asked of each model."""
    found = [{"model": name, **estimate} for name, estimate in estimates.items()]
    if as_json:
        typer.echo(json.dumps({"runs": found}))
        return
    for each in found:
        echo_estimate(each)


def echo_estimate(found: Mapping[str, Any], *, as_json: bool = False) -> None:
    """Prints what ``--dry-run`` found of one model."""
    if as_json:
        typer.echo(json.dumps(found))
        return
    name = f"{found['model']}: " if "model" in found else ""
    if "calls" in found:
        from tacit.runs.cost import Cost

        keys = ("distinct", "calls", "prompt_tokens", "answer_tokens")
        cost = Cost(*(found[key] for key in keys))
        typer.echo(f"{name}{cost.sentence}\nNothing was asked.")
        return
    skipped = (
        f"to skip: {several(found['skipped'], 'prompt')} longer than the model's window\n"
        if found["skipped"]
        else ""
    )
    typer.echo(
        f"{name}{several(found['prompts'], 'prompt')}, {found['distinct']:,} distinct, "
        f"{found['stored']:,} of them in the store\n{skipped}"
        f"to ask: {several(found['to_ask'], 'prompt')}, {several(found['tokens'], 'token')}, "
        f"about {progress.duration(found['seconds'])} by a short trial\n"
        "Nothing was stored or written."
    )
