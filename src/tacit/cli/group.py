"""A verb that has verbs of its own."""

from __future__ import annotations

import typer


def group(about: str) -> typer.Typer:
    """A verb with others below it, also where there is only one so far.

    Args:
        about: Its line of help.
    """
    return typer.Typer(
        help=about,
        # Without a callback of its own, a group of one would be that one.
        callback=_stay_a_group,
        no_args_is_help=True,
        add_completion=False,
        # Plain help needs no Rich, which takes longer to import than the rest together.
        rich_markup_mode=None,
    )


def _stay_a_group() -> None:
    pass
