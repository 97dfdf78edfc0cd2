"""The command-line interface; slow dependencies are imported only when needed."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tacit.addresses import check_holds_no_password
from tacit.cli import (
    beliefs,
    demo,
    kb,
    predict,
    report,
    reproduce,
    run,
    score,
    show,
    suite,
)
from tacit.cli.interrupting import INTERRUPTED, interruptible
from tacit.cli.options import GroupedCommand
from tacit.errors import RequestError, TacitError, WorkError
from tacit.files import is_full, unwritable
from tacit.present.progress import show_warnings
from tacit.present.terminal import visible, visible_output
from tacit.version import __version__


class Commands(TyperGroup):
    """The root command group, which words the errors of pydantic and interrupts."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's signature
        """Run the command that the command-line arguments name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise
        except KeyboardInterrupt as error:
            advice = error.args[0] if error.args else "run the same command again"
            sys.stderr.write(f"tacit: interrupted; {advice}\n")
            raise


app = typer.Typer(
    name="tacit",
    cls=Commands,
    help="Measure whether a language model's conceptual knowledge is coherent.",
    no_args_is_help=True,
    # Plain help avoids Rich, which takes longer to import than everything else.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tacit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    del version


app.command("demo")(demo.demo)
app.add_typer(run.app, name="run")
app.command("predict")(predict.predict)
app.command("suite", cls=GroupedCommand)(suite.suite)
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(show.app, name="show")
app.command("report")(report.report)
app.command("compare")(report.compare)
app.command("score")(score.score)
app.command("check")(beliefs.check)
app.command("repair")(beliefs.repair)
app.add_typer(kb.app, name="kb")


def main() -> None:
    """Run the command line, and print a ``TacitError`` as one line on standard error."""
    with visible_output():
        _run()


def _run() -> None:
    try:
        for argument in sys.argv[1:]:
            check_holds_no_password(argument, "an address on the command line")
        show_warnings()
        with interruptible(), _flushed():
            app(prog_name="tacit")
    except KeyboardInterrupt:  # outside a command
        sys.exit(INTERRUPTED)
    except TacitError as error:
        sys.stderr.write(f"tacit: {error}\n")
        sys.exit(error.exit_code)
    except UnicodeEncodeError as error:
        names = [given for given in sys.argv if not given.isascii() and visible(given) != given]
        if error.reason != "surrogates not allowed" or not names:
            raise
        sys.stderr.write(
            f"tacit: the name {names[0]!r} is not valid UTF-8, which some of the libraries that "
            "Tacit uses cannot read or write: rename it\n"
        )
        sys.exit(RequestError.exit_code)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            sys.stderr.write(
                f"tacit: {error.filename}: the name is too long: choose a shorter one\n"
            )
            sys.exit(RequestError.exit_code)
        if not is_full(error):
            raise
        # Errors on our own files are translated earlier: this is standard output or a library file.
        sys.stderr.write(f"tacit: {unwritable(error.filename or 'the output', error)}\n")
        sys.exit(WorkError.exit_code)


@contextmanager
def _flushed() -> Iterator[None]:
    """Flush standard output at the end of a ``with`` block, to detect write errors."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            # Otherwise Python would flush again at exit and print its own message.
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until exit
            raise
