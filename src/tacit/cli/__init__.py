"""The command line: one file per verb; what is heavy is imported where it is used."""

from __future__ import annotations

import sys

import typer

from tacit.addresses import check_holds_no_password
from tacit.cli import (
    check,
    compare,
    demo,
    drawings,
    kb,
    norms,
    repair,
    report,
    reproduce,
    run,
    score,
    show,
)
from tacit.cli.interrupting import interruptible
from tacit.errors import TacitError

app = typer.Typer(
    name="tacit",
    help="Shows whether a language model's knowledge of concepts hangs together.",
    no_args_is_help=True,
    add_completion=False,
    # Plain help needs no Rich, which takes longer to import than the rest together.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.add_typer(run.app, name="run")
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(show.app, name="show")
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("score")(score.score)
app.command("check")(check.check)
app.command("repair")(repair.repair)
app.add_typer(drawings.app, name="drawings")
app.add_typer(kb.app, name="kb")
app.add_typer(norms.app, name="norms")


def main() -> None:
    """Runs the command line; an error of Tacit's is one line on standard error."""
    try:
        for argument in sys.argv[1:]:
            check_holds_no_password(argument, "an address on the command line")
        with interruptible():
            app()
    except TacitError as error:
        sys.stderr.write(f"tacit: {error}\n")
        sys.exit(error.exit_code)
