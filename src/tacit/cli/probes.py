"""A command for each probe, Tacit's own and those of other packages."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

from tacit.cli.declared import GroupedCommand
from tacit.options import option_of
from tacit.probes.base import probe, probes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.probes.base import AnyProbe


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
