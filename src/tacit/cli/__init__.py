"""The command-line interface; slow dependencies are imported only when needed."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.addresses import check_holds_no_password
from tacit.cli import (
    beliefs,
    demo,
    export,
    get,
    kb,
    listing,
    predict,
    report,
    reproduce,
    run,
    score,
    servers,
    show,
    suite,
)
from tacit.cli.options import Commands, GroupedCommand
from tacit.errors import RequestError, TacitError, WorkError
from tacit.files import is_full, unwritable
from tacit.present.progress import show_warnings
from tacit.present.terminal import visible, visible_output
from tacit.version import __version__

INTERRUPTED = 130
"""The conventional exit code after an interrupt."""


class Root(Commands):
    """The root command group, which words interrupts."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's signature
        del ctx
        return [name for commands in _COMMANDS.values() for name in commands]

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's signature
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            advice = error.args[0] if error.args else "run the same command again"
            sys.stderr.write(f"tacit: interrupted; {advice}\n")
            raise


app = typer.Typer(
    name="tacit",
    cls=Root,
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


_COMMANDS: Mapping[str, Mapping[str, typer.Typer | Callable[..., None]]] = {
    "Begin": {
        "demo": demo.demo,
        "list": listing.list_names,
        "get": get.get,
    },
    "Measure a model": {
        "run": run.app,
        "suite": suite.suite,
        "score": score.score,
        "check-server": servers.check_server,
    },
    "Read results": {
        "report": report.report,
        "compare": report.compare,
        "reproduce": reproduce.app,
        "predict": predict.predict,
        "show": show.app,
        "export": export.app,
    },
    "Without a model": {
        "check": beliefs.check,
        "repair": beliefs.repair,
        "kb": kb.app,
    },
}

for heading, commands in _COMMANDS.items():
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=heading)
        else:
            app.command(name, cls=GroupedCommand, rich_help_panel=heading)(command)


def main() -> None:
    """Run the command line, and print a ``TacitError`` as one line on standard error."""
    with visible_output():
        _run()


def _run() -> None:
    try:
        for argument in sys.argv[1:]:
            check_holds_no_password(argument, "an address on the command line")
        show_warnings()
        with _interruptible(), _flushed():
            app(prog_name="tacit")
    except KeyboardInterrupt:  # outside a command
        sys.exit(INTERRUPTED)
    except (TacitError, UnicodeEncodeError, OSError) as error:
        known = error if isinstance(error, TacitError) else _translated(error)
        if known is None:
            raise
        sys.stderr.write(f"tacit: {known}\n")
        sys.exit(known.exit_code)


def _translated(error: UnicodeEncodeError | OSError) -> TacitError | None:
    """Return what the user can do about an error of a name or a full disk; None of other errors."""
    if isinstance(error, UnicodeEncodeError):
        names = [given for given in sys.argv if not given.isascii() and visible(given) != given]
        if error.reason == "surrogates not allowed" and names:
            return RequestError(
                f"the name {names[0]!r} is not valid UTF-8, which some of the libraries that "
                "Tacit uses cannot read or write: rename it"
            )
    elif error.errno == errno.ENAMETOOLONG:
        return RequestError(f"{error.filename}: the name is too long: choose a shorter one")
    elif is_full(error):
        # Errors on our own files are translated earlier: this is standard output or a library file.
        return WorkError(unwritable(error.filename or "the output", error))
    return None


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


@contextmanager
def _interruptible() -> Iterator[None]:
    """Exit immediately on a second Ctrl-C, even if the first has not yet stopped the work.

    Output files stay complete, because each file is written under a temporary name and then
    renamed.
    """
    ours = threading.current_thread() is threading.main_thread()
    # Leave another library's handler in place.
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _first)
    try:
        yield
    finally:
        # After an interrupt, keep the handler, so that Ctrl-C also stops the waiting at exit.
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _first(_: int, __: object) -> None:
    signal.signal(signal.SIGINT, _second)
    raise KeyboardInterrupt


def _second(_: int, __: object) -> None:
    os.write(2, b"tacit: interrupted again\n")
    os._exit(INTERRUPTED)
