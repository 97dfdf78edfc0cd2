"""``tacit run``: one command per probe, built from the probe's declaration."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tacit.cli.config import config_option, is_configured
from tacit.cli.options import (
    OUTPUT,
    Commands,
    GroupedCommand,
    Models,
    ModelsOrFile,
    Output,
    declared,
    group,
)
from tacit.documents import similar
from tacit.engine.options import EngineOptions
from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.findings import SHARED
from tacit.models.base import WHOLE
from tacit.models.options import ModelOptions
from tacit.options import declarations, option
from tacit.present import progress
from tacit.present.progress import Terminal
from tacit.present.results import print_blocks, print_comparison
from tacit.present.tables import MOST_ROWS, print_table
from tacit.present.trackers import Tracker, check_tracker, log_runs
from tacit.probes.base import Probe, declared_tables
from tacit.probes.registry import load_file, probe, probes
from tacit.runs.comparison import unsized
from tacit.runs.notes import missing
from tacit.runs.run import Run, Runs

if TYPE_CHECKING:
    from tacit.runs.workflow import RunRequest


class ProbeCommands(Commands):
    """A command group with one command per probe; a probe is imported only when needed."""

    verb: ClassVar[Callable[[type[Probe]], Callable[..., None]]]
    help_of: ClassVar[Callable[[type[Probe]], str]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's signature
        """Refuse options before the name of a probe."""
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            first, *_ = names = probes()
            ctx.fail(
                f"{args[0].partition('=')[0]} precedes the name of the probe; name one of "
                f"{', '.join(names)} first, as in: {ctx.command_path} {first} --model MODEL"
            )
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's signature
        del ctx
        return list(probes())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's signature
        own, file = type(self), Path(cmd_name)
        if cmd_name not in probes() and file.suffix != ".py":
            names = f"{', '.join(probes())}, or a Python file"
            ctx.fail(
                f"there is no probe {cmd_name!r}; expected {names}{similar(cmd_name, probes())}"
            )
        try:
            kind = load_file(file) if file.suffix == ".py" else probe(cmd_name)
        except RequestError as error:
            return _unusable(cmd_name, error)
        made = typer.Typer(rich_markup_mode=None, add_completion=False)
        in_commands = rf"(tacit (?:\w+ )+?){re.escape(kind.name)} "
        about = re.sub(in_commands, lambda one: f"{one[1]}{cmd_name} ", own.help_of(kind))
        panel = "Probes"
        made.command(cmd_name, cls=GroupedCommand, help=about, rich_help_panel=panel)(
            own.verb(kind)
        )
        return typer.main.get_command(made)


def _unusable(name: str, error: RequestError) -> Any:  # noqa: ANN401 - Typer's command
    """Return a command that raises the error, so that a broken package leaves the help whole."""
    made = typer.Typer(rich_markup_mode=None, add_completion=False)

    def command(_: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        raise error

    settings = {"ignore_unknown_options": True, "help_option_names": []}
    made.command(name, help=str(error), context_settings=settings)(command)
    return typer.main.get_command(made)


def example(command: str, kind: type[Probe], options: str) -> str:
    """Return an example command of a probe, with the options that the probe requires and others."""
    required = [
        f"--{name.replace('_', '-')} {name.upper()}"
        for name, one in declarations(kind.Options).items()
        if not one.optional and one.absent is None
    ]
    return " ".join([command, kind.name, *required, options])


def probe_group(
    about: str,
    verb: Callable[[type[Probe]], Callable[..., None]],
    help_of: Callable[[type[Probe]], str],
) -> typer.Typer:
    """Return a command group with one command per probe; ``about`` is its help text.

    From the class of a probe, ``verb`` makes the function that implements the probe's command, and
    ``help_of`` the help text of the command.
    """
    members = {"verb": staticmethod(verb), "help_of": staticmethod(help_of)}
    return group(about, type("Probes", (ProbeCommands,), members))


def echo_runs(runs: Runs, *, tables: bool = False) -> None:
    """Print the block of each model, the tables if wanted, and a comparison of the models."""
    for run in runs.values() if tables else ():
        print_tables(run)
    print_blocks(runs.values())
    for run in runs.values():
        for line in run.notes if run.elicitation != WHOLE else missing(run.summary):
            typer.echo(f"{run.name}: {line}")
        typer.echo(f"Written: {run.folder}")
    print_comparison(runs)
    if runs.slopes is not None:
        print_table(SHARED["slopes"], runs.slopes, SHARED["slopes"].title)
        for line in unsized(runs.values()):
            typer.echo(line)


def print_tables(run: Run) -> None:
    kind, findings = probe(run.probe), run.findings
    made = ((each.spec, each.table) for each in kind.details(findings, run.request, MOST_ROWS))
    tables = declared_tables(kind).values()
    printed = ((spec, findings.table(spec.name)) for spec in tables if spec.printed)
    for spec, table in chain(printed, made):
        if spec.printed and table is not None and not table.is_empty():
            print_table(spec, table, f"{run.name}: {spec.title}")
    typer.echo("\n".join([*run.notes, ""]))


def echo_estimates(estimates: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    rows = [{"model": name, **estimate} for name, estimate in estimates.items()]
    if as_json:
        typer.echo(json.dumps({"runs": rows}))
        return
    for each in rows:
        echo_estimate(each)


def echo_estimate(estimate: Mapping[str, Any], *, as_json: bool = False) -> None:
    """Print the estimate that ``--dry-run`` computes for one model."""
    typer.echo(json.dumps(estimate) if as_json else "\n".join(_estimate_text(estimate)))


def _estimate_text(estimate: Mapping[str, Any]) -> Iterator[str]:
    from tacit.runs.estimate import Cost, priced

    name = f"{estimate['model']}: " if "model" in estimate else ""
    is_tried = "calls" not in estimate  # else only the calls of a chat are counted
    if is_tried:
        # The estimate's `distinct` leaves out the skipped prompts.
        distinct = estimate["distinct"] + estimate["skipped"]
        yield f"{name}{several(estimate['prompts'], 'prompt')}, {distinct:,} distinct:"
    else:
        cost = Cost(**{one.name: estimate[one.name] for one in fields(Cost)})
        yield f"{name}{cost.sentence}"
    groups = estimate.get("groups", {})
    if len(groups) > 1:
        yield f"by group: {', '.join(f'{name} {size:,}' for name, size in groups.items())}"
    if is_tried and estimate["skipped"]:
        skipped = several(estimate["skipped"], "prompt")
        yield f"to skip: {skipped} longer than the model's context window"
    if is_tried:
        yield f"cached: {several(estimate['stored'], 'prompt')}"
        yield (
            f"to query: {several(estimate['to_ask'], 'prompt')}, "
            f"{several(estimate['tokens'], 'token')}, "
            f"about {progress.duration(estimate['seconds'])} (estimated from a short trial, "
            "so it depends on the load of the machine)"
        )
    if "requests" in estimate:
        yield (
            f"to the server: {several(estimate['requests'], 'request')}, "
            f"{several(estimate['prompt_tokens'], 'prompt token')}, "
            f"{several(estimate['answer_tokens'], 'generated token')}{priced(estimate['dollars'])}"
        )
    if "limit" in estimate:
        yield f"--limit: {estimate['limit']}"
    for key in ("with_fast", "without_fast"):  # the cost with the opposite of --fast
        if key in estimate:
            each = estimate[key]
            time = f", about {progress.duration(each['seconds'])}" if "seconds" in each else ""
            asked = several(each.get("to_ask", each["distinct"]), "prompt")
            yield f"{key.replace('_fast', ' --fast')}: {asked} to query{time}"
    yield "Nothing was stored or written." if is_tried else "No prompt was sent."


@dataclass(frozen=True)
class RunOutput(Output):
    figures: str | None = option(
        None,
        help="Also draw figures in these formats, separated by commas: svg, png or pdf (for a "
        "paper: without title and caption, which are in captions.txt).",
        group=OUTPUT,
    )
    tables: bool = option(default=False, help="Also print the tables of results.", group=OUTPUT)
    palette: str = option(
        "house",
        rare=True,
        help="Palette of the figures: house (Tacit's own colours) or okabe-ito (safe for "
        "colour-blind readers).",
        group=OUTPUT,
    )
    log: Tracker | None = option(
        None,
        rare=True,
        help="Also log each run to an experiment tracker: wandb, trackio or mlflow (the block, the "
        "main results and the report).",
        group=OUTPUT,
    )


def _verb(kind: type[Probe]) -> Callable[..., None]:
    """Return the function of a probe's ``tacit run`` command, with one parameter per option."""
    models = ModelsOrFile if kind.reads_beliefs() else Models

    kinds = (kind.Options, models, ModelOptions, EngineOptions)

    @declared(options=kind.Options, models=models, config=config_option(kind, kinds), figures=True)
    def verb(
        *,
        ctx: typer.Context,
        options: Any,  # noqa: ANN401 - an instance of kind.Options
        models: Models,
        settings: ModelOptions,
        engine: EngineOptions,
        output: RunOutput,
        config: Path | None = None,
    ) -> None:
        from tacit.engine.store import Store
        from tacit.runs.workflow import RunRequest

        del config  # its values are those of the other options
        request = RunRequest(
            kind.name,
            options,
            tuple(models.model or ()),
            models.beliefs if isinstance(models, ModelsOrFile) else None,
            output.out,
            settings,
            engine,
            store=Store(output.store) if output.store else None,
            reporter=Terminal(),
            from_file=is_configured(ctx, "model"),
        )
        _run(request, output)

    return verb


app = probe_group(
    "Run a probe on a model.",
    _verb,
    lambda kind: (
        f"{kind.summary}\n\nExample: {example('tacit run', kind, '--model gpt2 --out runs/gpt2')}"
    ),
)


def _run(request: RunRequest, output: RunOutput) -> None:
    from tacit.runs.figures import FigureOptions
    from tacit.runs.workflow import REPORT

    figures = FigureOptions.of(output.figures, output.palette)
    figures.check(request)
    if output.dry_run:
        echo_estimates(request.estimate(), as_json=output.as_json)
        return
    if output.out is None:
        raise RequestError("--out is missing: give the folder to write the run to")
    if output.log:
        check_tracker(output.log)
    runs = request.run()
    figures.draw(request, runs, output.out / "figures")
    request.publish(runs, report=output.report)
    report = output.out / REPORT if output.report else None
    if output.as_json:
        typer.echo(json.dumps(_as_json(runs)))
    else:
        echo_runs(runs, tables=output.tables)
        if report:
            typer.echo(f"Report: {report}")
    if output.log:
        log_runs(output.log, runs.values(), report)


def _as_json(runs: Runs) -> dict[str, Any]:
    """Return results, paired differences and results by model size as plain values for JSON."""
    compared: dict[str, Any] = {"comparison": [], "flips": [], "slopes": []}
    compared |= {name: table.to_dicts() for name, table in runs.compared.items()}
    return {"runs": [run.to_json() for run in runs.values()], **compared}
