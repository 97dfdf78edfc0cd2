"""``tacit check``: how often beliefs contradict one another."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import AsJson, Force
from tacit.coherence.effort import TIME_LIMIT
from tacit.english import several
from tacit.strings import listed

if TYPE_CHECKING:
    import polars as pl

    from tacit.coherence.ontology import Ontology


class OnDuplicate(StrEnum):
    """What to do with rows that give one statement different beliefs."""

    error = "error"
    mean = "mean"
    first = "first"


Beliefs = Annotated[
    Path,
    typer.Argument(help="TSV, CSV, JSONL or Parquet: subject, relation, object, p_true, groups."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COL[,COL]",
        help="The columns that name a group, in place of thing, annotator, person, document, "
        "model and group where they are there. Other columns are carried along.",
    ),
]
ByGroup = Annotated[Path | None, typer.Option(help="Write the result of each group to this table.")]
OntologyName = Annotated[
    str, typer.Option("--ontology", help="parts, taxonomy, time, space, or a YAML file.")
]
Duplicates = Annotated[
    OnDuplicate, typer.Option(help="Rows that give one statement different beliefs.")
]

TimeLimit = Annotated[
    float,
    typer.Option(
        help="Seconds for exact repair; then stop with the best world found and a proven bound. "
        "inf: no limit."
    ),
]


def check(
    beliefs: Beliefs,
    ontology: OntologyName = "parts",
    believed: Annotated[
        str, typer.Option(help="p_true, or a column of True and False: believed, repaired, label.")
    ] = "p_true",
    groups: Groups = None,
    on_duplicate: Duplicates = OnDuplicate.error,
    revision_cost: Annotated[
        bool,
        typer.Option(
            "--revision-cost",
            help="Compute the least number of statements to change for consistency.",
        ),
    ] = False,
    time_limit: TimeLimit = TIME_LIMIT,
    violations: Annotated[
        Path | None, typer.Option(help="Write the violated constraints to this table.")
    ] = None,
    by_group: ByGroup = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Count the constraints that beliefs violate.

    Example: tacit check beliefs.tsv --ontology taxonomy
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_tables

    outputs = (
        (violations, table_with("a table of violated constraints", "constraint", "subject_1")),
        (by_group, table_with("a table of groups' counts", "statements", "violated", "applicable")),
    )
    check_outputs([beliefs], outputs, force=force)

    from tacit.coherence.check import check as count

    known, held, columns = read(beliefs, ontology, on_duplicate, groups)
    found = count(
        held,
        known,
        believed,
        groups=columns,
        revision_cost=revision_cost,
        time_limit=time_limit,
    )
    tables = [] if violations is None else [(found.violations, violations)]
    tables += [] if by_group is None else [(found.groups, by_group)]
    write_tables(tables)
    result = found.to_json()
    typer.echo(json.dumps(result) if as_json else _readable(result))


def read(
    path: Path, ontology: str, on_duplicate: OnDuplicate, groups: str | None
) -> tuple[Ontology, pl.DataFrame, list[str]]:
    """Read what the command line names, and say on standard error how the beliefs are grouped.

    Returns:
        The ontology, the beliefs, and the columns that name a group.
    """
    from tacit.coherence.beliefs import group_columns, grouping_remarks, read_beliefs
    from tacit.coherence.ontology import Ontology
    from tacit.present.reporter import show_warnings

    show_warnings()
    known = Ontology.load(ontology)
    named = None if groups is None else listed(groups)
    beliefs = read_beliefs(path, known, on_duplicate.value, named)
    for remark in grouping_remarks(beliefs, named):
        typer.echo(f"tacit: {remark}", err=True)
    return known, beliefs, group_columns(beliefs, named)


def percent(share: float | None) -> str:
    """A share for people; an undefined one is a dash."""
    return "-" if share is None else f"{100 * share:.2f}"


def _readable(result: dict[str, Any]) -> str:
    kinds = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")
    # The last two are beyond the paper, and most ontologies have neither.
    shown = [kind for kind in kinds if kind in kinds[:4] or result[kind]["applicable"]]
    counts = ("violated", "applicable", "undecided")
    lines = [f"{'constraint':<12}{''.join(f'{name:>12}' for name in counts)}{'%':>8}"]
    lines += [
        f"{kind:<12}{''.join(f'{result[kind][name]:>12,}' for name in counts)}"
        f"{percent(result[kind]['rate']):>8}"
        for kind in shown
    ]
    lines += [
        f"{'macro':<48}{percent(result['macro']):>8}",
        f"{'micro':<48}{percent(result['micro']):>8}",
        "",
        (
            f"{result['believed']:,} of {several(result['statements'], 'statement')} believed; "
            f"{result['ties']:,} at exactly one half, {result['missing']:,} missing, "
            f"{result['unasked']:,} not asked"
        ),
        (
            f"groups: {result['groups']:,}, with a decided constraint: "
            f"{result['groups_decided']:,}, with a violation: {result['groups_with_violations']:,}"
        ),
        (
            f"jointly consistent groups: {percent(result['jointly_consistent'])} %; "
            f"contradiction density: {percent(result['contradiction_density'])} %"
        ),
    ]
    if any(result[kind]["undecided"] for kind in kinds):
        lines.append(
            "undecided: a statement of the constraint was not asked or has no belief; "
            "rates leave it out"
        )
    if result["revision_cost_at_most"] is not None:
        lines.append(_revision_cost(result))
    return "\n".join(lines)


def _revision_cost(result: dict[str, Any]) -> str:
    """The least number of changes; an interval when the time ran out before a proof."""
    if result["revision_cost"] is not None:
        return f"{several(result['revision_cost'], 'statement')} must change at least"
    low, high = result["revision_cost_at_least"], result["revision_cost_at_most"]
    return (
        f"time limit reached: between {low:,} and {high:,} statements must change; "
        f"{high:,} changes suffice, and fewer were not ruled out"
    )
