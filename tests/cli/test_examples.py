from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import typer

from tacit.cli import app
from tacit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Tacit


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - Typer's own
    """All commands that have none below them."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from verbs(command.get_command(context, name), (*path, name))


VERBS = dict(verbs(typer.main.get_command(app)))


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_the_help_of_every_command_has_an_example_that_it_takes(path: tuple[str, ...]) -> None:
    """The example is of this command, and its options and arguments are read without an error."""
    command = VERBS[path]
    found = re.search(r"Example: (.+)", command.help)
    assert found, f"tacit {' '.join(path)} has no example"
    words = shlex.split(found[1])
    assert tuple(words[: len(path) + 1]) == ("tacit", *path)
    command.make_context(" ".join(path), words[len(path) + 1 :])


def test_the_version_is_tacits(tacit: Tacit) -> None:
    """One line, for a report of an error."""
    ran = tacit("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"tacit {__version__}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_for_shells(
    tacit: Tacit, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a shell sources to complete commands and options."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    ran = tacit("--show-completion", shell)
    assert ran.code == 0
    assert "_TACIT_COMPLETE" in ran.out
