"""``tacit run``: one command for each probe, made of what the probe declares."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

from tacit.cli import options as given
from tacit.cli.options import GroupedCommand, declared
from tacit.engine.options import EngineOptions
from tacit.english import several
from tacit.errors import RequestError
from tacit.models.settings import ModelSettings
from tacit.options import option, option_of
from tacit.present import progress
from tacit.present.progress import Terminal
from tacit.present.tables import MOST_ROWS, print_comparison, print_table
from tacit.probes import base
from tacit.probes.base import probe, probes
from tacit.report.elicitation import elicitation_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from tacit.probes.base import AnyProbe
    from tacit.runs.reading import Run


class ProbeCommands(TyperGroup):
    """The probes that there are; each is loaded when it is named."""

    verb: ClassVar[Callable[[type[AnyProbe]], Callable[..., None]]]
    help_of: ClassVar[Callable[[type[AnyProbe]], str]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        """The probes' names."""
        del ctx
        return list(probes())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's own
        """The command of a probe; None where there is no such probe."""
        del ctx
        if cmd_name not in probes():
            return None
        kind, own = probe(cmd_name), type(self)
        made = typer.Typer(rich_markup_mode=None, add_completion=False)
        made.command(cmd_name, cls=GroupedCommand, help=own.help_of(kind))(own.verb(kind))
        return typer.main.get_command(made)


def example(command: str, kind: type[AnyProbe], options: str) -> str:
    """A command of a probe, with all options that the probe requires.

    Args:
        command: The words before the probe's name.
        kind: The probe.
        options: What the command requires itself.
    """
    required = [
        f"--{one.name.replace('_', '-')} {one.name.upper()}"
        for one in fields(kind.Options)
        if option_of(one) and one.default is MISSING
    ]
    return " ".join([command, kind.name, *required, options])


def probe_group(
    about: str,
    verb: Callable[[type[AnyProbe]], Callable[..., None]],
    help_of: Callable[[type[AnyProbe]], str],
) -> typer.Typer:
    """A verb with a command for each probe below it.

    Args:
        about: Its line of help.
        verb: What the command of a probe does.
        help_of: The help of that command.
    """
    members = {"verb": staticmethod(verb), "help_of": staticmethod(help_of)}
    return typer.Typer(
        help=about,
        cls=type("Probes", (ProbeCommands,), members),
        callback=lambda: None,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
    )


def echo_runs(found: Mapping[str, Run], together: pl.DataFrame | None) -> None:
    """Prints what each model showed and, of several, how they differ."""
    for run in found.values():
        echo_run(run)
        typer.echo(f"Written: {run.folder}")
    runs = list(found.values())
    notes = [note for run in runs for note in base.declared(probe(run.probe)).notes(run.findings)]
    typer.echo("".join(f"{note}\n" for note in dict.fromkeys(notes)), nl=False)
    if together is not None:
        print_comparison(together)
        ways = {name: run.summary.get("elicitation") for name, run in found.items()}
        typer.echo(_elicited({name: str(way) for name, way in ways.items() if way}))


def echo_run(run: Run) -> None:
    """Prints what a model showed: tables, how it was asked, and sentences."""
    told, findings = base.declared(probe(run.probe)), run.findings
    made = ((each.spec, each.table) for each in told.views(findings, run.request, MOST_ROWS))
    found = ((spec, findings.table(spec)) for spec in told.tables.values() if spec.printed)
    for spec, table in chain(found, made):
        if spec.printed and table is not None and not table.is_empty():
            print_table(spec, table, f"{run.name}: {spec.title}")
    headline = told.headline(findings)
    lines = [headline] if headline else []
    lines += [*elicitation_notes(findings.summary), *told.sentences(findings)]
    typer.echo("\n".join(lines))


def _elicited(ways: Mapping[str, str]) -> str:
    """A line for all models that were asked alike, else one for each."""
    alike = set(ways.values())
    if len(alike) == 1:
        return f"Elicitation: {alike.pop()}"
    return "\n".join(f"Obtained, {name}: {way}" for name, way in ways.items())


def echo_estimates(estimates: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Prints what would be asked of each model."""
    found = [{"model": name, **estimate} for name, estimate in estimates.items()]
    if as_json:
        typer.echo(json.dumps({"runs": found}))
        return
    for each in found:
        echo_estimate(each)


def echo_estimate(found: Mapping[str, Any], *, as_json: bool = False) -> None:
    """Prints what ``--dry-run`` found of one model."""
    if as_json:
        typer.echo(json.dumps(found))
        return
    name = f"{found['model']}: " if "model" in found else ""
    if "calls" in found:
        from tacit.runs.estimate import Cost

        keys = ("distinct", "calls", "prompt_tokens", "answer_tokens")
        cost = Cost(*(found[key] for key in keys))
        typer.echo(f"{name}{cost.sentence}\nNothing was asked.")
        return
    skipped = (
        f"to skip: {several(found['skipped'], 'prompt')} longer than the model's window\n"
        if found["skipped"]
        else ""
    )
    typer.echo(
        f"{name}{several(found['prompts'], 'prompt')}, {found['distinct']:,} distinct, "
        f"{found['stored']:,} of them in the store\n{skipped}"
        f"to ask: {several(found['to_ask'], 'prompt')}, {several(found['tokens'], 'token')}, "
        f"about {progress.duration(found['seconds'])} by a short trial\n"
        "Nothing was stored or written."
    )


OUTPUT = "Output"


@dataclass(frozen=True)
class Asked:
    """Whom a probe asks."""

    model: list[str] | None = option(
        None,
        help="A Hugging Face name, a model's folder, demo, or a server's address (http://…/v1); "
        "once or more.",
        group="Model",
        check=given.checked,
    )


@dataclass(frozen=True)
class AskedOrFile(Asked):
    """Whom a probe asks, or beliefs that were elicited elsewhere."""

    beliefs: Path | None = option(
        None,
        help="Beliefs from elsewhere, instead of a model: thing, subject, …, p_true.",
        group="Model",
    )


@dataclass(frozen=True)
class Output:
    """Where results go, and what is printed."""

    out: Path | None = option(
        None,
        help="The run's folder; of several models, one in it for each. Required, but for "
        "--dry-run.",
        flags=("--out", "-o", "--output"),
        group=OUTPUT,
    )
    report: bool = option(
        True,
        help="Write report.html with all findings.",
        flags=("--report/--no-report",),
        group=OUTPUT,
    )
    figures: str | None = option(
        None, help="Also draw the figures: svg, png, pdf, separated by commas.", group=OUTPUT
    )
    palette: str = option(
        "house", help="house, or okabe-ito (safe for colour-blind readers).", group=OUTPUT
    )
    store: str | None = option(
        None,
        help="The score store: a folder or s3://… [default: $TACIT_STORE, else .tacit].",
        group=OUTPUT,
    )
    dry_run: bool = option(
        False, help="Print the number of prompts and the estimated time; ask nothing.", group=OUTPUT
    )
    as_json: bool = option(False, help="Print the result as JSON.", flags=("--json",), group=OUTPUT)


def _help(kind: type[AnyProbe]) -> str:
    """What a probe asks, and a command that runs it with all that it requires."""
    command = example("tacit run", kind, "--model gpt2 --out runs/gpt2")
    return f"{kind.summary}\n\nExample: {command}"


def _verb(kind: type[AnyProbe]) -> Callable[..., None]:
    """What the command of a probe does, with its options one by one."""
    asked = AskedOrFile if hasattr(kind, "measure_file") else Asked

    @declared(options=kind.Options, asked=asked)
    def verb(
        *,
        options: Any,  # noqa: ANN401 - an instance of kind.Options
        asked: Any,  # noqa: ANN401 - an instance of one of the two
        settings: ModelSettings,
        engine: EngineOptions,
        output: Output,
    ) -> None:
        _run(kind.name, options, asked, (settings, engine), output)

    return verb


app = probe_group("Run a probe on a model.", _verb, _help)


def _run(
    name: str,
    options: Any,  # noqa: ANN401 - an instance of the probe's options
    asked: Asked,
    how: tuple[ModelSettings, EngineOptions],
    output: Output,
) -> None:
    """Runs a probe, draws its figures, and prints what it found."""
    from tacit.engine.store import Store
    from tacit.runs.figures import Figures
    from tacit.runs.workflow import REPORT, RunRequest

    figures = Figures.of(output.figures, output.palette)
    request = RunRequest(
        name,
        options,
        tuple(asked.model or ()),
        getattr(asked, "beliefs", None),
        output.out,
        *how,
        store=Store(output.store) if output.store else None,
        reporter=Terminal(),
    )
    figures.check(request)
    if output.dry_run:
        echo_estimates(request.estimate(), as_json=output.as_json)
        return
    if output.out is None:
        raise RequestError("--out is missing: give the folder to write the run to")
    found = request.run()
    figures.draw(request, found, output.out / "figures")
    together = request.publish(found, report=output.report)
    if output.as_json:
        typer.echo(json.dumps(_as_json(found, together)))
        return
    echo_runs(found, together)
    if output.report:
        typer.echo(f"Report: {output.out / REPORT}")


def _as_json(found: Mapping[str, Any], together: Any) -> dict[str, Any]:  # noqa: ANN401 - a frame
    """What each model showed, and how they differ."""
    runs = [{"model": name, "out": str(run.folder), **run.summary} for name, run in found.items()]
    return {"runs": runs, "comparison": [] if together is None else together.to_dicts()}
