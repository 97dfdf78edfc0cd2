"""``tacit check`` and ``tacit repair``: count constraint violations, and repair beliefs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import AsJson, Force
from tacit.coherence import TIME_LIMIT
from tacit.english import number_of, several
from tacit.findings.numbers import formatted
from tacit.strings import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from tacit.coherence.check import Check
    from tacit.coherence.ontology import Ontology


_MOST_TEXTS = 6  # statements of an example


class OnDuplicate(StrEnum):
    """What to do if several rows contain different beliefs about the same statement."""

    error = "error"
    mean = "mean"
    first = "first"


Beliefs = Annotated[
    Path,
    typer.Argument(
        help="A table of beliefs (TSV, CSV, JSONL or Parquet) with the columns subject, "
        "relation, object and p_true. To check groups of beliefs separately, use --groups "
        "to name the columns whose values identify a group."
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COL[,COL]",
        help=(
            "Columns that define the groups: beliefs with the same values in these columns form "
            "one group [default: all columns of the table that are named thing, annotator, "
            "person, document, model or group]."
        ),
    ),
]
ByGroup = Annotated[
    Path | None,
    typer.Option(
        help="File for a table with one row of results per group of beliefs (see --groups)."
    ),
]
OntologyName = Annotated[
    str,
    typer.Option(
        "--ontology",
        help="The ontology that defines the relations and constraints. Give the name of a "
        "built-in ontology (parts, taxonomy, time or space) or a YAML file.",
    ),
]
Duplicates = Annotated[
    OnDuplicate,
    typer.Option(
        help="What to do if several rows have different beliefs about one statement: error (stop), "
        "mean (use the mean of the beliefs) or first (use the first belief)."
    ),
]

TimeLimit = Annotated[
    float,
    typer.Option(
        help="Time limit, in seconds, of the search for the best truth values that satisfy all "
        "constraints; inf for no limit. If the limit is reached, the search stops with the "
        "best assignment of truth values found so far and a proven bound on the optimum."
    ),
]


def check(
    beliefs: Beliefs,
    ontology: OntologyName = "parts",
    believed: Annotated[
        str,
        typer.Option(
            help="The column that determines which statements are believed: p_true (statements "
            "with p_true above one half are believed), or a column with the values True and False, "
            "such as believed, repaired or label."
        ),
    ] = "p_true",
    groups: Groups = None,
    on_duplicate: Duplicates = OnDuplicate.error,
    revision_cost: Annotated[
        bool,
        typer.Option(
            "--revision-cost",
            help="Compute the smallest number of beliefs that must change so that all constraints "
            "are satisfied.",
        ),
    ] = False,
    time_limit: TimeLimit = TIME_LIMIT,
    violations: Annotated[
        Path | None, typer.Option(help="File for a table of the violated constraints.")
    ] = None,
    clashes: Annotated[
        Path | None,
        typer.Option(
            help="File for a table of indirect clashes: believed statements that cannot all be "
            "true, although they violate no constraint whose statements all have beliefs. The "
            "statements of violated constraints are left out, and no statement is in two clashes."
        ),
    ] = None,
    by_group: ByGroup = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Count the logical constraints that the beliefs in a table violate.

    Example: tacit check beliefs.tsv --ontology taxonomy
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_tables

    outputs = (
        (violations, table_with("a table of violated constraints", "constraint", "subject_1")),
        (clashes, table_with("a table of indirect clashes", "clash", "subject", "p_true")),
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
    tables += [] if clashes is None else [(found.clashes, clashes)]
    tables += [] if by_group is None else [(found.groups, by_group)]
    write_tables(tables)
    result = found.to_json()
    if as_json:
        typer.echo(json.dumps(result))
        return
    typer.echo(_violation_lines(result, known))
    for line in (*_examples(found.violations, violations), *_clash(found, columns, clashes)):
        typer.echo(line)
    _echo_written(path for _, path in tables)


def read(
    path: Path, ontology: str, on_duplicate: OnDuplicate, groups: str | None
) -> tuple[Ontology, pl.DataFrame, list[str]]:
    """Read the ontology and the beliefs, and print how the beliefs are grouped.

    Returns:
        The ontology, the beliefs, and the names of the columns that identify a group of beliefs.
    """
    from tacit.coherence.beliefs import group_columns, grouping_remarks, read_beliefs
    from tacit.coherence.ontology import Ontology

    known = Ontology.load(ontology)
    named = None if groups is None else listed(groups)
    beliefs = read_beliefs(path, known, on_duplicate.value, named)
    for remark in grouping_remarks(beliefs, named):
        typer.echo(f"tacit: {remark}", err=True)
    return known, beliefs, group_columns(beliefs, named)


def _echo_written(paths: Iterable[Path]) -> None:
    """Print the names of the files that the command has written."""
    for path in paths:
        typer.echo(f"Written: {path}")


def percent(share: float | None) -> str:
    """Return a share as text in per cent; None becomes a dash."""
    return "-" if share is None else formatted(share, "percent")


def _violation_lines(result: dict[str, Any], ontology: Ontology) -> str:
    """Return the counts of constraint violations as text.

    Args:
        result: The result of the check, in the format of ``tacit check --json``.
        ontology: The ontology, which declares the constraints.
    """
    kinds = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")
    # The paper does not have the last two types of constraints, and most ontologies use neither.
    relations = ontology.relations.values()
    shown = [
        kind for kind in kinds if kind in kinds[:4] or any(getattr(r, kind) for r in relations)
    ]
    names = ("violated", "decided", "undecided", "applicable")
    lines = [f"{'constraint':<12}{''.join(f'{name:>12}' for name in names)}{'rate':>9}"]
    for kind in shown:
        counts = dict(result[kind])
        counts["decided"] = counts["applicable"] - counts["undecided"]
        cells = "".join(f"{counts[name]:>12,}" for name in names)
        lines.append(f"{kind:<12}{cells}{percent(counts['rate']):>9}")
    lines += [
        f"{'macro':<60}{percent(result['macro']):>9}",
        f"{'micro':<60}{percent(result['micro']):>9}",
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
            "groups whose believed statements can all be true together: "
            f"{percent(result['jointly_consistent'])}; mean violation rate of a group: "
            f"{percent(result['contradiction_density'])}"
        ),
    ]
    if any(result[kind]["undecided"] for kind in kinds):
        lines.append(
            "undecided: a statement of the constraint was not asked or has no belief; "
            "rates are violated / decided"
        )
    if result["revision_cost_at_most"] is not None:
        lines.append(_revision_cost(result))
    return "\n".join(lines)


def _examples(violations: pl.DataFrame, written: Path | None) -> Iterator[str]:
    """Yield, as text, one example of a violated constraint of each type.

    Args:
        violations: The violated constraints.
        written: The file to which the violated constraints were written, or None.
    """
    from tacit.coherence.beliefs import STATEMENT

    if violations.is_empty():
        return
    found = violations.unique("constraint", keep="first", maintain_order=True)
    hint = " (--violations FILE writes all)" if len(found) < len(violations) and not written else ""
    yield f"examples, out of {several(len(violations), 'violated constraint')}{hint}:"
    for row in found.iter_rows(named=True):
        numbers = [number for number in (1, 2, 3) if row[f"subject_{number}"] is not None]
        texts = {
            number: _quoted(row[f"{name}_{number}"] for name in STATEMENT) for number in numbers
        }
        believed = [texts[number] for number in numbers if row[f"believed_{number}"]]
        others = [texts[number] for number in numbers if not row[f"believed_{number}"]]
        text = f"{' and '.join(believed)} {number_of(len(believed), 'is', 'are')} believed"
        text += f", but {others[0]} is not" if others else ""
        yield f"  {row['constraint']}: {text}"


def _clash(found: Check, groups: Sequence[str], written: Path | None) -> Iterator[str]:
    """Yield, as text, the number of groups with indirect clashes, and an example.

    Args:
        found: The result of the check.
        groups: The names of the columns that identify a group of beliefs.
        written: The file to which the indirect clashes were written, or None.
    """
    from tacit.coherence.beliefs import STATEMENT

    if not found.clashing:
        return
    hint = "" if written else " (--clashes FILE writes them)"
    count = f"{several(found.clashing, 'group has', 'groups have')} indirect clashes{hint}"
    example = found.example_clash
    if example.is_empty():
        yield count
        return
    yield f"{count}; example:"
    texts = [_quoted(row) for row in example.select(*STATEMENT).iter_rows()]
    listed = " and ".join(texts[:_MOST_TEXTS])
    if len(texts) > _MOST_TEXTS:
        listed += f" and {len(texts) - _MOST_TEXTS:,} more"
    where = ", ".join(
        f"{name} {value}" for name, value in zip(groups, example.row(0), strict=False)
    )
    verb = "is believed, but cannot" if len(texts) == 1 else "are believed, but cannot all"
    yield f"  {f'{where}: ' if where else ''}{listed} {verb} be true"


def _quoted(statement: Iterable[str]) -> str:
    """Return the words of a statement as one quoted text."""
    return f'"{" ".join(statement)}"'


def _revision_cost(result: dict[str, Any]) -> str:
    """Describe how many beliefs must change; as a range if the time limit was reached."""
    if result["revision_cost"] is not None:
        return f"revision cost: {several(result['revision_cost'], 'belief')} must change"
    low, high = result["revision_cost_at_least"], result["revision_cost_at_most"]
    return (
        f"revision cost: between {low:,} and {high:,} beliefs must change; the time limit was "
        "reached before the minimum was proven"
    )


class Goal(StrEnum):
    """The name of the objective that repair maximizes."""

    paper = "paper"
    log_odds = "log-odds"
    margin = "margin"


_PAPER = (
    "the objective is paper, which also turns doubted statements true if no constraint forbids "
    "them; outside of ParRoT, prefer --objective log-odds"
)


def repair(
    context: typer.Context,
    beliefs: Beliefs,
    out: Annotated[
        Path,
        typer.Option(
            help='Output file: the beliefs, with the added columns "believed", "repaired" and '
            '"free". Column "believed": the truth value of each statement before repair. Column '
            '"repaired": the truth value of each statement after repair. Column "free": whether '
            "the repaired truth value is arbitrary, because both truth values of the statement "
            "are equally good for the objective."
        ),
    ],
    ontology: OntologyName = "parts",
    objective: Annotated[
        Goal,
        typer.Option(
            help="The objective that repair maximises. paper: the sum of the confidences of all "
            "statements that are true after repair. log-odds: the joint probability of the "
            "repaired truth values. margin: agreement with the beliefs before repair, "
            "where each belief is weighted by the distance of its probability from one "
            "half."
        ),
    ] = Goal.paper,
    groups: Groups = None,
    on_duplicate: Duplicates = OnDuplicate.error,
    time_limit: TimeLimit = TIME_LIMIT,
    by_group: ByGroup = None,
    assignment: Annotated[
        Path | None,
        typer.Option(
            help="File for all statements that are true after repair, including statements that "
            "are not in the table of beliefs."
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Repair a table of beliefs, so that the beliefs satisfy all logical constraints.

    Repair solves a weighted MaxSAT problem: of all truth assignments that satisfy every constraint,
    it finds the one that best fits the beliefs, as measured by --objective. Unless the solver
    reaches the time limit, it proves that the repaired truth values are optimal.

    The default, --objective paper, is the objective of ParRoT (Gu et al. 2023). With --objective
    paper, a statement becomes true if no constraint forbids it, even if the model's belief in the
    statement is low. Prefer --objective log-odds unless you reproduce results of Gu et al. 2023.

    Example: tacit repair beliefs.tsv --objective log-odds --out repaired.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_tables

    outputs = (
        (out, table_with("a table of repaired beliefs", "believed", "repaired")),
        (by_group, table_with("a table of groups' repairs", "turned_true", "turned_false")),
        (assignment, table_with("a table of a repaired assignment", "p_true", "repaired")),
    )
    check_outputs([beliefs], outputs, force=force)

    from tacit.coherence.repair import repair as find

    known, held, columns = read(beliefs, ontology, on_duplicate, groups)
    source = context.get_parameter_source("objective")
    if known.name != "parts" and source is not None and source.name == "DEFAULT":
        typer.echo(f"tacit: {_PAPER}", err=True)
    found = find(held, known, objective.value, time_limit, columns)
    tables = [(found.beliefs, out)]
    tables += [] if by_group is None else [(found.table, by_group)]
    tables += [] if assignment is None else [(found.assignment, assignment)]
    write_tables(tables)
    result = found.to_json()
    if as_json:
        typer.echo(json.dumps(result))
        return
    typer.echo(_repair_lines(result))
    _echo_written(path for _, path in tables)


def _inferred(result: dict[str, Any]) -> str:
    """Return as text how many statements without a belief are true after repair."""
    count = result["inferred"]
    return f" ({count:,} of them missing before)" if count else ""


def _repair_lines(result: dict[str, Any]) -> str:
    value, bound = (
        f"{result[key]:,}" if isinstance(result[key], int) else f"{result[key]:,.3f}"
        for key in ("value", "bound")
    )
    open_groups = result["groups"] - result["optimal"]
    proven = (
        f"time limit reached, {open_groups:,} not proven optimal"
        if open_groups
        else "all proven optimal"
    )
    lines = [
        f"{several(result['groups'], 'group')} repaired in {result['seconds']:.2f} s, {proven}",
        f"objective {result['objective']}: value {value}, upper bound {bound}",
        (
            f"{several(result['turned_true'], 'statement')} turned true{_inferred(result)}, "
            f"{result['turned_false']:,} turned false, "
            f"{result['free']:,} decided only by the tie rule"
        ),
        f"before repair: {result['missing']:,} missing, {result['unasked']:,} not asked",
    ]
    if not result["settled"]:
        lines.append(
            "not all optimal assignments were compared: another run may return a different one"
        )
    return "\n".join(lines)
