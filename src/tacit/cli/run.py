"""``tacit run``: one command for each probe, made of what the probe declares."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli import options as given
from tacit.cli.declared import declared
from tacit.cli.probes import example, probe_group
from tacit.engine.options import EngineOptions
from tacit.models.settings import ModelSettings
from tacit.options import option
from tacit.present.reporter import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.probes.base import AnyProbe

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
        help="Beliefs elicited elsewhere, in place of a model: thing, subject, …, p_true.",
        group="Model",
    )


@dataclass(frozen=True)
class Output:
    """Where results go, and what is printed."""

    out: Path = option(
        help="The run's folder; of several models, one in it for each.",
        flags=("--out", "-o", "--output"),
        group=OUTPUT,
    )
    report: bool = option(
        True,
        help="Write report.html there, one page with all that was found.",
        flags=("--report/--no-report",),
        group=OUTPUT,
    )
    figures: str | None = option(
        None, help="Also draw the figures: svg, png, pdf, with commas between.", group=OUTPUT
    )
    palette: str = option(
        "house", help="house, or okabe-ito, which is safe for the colour-blind.", group=OUTPUT
    )
    store: str | None = option(
        None,
        help="Where scores are kept, a folder or s3://… [default: $TACIT_STORE, else .tacit].",
        group=OUTPUT,
    )
    dry_run: bool = option(
        False, help="Say what would be asked and how long it would take.", group=OUTPUT
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
    from tacit.cli.findings import echo_estimates, echo_runs
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
