import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tacit.cli import app
from tacit.cli.show import _anchor_id
from tacit.errors import RequestError
from tacit.version import __version__
from tests.cli.conftest import Tacit


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - Typer's own
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


@pytest.mark.parametrize("probe", ["parts", "consistency", "assumptions"])
def test_the_short_help_of_a_probe_is_one_screen(tacit: Tacit, probe: str) -> None:
    """With at most 15 options and the two that show help; the rest is in the whole help."""
    shown = _options(tacit("run", probe, "--help").out)
    assert {"--model", "--limit", "--fast", "--config", "--dry-run", "--json"} < {*shown}
    assert len(shown) <= 17
    assert len(_options(tacit("run", probe, "--help-all").out)) > 2 * len(shown)


def _options(text: str) -> list[str]:
    return re.findall(r"^  (?:-., )?(--\S+)", text.partition("What to ask:")[2], re.MULTILINE)


@pytest.mark.parametrize("command", [(), ("run",), ("show", "prompts")])
def test_a_group_lists_all_its_commands_with_whole_summaries(
    tacit: Tacit, command: tuple[str, ...]
) -> None:
    out = tacit(*command, "--help").out
    listed = set(re.findall(r"^  ([a-z-]+)  ", out, re.MULTILINE))
    assert listed >= {path[len(command)] for path in VERBS if path[: len(command)] == command}
    assert "..." not in out.partition("Options:")[2]


def test_the_start_of_an_id_is_enough() -> None:
    """An id itself comes first; an ambiguous start is an error, and an unknown one is unchanged."""
    ids = ["1afa", "1afa02", "20ab", "20ac"]
    assert [_anchor_id(ids, start) for start in ("1afa", "1afa0", "20ab", "9")] == [
        *("1afa", "1afa02", "20ab", "9")
    ]
    with pytest.raises(RequestError, match="2 anchor questions have an id that starts with '20'"):
        _anchor_id(ids, "20")


@pytest.mark.parametrize("probe", ["parts", "consistency", "assumptions"])
def test_no_option_is_listed_twice(probe: str) -> None:
    """The probe's --limit is not the number of prompts to show."""
    names = [name for one in VERBS["show", "prompts", probe].params for name in one.opts]
    assert sorted(set(names)) == sorted(names)


def test_the_version_is_tacits(tacit: Tacit) -> None:
    ran = tacit("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"tacit {__version__}\n", "")


def test_completion_is_shown_for_shells(tacit: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_TACIT_COMPLETE" in tacit("--show-completion", "bash").out
