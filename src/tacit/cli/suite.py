"""``tacit suite``: run several probes on several models, and write one report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Output, declared
from tacit.engine.options import EngineOptions
from tacit.errors import RequestError, WorkError
from tacit.options import option
from tacit.present.progress import Terminal, duration

if TYPE_CHECKING:
    from tacit.runs.suite.file import Suite
    from tacit.runs.suite.running import SuiteRuns

WHAT = "What to run"


@dataclass(frozen=True)
class Selection:
    """Options that select which runs of a suite to execute, and that change run settings."""

    given: list[str] | None = option(
        None,
        help="Set or override an option of the suite's YAML file, such as limit=10. VALUE "
        "applies to all models and runs of the suite that accept OPTION; repeatable. Paths "
        "in VALUE are relative to the current folder.",
        flags=("--set",),
        metavar="OPTION=VALUE",
        group=WHAT,
    )
    only: list[str] | None = option(
        None,
        help="Execute only the run with the name NAME; repeatable.",
        metavar="NAME",
        group=WHAT,
    )
    fail_fast: bool = option(
        default=False,
        help="Stop at the first run that fails; by default, the suite continues with the next run.",
        group=WHAT,
    )
    show: bool = option(
        default=False,
        help="Print the suite's YAML file and exit; edit a copy of this file for a suite of your "
        "own.",
        flags=("--print",),
        group=WHAT,
    )


@declared()
def suite(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help='A YAML file that describes the suite, or "papers" for the built-in suite with '
            "the models and probes of three published papers.",
        ),
    ],
    selection: Selection,
    engine: EngineOptions,
    output: Output,
) -> None:
    """Run several probes on several models, and write one report.

    Each model is loaded once, and at most one model is in memory at any time. To resume an
    interrupted suite, run the same command again.

    Example: tacit suite suite.yaml --dry-run
    """
    from tacit.engine.store import Store
    from tacit.runs.suite.file import Suite, path_of

    if selection.show:
        typer.echo(_text_of(path_of(file)), nl=False)
        return
    given, only = _given(selection.given or ()), selection.only or ()
    store = Store(output.store) if output.store else None
    planned = Suite(file, given, only, output.out, engine, store, Terminal())
    if output.dry_run:
        _echo_estimates(planned, as_json=output.as_json)
        return
    _run(planned, selection, output)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {error}") from error


def _given(pairs: Iterable[str]) -> dict[str, Any]:
    """Parse the ``--set`` arguments; return a mapping from option names to YAML values."""
    import yaml

    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or not name or name in settings:
            problem = "is given twice" if name in settings else "is not OPTION=VALUE"
            raise RequestError(f"--set {pair} {problem}, such as --set limit=10")
        try:
            settings[name] = yaml.safe_load(value)
        except yaml.YAMLError:
            settings[name] = value
    return settings


def _run(planned: Suite, selection: Selection, output: Output) -> None:
    from tacit.runs.suite.running import run_suite

    done = run_suite(planned, fail_fast=selection.fail_fast, report=output.report)
    if output.as_json:
        typer.echo(json.dumps(_as_json(done)))
    else:
        _echo(done)
    if done.problem:
        raise WorkError(f"{done.problem}\nRun the same command again to repeat what failed.")


def _echo(done: SuiteRuns) -> None:
    for name, runs in done.items():
        for model, run in runs.items():
            typer.echo(f"{name}, {model}: {run.block.lines[0] if run.block else run.folder}")
    if done.report:
        typer.echo(f"Report: {done.report}")


def _as_json(done: SuiteRuns) -> dict[str, Any]:
    runs = [{"run": name, **run.to_json()} for name, of in done.items() for run in of.values()]
    failed = [
        {"run": name, "model": model, "error": error}
        for (name, model), error in done.failed.items()
    ]
    skipped = [{"run": name, "model": model} for name, model in done.skipped]
    report = done.report and str(done.report)
    return {"runs": runs, "failed": failed, "skipped": skipped, "report": report}


def _echo_estimates(planned: Suite, *, as_json: bool) -> None:
    from tacit.runs.suite.estimates import estimates

    rows = list(estimates(planned))
    if as_json:
        typer.echo(json.dumps({"runs": rows}))
    else:
        _print_estimates(rows)
    wrong = [f"  {each['run']}, {each['model']}: {each['error']}" for each in rows if each["error"]]
    if wrong:
        raise WorkError("\n".join(["these runs would fail:", *wrong]))


_MOST_NAMED = 3


def _print_estimates(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table with the estimates of each run, and then totals and notes."""
    from tacit.english import several
    from tacit.findings.findings import SHARED_DETAILS
    from tacit.present.tables import print_table

    spec = SHARED_DETAILS["estimates"]
    print_table(spec, spec.frame(map(_texts, rows)), spec.title, most=None)
    tokens = sum(each["tokens"] or 0 for each in rows)
    seconds = [each["seconds"] for each in rows if each["seconds"] is not None]
    if seconds:
        typer.echo(
            f"{several(len(seconds), 'run')} measured: {several(tokens, 'token')}, "
            f"about {duration(sum(seconds))} (estimated from a short trial)"
        )
    for note in dict.fromkeys(each["note"] for each in rows if each["note"]):
        runs = [f"{each['run']}, {each['model']}" for each in rows if each["note"] == note]
        named = "; ".join(runs) if len(runs) <= _MOST_NAMED else several(len(runs), "run")
        typer.echo(f"{note}: {named}")
    typer.echo("Nothing was stored or written.")


def _texts(each: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of an estimate in the printed table."""
    counts = {name: each[name] for name in ("prompts", "to_ask", "tokens")}
    effort = "" if each["seconds"] is None else duration(each["seconds"])
    if each["calls"] is not None:
        effort = f"{each['calls']:,} calls"
    return {
        "run": each["run"],
        "model": each["model"],
        **{name: "" if count is None else f"{count:,}" for name, count in counts.items()},
        "effort": "failed" if each["error"] else effort,
    }
