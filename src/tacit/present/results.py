"""Print the block of each run, and how models differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import typer

from tacit.english import several
from tacit.findings.numbers import bracketed, formatted
from tacit.findings.verdict import Name
from tacit.present import terminal
from tacit.present.tables import print_rows
from tacit.probes.base import title_of
from tacit.probes.registry import probe
from tacit.runs.run import Run, Runs

MOST_MEASURES = 10
"""The maximum number of printed measures, summed over all pairs of models."""

_COLOURS: Mapping[Name, str] = {
    "clear": "green",
    "weak": "yellow",
    "no signal": "red",
    "constant": "red",
    "too few data": "yellow",
}


def print_blocks(runs: Iterable[Run]) -> None:
    """Print the block of each run beside its probe and model."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    has_interval = False
    for run in runs:
        lines = run.block.lines if run.block else ("nothing was measured",)
        body = Text("\n".join(lines))
        body.highlight_words(["Control:", "Caution:", "Next:"], "bold")
        if run.verdict:
            body.highlight_words([str(run.verdict)], _COLOURS[run.verdict.name])
        has_interval = has_interval or any("[" in line for line in lines)
        grid.add_row(Text(f"{title_of(probe(run.probe))}\n{run.name}", style="bold"), body)
    console = terminal.console(wraps=False)
    with console.capture() as printed:
        console.print(grid, *(["[ ]: 95 % confidence interval"] if has_interval else ()), sep="")
    for line in printed.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")


def print_comparison(runs: Runs) -> None:
    """Print the differences between each two models: first those whose interval excludes 0."""
    import polars as pl

    title, pairs = title_of(probe(runs.probe)), list(combinations(runs, 2))
    differs = (pl.col("difference_low") > 0) | (pl.col("difference_high") < 0)
    for first, second in pairs:
        measured, flipped = (
            table.filter(first=first, second=second)
            for table in (runs.comparison, runs.flips)
            if table is not None
        )
        most, printed = max(1, MOST_MEASURES // len(pairs)), measured
        if measured.height > most:
            firsts = (differs.fill_null(value=False), "main")
            printed = measured.sort(*firsts, descending=True, maintain_order=True).head(most)
        rows = [_row(row, first, second) for row in printed.iter_rows(named=True)]
        print_rows(f"{title}: from {first} to {second}", pl.DataFrame(rows), most=None)
        for name in (first, second):
            if (verdict := runs[name].verdict) and not verdict.shows_something:
                typer.echo(f"{name}: {verdict} Its results are no evidence of knowledge.")
        for note in printed["note"].drop_nulls().unique(maintain_order=True):
            typer.echo(f"Note: {note}")
        for row in flipped.filter(pl.col("n") > 0).iter_rows(named=True):
            typer.echo(
                f"{row['changed']:,} of {several(row['n'], row['answer'])} answered differently: "
                f"{row['became_wrong']:,} became wrong, {row['became_right']:,} became right"
            )
        if printed.height < measured.height:
            changed = measured.filter(differs).height
            typer.echo(
                f"{printed.height} of {measured.height} measures are shown; the intervals of "
                f"{changed} exclude 0 (not corrected for {measured.height} measures)"
            )
        typer.echo()


def _row(row: Mapping[str, Any], first: str, second: str) -> dict[str, str]:
    """Return the printed row of a measure, whose change has its 95 % CI in brackets."""
    ends = (row["difference_low"], row["difference_high"])
    return {
        "measure": row["measure"],
        first: formatted(row["first_value"], "score"),
        second: formatted(row["second_value"], "score"),
        "change [95 % CI]": bracketed(row["difference"], *ends, "signed"),
        "n": f"{row['n']:,}",
    }
