"""``tacit norms``: prompts built from feature production norms."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tacit.cli import options as given
from tacit.cli.options import declared, group
from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.numbers import formatted
from tacit.probes.assumptions.options import NormsOptions

app = group("Build prompts from feature norms.")

_SHOWN = 30
"""The maximum number of line numbers that are printed for each problem in the norms."""

_OF_RETRIEVAL = ("articles", "least", "most_words")


@app.command("prompts")
@declared()
def prompts_command(
    *,
    out: Annotated[Path, typer.Option(help="File for the prompts: TSV, CSV, JSONL or Parquet.")],
    options: NormsOptions,
    elicitation: Annotated[
        bool,
        typer.Option(
            "--elicitation",
            help="Write elicitation prompts (given a concept, which "
            "properties?) instead of retrieval prompts (given properties, "
            "which concept?).",
        ),
    ] = False,
    wording: Annotated[
        Literal["sentence", "blank-last"],
        typer.Option(
            help="Wording of the prompts: sentence (a full sentence with a blank, for masked "
            "models) or blank-last (the prompt ends with the blank, for causal models)."
        ),
    ] = "sentence",
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="Build retrieval prompts (given properties, which concept?) only for the "
            "concepts that the file lists, one per line."
        ),
    ] = None,
    no_preface: Annotated[
        bool,
        typer.Option(
            "--no-preface", help='Leave "Everyone knows that" out of elicitation prompts.'
        ),
    ] = False,
    left_out: Annotated[
        Path | None,
        typer.Option(
            help="File for the properties that are left out of retrieval prompts, each with the "
            "reason."
        ),
    ] = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Write the prompts that the assumptions probe builds from feature norms.

    The command prints how many concepts and properties each filter removes.

    Example: tacit norms prompts --norms norms.dat --out prompts.jsonl
    """
    from tacit.outputs import check_outputs, table_with

    files = [path for path in (options.norms, options.corrections, vocabulary) if path is not None]
    outputs = (
        (out, table_with("a table of prompts", "concept", "text")),
        (left_out, table_with("a table of properties left out", "feature", "reason")),
    )
    check_outputs(files, outputs, force=force)
    if elicitation and left_out is not None:
        raise RequestError("--left-out has no effect with --elicitation: remove it")
    _check(options, vocabulary, elicitation=elicitation, no_preface=no_preface)

    from tacit.knowledge.words import spare_torch
    from tacit.probes.assumptions.prompt_tables import elicitation_table, retrieval_table
    from tacit.probes.assumptions.properties import all_removed
    from tacit.tables import write_tables

    spare_torch(None)
    if elicitation:
        table, summary = elicitation_table(options, wording, preface=not no_preface)
        tables = [(table, out)]
    else:
        table, dropped, summary = retrieval_table(options, wording, vocabulary)
        tables = [(table, out), *([] if left_out is None else [(dropped, left_out)])]
    if table.is_empty():
        removed = {step["filter"]: step["removed"] for step in summary["filters"]}
        raise all_removed(removed, summary["norms"]["concepts"])
    write_tables(tables)
    typer.echo(json.dumps(summary) if as_json else f"{_readable(summary)}\n\nWritten: {out}")


def _check(
    options: NormsOptions, vocabulary: Path | None, *, elicitation: bool, no_preface: bool
) -> None:
    """Raise an error if an option that is set has no effect on the requested prompts."""
    changed = {one.name for one in fields(options) if getattr(options, one.name) != one.default}
    idle = [f"--{name.replace('_', '-')}" for name in _OF_RETRIEVAL if name in changed]
    idle += ["--vocabulary"] * (vocabulary is not None)
    if elicitation and idle:
        raise RequestError(f"{', '.join(idle)} has no effect with --elicitation: remove it")
    idle = ["--no-preface"] * no_preface + ["--responses"] * ("responses" in changed)
    if idle and not elicitation:
        raise RequestError(f"{', '.join(idle)} has no effect without --elicitation: remove it")


def _readable(summary: dict[str, Any]) -> str:
    """Return the counts of prompts, concepts and properties as text."""
    norms = summary["norms"]
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in norms["skipped"].items())
    read = (
        f"{norms['layout']}: {several(norms['rows'], 'row')}, "
        f"{several(norms['properties'], 'property', 'properties')} of "
        f"{several(norms['concepts'], 'concept')} (skipped rows: {skipped})"
    )
    uncounted = norms["uncounted"].items()
    lines = [read, *(_rows_at(problem, at, norms["rows"]) for problem, at in uncounted), ""]
    if "properties" in summary:
        lines += [f"{name:<46}{count:>7,}" for name, count in summary["properties"].items()]
        lines += _lost(summary["namings"])
    else:
        relations = summary["relations"]
        # Only the norms of the paper have published numbers.
        known = any(one["published"] is not None for one in relations.values())
        heading = f"{'published':>11}" if known else ""
        lines += [f"{'relation':<12}{'prompts':>9}{heading}{'no response':>13}"]
        for name, one in relations.items():
            published = f"{one['published'] or '-':>11}" if known else ""
            lines.append(f"{name:<12}{one['prompts']:>9,}{published}{one['without']:>13,}")
        lines += ["", f"{'responses':<46}{'number':>7}"]
        lines += [f"{name:<46}{count:>7,}" for name, count in summary["responses"].items()]
    lines += ["", f"{'concepts: filter':<32}{'removed':>9}{'left':>9}"]
    lines += [
        f"{step['filter']:<32}{step['removed']:>9,}{step['left']:>9,}"
        for step in summary["filters"]
    ]
    if summary["unmatched_corrections"]:
        met = ", ".join(summary["unmatched_corrections"])
        lines += ["", f"corrections that match no property (letter case matters): {met}"]
    lines += [
        "",
        f"{several(summary['prompts'], 'prompt')} for {several(summary['concepts'], 'concept')}",
    ]
    return "\n".join(lines)


def _lost(namings: dict[str, int]) -> list[str]:
    """Return a line with the share of participants' responses that no prompt uses."""
    if not namings["all"]:
        return []
    return [
        (
            f"the properties left out have {namings['left_out']:,} of "
            f"{several(namings['all'], 'naming')} "
            f"({formatted(namings['left_out'] / namings['all'], 'percent')}); --left-out FILE "
            "lists them"
        )
    ]


def _rows_at(problem: str, lines: list[int], rows: int) -> str:
    """Return text with the number of rows that have a problem, and their line numbers."""
    more = ", …" if lines[_SHOWN:] else ""
    shown = ", ".join(map(str, lines[:_SHOWN]))
    return f"{problem}: {len(lines):,} of {rows:,} rows; lines {shown}{more}"
