"""What runs found, as a person reads it in a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from tacit.english import several
from tacit.present import progress, terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.runs.reading import Run

_MOST_ROWS = 20


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
    elif run.probe == "assumptions":
        from tacit.cli.assumptions_table import echo_assumptions

        echo_assumptions(run.findings, name)
    else:
        _echo_tables(run, name)


def _echo_tables(run: Run, name: str) -> None:
    """Prints the small tables of a probe whose tables nothing else prints."""
    for title, table in run.tables.items():
        if 0 < table.height <= _MOST_ROWS:
            _echo_table(f"{name}: {title}", table)


def _echo_comparison(probe: str, together: pl.DataFrame) -> None:
    if probe == "parts":
        from tacit.cli.parts_table import echo_comparison

        echo_comparison(together)
    elif probe == "assumptions":
        from tacit.cli.assumptions_comparison import echo_comparison

        echo_comparison(together)
    else:
        shown = [name for name in together.columns if not name.endswith("_obtained")]
        _echo_table("Differences between models", together.select(shown))


def _echo_table(title: str, frame: pl.DataFrame) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
    for column in frame.iter_columns():
        table.add_column(column.name, justify="right" if column.dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        table.add_row(*map(_cell, row))
    terminal.console().print(table)


def _cell(value: Any) -> str:  # noqa: ANN401 - a cell of any type
    if value is None:
        return "missing"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


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
