"""``tacit run``: a probe, from its source to a run folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.engine.ask import Engine
    from tacit.probes.findings import Findings
    from tacit.probes.parts.probe import PartsProbe
    from tacit.runs import Run

app = typer.Typer(
    help="Run a probe on a model.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def run() -> None:
    """Run a probe on a model."""


@app.command("parts")
def parts(
    model: given.ModelName,
    drawings: Annotated[Path, typer.Option(help="A folder of drawings, or one annotations file.")],
    out: Annotated[Path, typer.Option(help="The run's folder.")],
    things: Annotated[
        str | None, typer.Option(help="Only these things, with commas between.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many drawings.")
    ] = None,
    revision: given.Revision = None,
    dtype: given.Dtype = "auto",
    device: given.Device = "auto",
    batch_tokens: given.BatchTokens = None,
    masked_mode: given.MaskedMode = "left-to-right",
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask how the parts of things relate; count the contradictions and repair them."""
    from tacit.cli import asking
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.probes.parts.probe import PartsProbe
    from tacit.runs import Run

    options = asking.load_options(revision, dtype, device, batch_tokens, masked_mode)
    chosen = None if things is None else things.split(",")
    probe = PartsProbe.read(drawings, chosen, limit)
    request = {
        "probe": "parts",
        "model": model,
        "revision": revision,
        "dtype": dtype,
        "masked_mode": masked_mode,
        "drawings": str(drawings),
        "things": chosen,
        "limit": limit,
        "preset": probe.template.name,
        "objective": "paper",
    }
    folder = Run(out, request)
    kept = Store(store) if store else Store.default()
    engine = Engine(asking.load(model, options, kept), kept)
    if dry_run:
        told = asking.estimate(engine, probe.prompts, folder.blocks)
        asking.echo_estimate(told, as_json=as_json)
        return
    findings = conduct(probe, engine, folder, {"data": _digests(drawings)})
    if as_json:
        typer.echo(json.dumps({"out": str(out), **findings.summary}))
    else:
        echo_parts(findings.summary, engine.model.name)
        typer.echo(f"Written: {out}")


def conduct(probe: PartsProbe, engine: Engine, folder: Run, about: Mapping[str, Any]) -> Findings:
    """Asks what the probe asks, measures, and keeps the run's folder true to how it went.

    Args:
        probe: What to ask, and how to measure it.
        engine: Whom to ask.
        folder: The run; nothing is written in it before all prompts are known to be scorable.
            A run that a person interrupts stays unfinished.
        about: What the manifest says beside the model.
    """
    from tacit.cli import asking

    plan = engine.plan(probe.prompts, folder.blocks)
    folder.begin({"model": dict(engine.model.description), **about})
    try:
        plan.record(folder.blocks)
        findings = probe.measure(asking.ask(engine, probe.prompts, plan))
        folder.finish(findings)
    except Exception as error:
        folder.fail(error)
        raise
    return findings


def _digests(path: Path) -> dict[str, str]:
    """SHA-256 of each file of a source, by its name."""
    files = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def echo_parts(summary: Mapping[str, Any], model: str) -> None:
    """Prints what the parts probe found as a table."""
    from rich.console import Console
    from rich.table import Table

    repair, accuracy = summary["repair"], summary["accuracy"]
    table = Table(title=f"{model}: parts of {summary['things']:,} things", title_justify="left")
    table.add_column("")
    for heading in ("before repair", "after repair"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row(
        f"accuracy (n = {accuracy['n']:,})",
        _percent(accuracy["before"]),
        _percent(accuracy["after"]),
    )
    table.add_section()
    for row in summary["violation"]:
        table.add_row(
            f"violation, {row['constraint']}", _violation(row, "before"), _violation(row, "after")
        )
    Console(highlight=False).print(table)
    asked = (
        f"{summary['drawings']:,} drawings, {summary['statements']:,} statements, "
        f"{summary['questions']:,} distinct questions"
    )
    answered = (
        f"{_percent(summary['true_share'])} judged true, {summary['ties']:,} undecided (taken as "
        f"false), {summary['missing']:,} without a belief"
    )
    contradicted = (
        f"{summary['drawings_with_violation']:,} drawings contradict themselves; repair turned "
        f"{repair['turned_true']:,} statements true and {repair['turned_false']:,} false, "
        f"{repair['optimal']:,} of {repair['groups']:,} drawings proven optimal"
    )
    typer.echo(f"{asked}\n{answered}\n{contradicted}")
    if summary["spanned"]:
        typer.echo(f"{summary['spanned']:,} answers share a token with their text, scored with it")


def _violation(row: Mapping[str, Any], when: str) -> str:
    violated, share = row[f"violated_{when}"], _percent(row[f"rate_{when}"])
    if violated is None:  # an average, with no count of its own
        return share
    return f"{violated:,}/{row[f'applicable_{when}']:,} {share:>7}"


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.2%}"
