"""``tacit check`` and ``tacit repair``: count constraint violations, and repair beliefs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.options import AsJson, Force
from tacit.coherence import TIME_LIMIT, Objective, OnDuplicate
from tacit.english import several
from tacit.strings import listed

if TYPE_CHECKING:
    from tacit.coherence.beliefs import Beliefs
    from tacit.coherence.check import Check
    from tacit.coherence.ontology import Ontology
    from tacit.coherence.repair import Repaired

_MOST_SENTENCES = 5
_MOST_CHANGES = 10
_PAIR = 2

BeliefsFile = Annotated[
    Path,
    typer.Argument(
        help="A table of beliefs (TSV, CSV, JSONL or Parquet) with the columns subject, "
        "relation, object and p_true; without p_true, every statement counts as certain. To check "
        "groups of beliefs separately, use --groups to name the columns whose values identify a "
        "group."
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
    beliefs: BeliefsFile,
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
    on_duplicate: Duplicates = "error",
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
    conflicts: Annotated[
        Path | None,
        typer.Option(
            help="File for a table of the minimal conflicts: beliefs that cannot all be "
            "right, but can if any one of them is given up, and the cost of giving it up."
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
    from tacit.tables import write_table

    outputs = (
        (violations, table_with("a table of violated constraints", "constraint", "subject_1")),
        (conflicts, table_with("a table of conflicts", "conflict", "cost")),
        (by_group, table_with("a table of groups' counts", "statements", "violated", "applicable")),
    )
    check_outputs([beliefs], outputs, force=force)

    from tacit.coherence.check import check as count

    held = _read(beliefs, ontology, on_duplicate, groups)
    truth = held.believed(believed)
    checked = count(held, truth, revision_cost=revision_cost, time_limit=time_limit)
    tables = [] if violations is None else [(checked.violations, violations)]
    tables += [] if conflicts is None else [(checked.conflicts, conflicts)]
    tables += [] if by_group is None else [(checked.groups, by_group)]
    for table, path in tables:
        write_table(table, path)
    if as_json:
        typer.echo(json.dumps(checked.to_json(), default=str))  # a group can be a date
        return
    lines = checked.lines(_MOST_SENTENCES)
    if len(checked.sentences) > _MOST_SENTENCES and conflicts is None:
        lines.append("to write all of them to a file: --conflicts FILE")
    typer.echo("\n".join([*lines, ""]))
    _print_counts(checked, held.ontology)
    written = [f"Written: {path}" for _, path in tables]
    typer.echo("\n".join([*_counts_text(checked), *written]))


def _read(path: Path, ontology: str, on_duplicate: OnDuplicate, groups: str | None) -> Beliefs:
    """Read the ontology and the beliefs, and print how they are grouped."""
    from tacit.coherence.beliefs import read_beliefs
    from tacit.coherence.ontology import Ontology

    named = None if groups is None else listed(groups)
    beliefs = read_beliefs(path, Ontology.load(ontology), on_duplicate, named)
    for remark in beliefs.remarks():
        typer.echo(f"tacit: {remark}", err=True)
    return beliefs


def _print_counts(checked: Check, ontology: Ontology) -> None:
    """Print the counts of each type of constraint that the paper or the ontology has."""
    from tacit.findings.spec import Column, Layout, TableSpec
    from tacit.present.tables import print_table

    counts = ("violated", "decided", "undecided", "applicable")
    columns = (
        Column("constraint", "constraint"),
        *(Column(name, name, "count") for name in counts),
        Column("rate", "rate", "percent"),
    )
    spec = TableSpec("counts", "Constraints", "", columns, printed=Layout())
    counted = [(kind, checked.counts[kind]) for kind in ontology.kinds]
    rows = [
        {"constraint": kind, **count.to_json(), "decided": count.decided}
        for kind, count in [*counted, ("micro", checked.total)]
    ]
    print_table(spec, spec.frame(rows), spec.title)


def _counts_text(checked: Check) -> Iterator[str]:
    from tacit.findings.numbers import formatted

    if (checked.conflicts.group_by("conflict").len()["len"] != _PAIR).any():
        yield "a conflict, such as a cycle of three statements, may be counted in no row"
    yield f"macro, the mean of the rates: {formatted(checked.macro, 'percent')}"
    yield (
        f"{checked.believed:,} of {several(checked.statements, 'statement')} believed; "
        f"{checked.ties:,} at exactly one half, {checked.missing:,} missing, "
        f"{checked.unasked:,} not asked"
    )
    yield (
        f"groups: {len(checked.groups):,}, with a decided constraint: {checked.decided:,}, "
        f"with a violation: {checked.contradicted:,}"
    )
    yield (
        "groups whose believed statements can all be true together: "
        f"{formatted(checked.consistent, 'percent')}; mean violation rate of a group: "
        f"{formatted(checked.density, 'percent')}"
    )
    if checked.total.undecided:
        yield "rates are violated / decided"
    low, high = checked.revision_cost_at_least, checked.revision_cost_at_most
    if checked.revision_cost is not None:
        fewest = several(checked.revision_cost, "belief")
        yield f"revision cost: at least {fewest} must change, however certain they are"
    elif high is not None:
        yield (
            f"revision cost: between {low:,} and {high:,} beliefs must change; the time limit was "
            "reached before the minimum was proven"
        )


def repair(
    beliefs: BeliefsFile,
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
        Objective | None,
        typer.Option(
            help="The objective that repair maximises. paper: the sum of the confidences of all "
            "statements that are true after repair. log-odds: the joint probability of the "
            "repaired truth values. margin: agreement with the beliefs before repair, "
            "where each belief is weighted by the distance of its probability from one "
            "half. [default: paper with the ontology parts, log-odds with any other]"
        ),
    ] = None,
    groups: Groups = None,
    on_duplicate: Duplicates = "error",
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

    With the ontology parts, the default is --objective paper, the objective of ParRoT (Gu et al.
    2023): a statement becomes true if no constraint forbids it, even if the model's belief in the
    statement is low. Prefer --objective log-odds, the default with any other ontology, unless you
    reproduce results of Gu et al. 2023.

    Example: tacit repair beliefs.tsv --objective log-odds --out repaired.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_table

    outputs = (
        (out, table_with("a table of repaired beliefs", "believed", "repaired")),
        (by_group, table_with("a table of groups' repairs", "turned_true", "turned_false")),
        (assignment, table_with("a table of a repaired assignment", "p_true", "repaired")),
    )
    check_outputs([beliefs], outputs, force=force)

    from tacit.coherence.repair import repair as find

    held = _read(beliefs, ontology, on_duplicate, groups)
    repaired = find(held, objective, time_limit)
    tables = [(repaired.beliefs, out)]
    tables += [] if by_group is None else [(repaired.table, by_group)]
    tables += [] if assignment is None else [(repaired.assignment, assignment)]
    for table, path in tables:
        write_table(table, path)
    if as_json:
        typer.echo(json.dumps(repaired.to_json()))
        return
    lines = [*_repair_text(repaired, held.groups), *(f"Written: {path}" for _, path in tables)]
    typer.echo("\n".join(lines))


def _repair_text(repaired: Repaired, groups: Sequence[str]) -> Iterator[str]:
    from tacit.coherence.repair import changes

    value, bound = (
        f"{each:,}" if isinstance(each, int) else f"{each:,.3f}"
        for each in (repaired.value, repaired.bound)
    )
    left = repaired.groups - repaired.optimal
    proven = f"time limit reached, {left:,} not proven optimal" if left else "all proven optimal"
    inferred = f" ({repaired.inferred:,} of them missing before)" if repaired.inferred else ""
    yield f"{several(repaired.groups, 'group')} repaired in {repaired.seconds:.2f} s, {proven}"
    yield f"objective {repaired.objective}: value {value}, upper bound {bound}"
    yield (
        f"{several(repaired.turned_true, 'statement')} turned true{inferred}, "
        f"{repaired.turned_false:,} turned false, {repaired.free:,} decided only by the tie rule"
    )
    changed = changes(repaired.beliefs, groups)
    yield from changed[:_MOST_CHANGES]
    if len(changed) > _MOST_CHANGES:
        yield f"and {len(changed) - _MOST_CHANGES:,} more"
    yield f"before repair: {repaired.missing:,} missing, {repaired.unasked:,} not asked"
    if not repaired.settled:
        yield "not all optimal assignments were compared: another run may return a different one"
