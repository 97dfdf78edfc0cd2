"""What runs found, as a person reads it in a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.obtained import obtained_told
from tacit.english import several
from tacit.findings.findings import Findings
from tacit.present import progress
from tacit.present.comparison import print_comparison
from tacit.present.tables import MOST_ROWS, print_table
from tacit.probes.base import declared, probe

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.runs.reading import Run


def echo_runs(found: Mapping[str, Run], together: pl.DataFrame | None) -> None:
    """Prints what each model showed and, of several, how they differ."""
    for name, run in found.items():
        _echo_run(run, name)
        typer.echo(f"Written: {run.folder}")
    if together is not None:
        _echo_comparison(next(iter(found.values())).probe, together)
        ways = {name: run.summary.get("obtained") for name, run in found.items()}
        typer.echo(_elicited({name: str(way) for name, way in ways.items() if way}))


def _echo_run(run: Run, name: str) -> None:
    """Prints what one model showed."""
    if run.probe == "parts":
        from tacit.cli.parts_table import echo_parts

        echo_parts(run.summary, name)
    elif run.probe == "consistency":
        from tacit.cli.consistency_table import echo_consistency

        echo_consistency(run.findings, name)
    else:
        _echo_tables(run, name)


def _echo_tables(run: Run, name: str) -> None:
    """Prints the tables that a probe declares as printed, and what it says in sentences."""
    told = declared(probe(run.probe))
    for spec in told.tables.values():
        if spec.printed and spec.name in run.tables:
            print_table(spec, run.tables[spec.name], f"{name}: {spec.title}")
    found = Findings(run.questions, run.tables, run.summary)
    for view in told.views(found, run.request, MOST_ROWS):
        if view.spec.printed:
            print_table(view.spec, view.table, f"{name}: {view.spec.title}")
    sentences = (*told.sentences(run.findings), *told.notes(run.findings))
    typer.echo("\n".join([*obtained_told(run.summary), *sentences]))


def _echo_comparison(name: str, together: pl.DataFrame) -> None:
    if name == "parts":
        from tacit.cli.parts_table import echo_comparison

        echo_comparison(together)
    else:
        print_comparison(together)


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
