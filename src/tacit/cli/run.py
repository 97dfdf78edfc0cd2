"""``tacit run``: a probe, from its source to a run folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

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
    """Prints what the parts probe found: a table, and what was asked and answered."""
    from rich.console import Console

    Console(highlight=False).print(_parts_table(summary, model))
    typer.echo("\n".join(_parts_told(summary)))


def _parts_table(summary: Mapping[str, Any], model: str) -> Table:
    """The beliefs and the three repaired worlds, side by side; fits 80 columns."""
    from rich import box
    from rich.table import Table

    title = f"{model}: parts of {summary['things']:,} things"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("before\nrepair", justify="right", no_wrap=True)
    for row in summary["repair"]:
        table.add_column(f"repaired\n{row['objective']}", justify="right", no_wrap=True)
    for name in dict.fromkeys(row["set"] for row in summary["accuracy"]):
        rows = [row for row in summary["accuracy"] if row["set"] == name]
        shares = [row for row in rows if row["gold"] == "all"]
        label = f"accuracy, {name}\n  n = {shares[0]['n']:,}"
        table.add_row(label, *(_share(row) for row in shares))
        for gold in ("true", "false"):
            shares = [row for row in rows if row["gold"] == gold]
            table.add_row(f"  gold {gold}", *(_percent(row["accuracy"]) for row in shares))
        gains = [row for row in summary["accuracy_gain"] if row["set"] == name]
        table.add_row("  gain, points", "", *map(_gain, gains))
    table.add_section()
    table.add_row("violation")
    for name in dict.fromkeys(row["constraint"] for row in summary["violation"]):
        rows = [row for row in summary["violation"] if row["constraint"] == name]
        table.add_row(f"  {name}", *map(_violation, rows))
    table.add_section()
    for label, keys in _REPAIR_ROWS.items():
        counts = ("/".join(_count(row[key]) for key in keys) for row in summary["repair"])
        table.add_row(label, "", *counts)
    return table


_REPAIR_ROWS = {
    "statements turned\n  true/false": ("turned_true", "turned_false"),
    "  free (a tie)": ("free",),
    "drawings improved/\n  same/worse": ("improved", "same", "worse"),
    "  proven optimal": ("optimal",),
}


def _parts_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was asked and answered, and how the intervals were made, in sentences."""
    yield (
        f"{summary['drawings']:,} drawings, {summary['statements']:,} statements, "
        f"{summary['questions']:,} distinct questions"
    )
    yield (
        f"{_percent(summary['true_share'])} judged true, {summary['ties']:,} undecided (taken as "
        f"false), {summary['missing']:,} without a belief"
    )
    if summary["missing_statements"]:
        left_out = sum(
            row["missing"]
            for row in summary["accuracy"]
            if (row["set"], row["gold"], row["world"]) == ("ParRoT", "all", "before")
        )
        yield (
            f"{summary['missing_statements']:,} statements are without a belief, {left_out:,} of "
            "them labelled and left out of accuracy"
        )
    if summary["filled"]:
        yield f"{summary['filled']:,} missing beliefs were filled in, as the preset says"
    if summary.get("spanned"):
        yield f"{summary['spanned']:,} answers share a token with their text, scored with it"
    yield f"{summary['drawings_with_violation']:,} drawings contradict themselves"
    if not summary["accuracy"]:
        yield "Nobody drew these things, so there is no accuracy"
    made = summary["intervals"]
    yield (
        f"Ranges are {made['level']:.0%} intervals: {made['method']} over things, "
        f"{made['resamples']:,} resamples, seed {made['seed']}"
    )


def _share(row: Mapping[str, Any]) -> str:
    """An accuracy in per cent, and its interval on a line below when there is one."""
    return "\n".join([_percent(row["accuracy"]), *_interval(row, ".1f")])


def _gain(row: Mapping[str, Any]) -> str:
    """A gain in percentage points, and its interval on a line below when there is one."""
    gain = "undefined" if row["gain"] is None else f"{100 * row['gain']:+.2f}"
    return "\n".join([gain, *_interval(row, "+.1f")])


def _violation(row: Mapping[str, Any]) -> str:
    """A rate, below it its counts, and the interval where it stands for all types."""
    counts = [] if row["violated"] is None else [f"{row['violated']:,}/{row['applicable']:,}"]
    interval = _interval(row, ".1f") if row["constraint"] in {"macro", "micro"} else []
    return "\n".join([_percent(row["rate"]), *counts, *interval])


def _interval(row: Mapping[str, Any], places: str) -> list[str]:
    """Both ends in per cent; nothing where there is no interval."""
    if row["low"] is None or row["high"] is None:
        return []
    return [f"{100 * row['low']:{places}} to {100 * row['high']:{places}}"]


def _count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.2%}"
