"""``tacit repair``: the best consistent world for a set of beliefs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.check import Beliefs, Duplicates, OnDuplicate, OntologyName, read
from tacit.cli.options import AsJson


class Goal(StrEnum):
    """What the repaired world should keep as much of as possible."""

    paper = "paper"
    log_odds = "log-odds"
    margin = "margin"


def repair(
    beliefs: Beliefs,
    out: Annotated[
        Path, typer.Option(help="The beliefs with believed and repaired: a table by its suffix.")
    ],
    ontology: OntologyName = "parts",
    objective: Annotated[
        Goal, typer.Option(help="What to keep: the paper's confidence, log-odds or margins.")
    ] = Goal.paper,
    on_duplicate: Duplicates = OnDuplicate.error,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which to stop with the best world found.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="How many processes may work at once [default: all cores].")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Write the result of each group to this table.")
    ] = None,
    world: Annotated[
        Path | None, typer.Option(help="Write every statement true in the world, asked or not.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the best world that keeps every constraint, and prove it."""
    from tacit.tables import check_outputs, write_tables

    check_outputs([beliefs], [path for path in (out, groups, world) if path is not None])

    from tacit.coherence.repair import repair as find

    known, held = read(beliefs, ontology, on_duplicate)
    found = find(held, known, objective.value, time_limit, processes)
    tables = [(found.beliefs, out)]
    tables += [] if groups is None else [(found.table, groups)]
    tables += [] if world is None else [(found.world, world)]
    write_tables(tables)
    result = found.to_json()
    typer.echo(json.dumps(result) if as_json else f"{_readable(result)}\nWritten: {out}")


def _readable(result: dict[str, Any]) -> str:
    value, bound = (
        f"{result[key]:,}" if isinstance(result[key], int) else f"{result[key]:,.3f}"
        for key in ("value", "bound")
    )
    proven = (
        "all proven best"
        if result["optimal"] == result["groups"]
        else f"{result['optimal']:,} proven best when the time ran out"
    )
    return "\n".join(
        [
            f"{result['groups']:,} groups repaired in {result['seconds']:.2f} s, {proven}",
            f"{result['objective']}: value {value}, no world is above {bound}",
            (
                f"{result['turned_true']:,} statements turned true, "
                f"{result['turned_false']:,} turned false, "
                f"{result['free']:,} decided by the rule among equals alone"
            ),
            (
                f"{result['missing']:,} missing, "
                f"of which {result['inferred']:,} inferred to be true; "
                f"{result['unasked']:,} not asked"
            ),
        ]
    )
