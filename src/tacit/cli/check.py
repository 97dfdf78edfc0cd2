"""``tacit check``: how often beliefs contradict one another."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import AsJson

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
OntologyName = Annotated[
    str, typer.Option("--ontology", help="parts, taxonomy, time, space, or a YAML file.")
]
Duplicates = Annotated[
    OnDuplicate, typer.Option(help="Rows that give one statement different beliefs.")
]


def check(
    beliefs: Beliefs,
    ontology: OntologyName = "parts",
    believed: Annotated[
        str, typer.Option(help="p_true, or a column of True and False: believed, repaired, label.")
    ] = "p_true",
    on_duplicate: Duplicates = OnDuplicate.error,
    revision_cost: Annotated[
        bool, typer.Option("--revision-cost", help="How many statements must change, exactly.")
    ] = False,
    violations: Annotated[
        Path | None, typer.Option(help="Write the violated constraints to this table.")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Write the counts of each group to this table.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the constraints that beliefs violate."""
    from tacit.tables import check_outputs, write_tables

    check_outputs([beliefs], [out for out in (violations, groups) if out is not None])

    from tacit.coherence.check import check as count

    known, held = read(beliefs, ontology, on_duplicate)
    found = count(held, known, believed, revision_cost=revision_cost)
    tables = [] if violations is None else [(found.violations, violations)]
    tables += [] if groups is None else [(found.groups, groups)]
    write_tables(tables)
    result = found.to_json()
    typer.echo(json.dumps(result) if as_json else _readable(result))


def read(path: Path, ontology: str, on_duplicate: OnDuplicate) -> tuple[Ontology, pl.DataFrame]:
    """The ontology and the beliefs that the command line names."""
    from tacit.coherence.beliefs import read_beliefs
    from tacit.coherence.ontology import Ontology

    known = Ontology.load(ontology)
    return known, read_beliefs(path, known, on_duplicate.value)


def percent(share: float | None) -> str:
    """A share for people; nothing applicable has none."""
    return "-" if share is None else f"{100 * share:.2f}"


def _readable(result: dict[str, Any]) -> str:
    kinds = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")
    # The last two are beyond the paper, and most ontologies have neither.
    shown = [kind for kind in kinds if kind in kinds[:4] or result[kind]["applicable"]]
    lines = [f"{'constraint':<12}{'violated':>12}{'applicable':>12}{'%':>8}"]
    lines += [
        f"{kind:<12}{result[kind]['violated']:>12,}{result[kind]['applicable']:>12,}"
        f"{percent(result[kind]['rate']):>8}"
        for kind in shown
    ]
    lines += [
        f"{'macro':<36}{percent(result['macro']):>8}",
        f"{'micro':<36}{percent(result['micro']):>8}",
        "",
        (
            f"{result['believed']:,} of {result['statements']:,} statements believed; "
            f"{result['ties']:,} at exactly one half, {result['missing']:,} missing, "
            f"{result['unasked']:,} not asked"
        ),
        (
            f"{result['groups_with_violations']:,} of {result['groups']:,} groups "
            "have a violation; "
            f"{percent(result['jointly_consistent'])} % could be true as a whole; "
            f"contradiction density {percent(result['contradiction_density'])} %"
        ),
    ]
    if result["revision_cost"] is not None:
        lines.append(f"{result['revision_cost']:,} statements must change at least")
    return "\n".join(lines)
