"""``tacit repair``: the best consistent world for a set of beliefs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.check import (
    Beliefs,
    ByGroup,
    Duplicates,
    Groups,
    OnDuplicate,
    OntologyName,
    TimeLimit,
    read,
)
from tacit.cli.options import AsJson, Force
from tacit.coherence.effort import TIME_LIMIT
from tacit.english import several


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
    groups: Groups = None,
    on_duplicate: Duplicates = OnDuplicate.error,
    time_limit: TimeLimit = TIME_LIMIT,
    processes: Annotated[
        int | None, typer.Option(help="How many processes may work at once [default: all cores].")
    ] = None,
    by_group: ByGroup = None,
    world: Annotated[
        Path | None, typer.Option(help="Write every statement true in the world, asked or not.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the best world that keeps every constraint, and prove it unless the time runs out.

    Example: tacit repair beliefs.tsv --out repaired.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_tables

    outputs = (
        (out, table_with("a table of repaired beliefs", "believed", "repaired")),
        (by_group, table_with("a table of groups' repairs", "turned_true", "turned_false")),
        (world, table_with("a table of a repaired world", "p_true", "repaired")),
    )
    check_outputs([beliefs], outputs, force=force)

    from tacit.coherence.repair import repair as find

    known, held, columns = read(beliefs, ontology, on_duplicate, groups)
    found = find(held, known, objective.value, time_limit, processes, columns)
    tables = [(found.beliefs, out)]
    tables += [] if by_group is None else [(found.table, by_group)]
    tables += [] if world is None else [(found.world, world)]
    write_tables(tables)
    result = found.to_json()
    typer.echo(json.dumps(result) if as_json else f"{_readable(result)}\nWritten: {out}")


def _readable(result: dict[str, Any]) -> str:
    value, bound = (
        f"{result[key]:,}" if isinstance(result[key], int) else f"{result[key]:,.3f}"
        for key in ("value", "bound")
    )
    open_groups = result["groups"] - result["optimal"]
    proven = (
        f"time limit reached, {open_groups:,} not proven best" if open_groups else "all proven best"
    )
    lines = [
        f"{several(result['groups'], 'group')} repaired in {result['seconds']:.2f} s, {proven}",
        f"{result['objective']}: value {value}, no world is above {bound}",
        (
            f"{several(result['turned_true'], 'statement')} turned true, "
            f"{result['turned_false']:,} turned false, "
            f"{result['free']:,} decided by the tie rule alone"
        ),
        (
            f"{result['missing']:,} missing, "
            f"of which {result['inferred']:,} inferred to be true; "
            f"{result['unasked']:,} not asked"
        ),
    ]
    if not result["settled"]:
        lines.append(
            "not every equally good world was found: another run may choose a different one"
        )
    return "\n".join(lines)
