# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/reference/cli.md from the commands and their options (``make docs``)."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
_OTHERS = "Output and other options"
_SHARED = 3  # a group of options that so many commands have is shown once
_BEGINNING = """\
<!-- Generated from the command line by scripts/cli_page.py: make docs. -->

# Command line

Every command prints its help with `--help`. Exit codes: 0 when the work is done, 1 when it failed
(a network failure included), 2 when the request was invalid (nothing is written then), and 130 when
it was interrupted.
"""


@dataclass(frozen=True)
class Command:
    """A command with its options by group.

    Args:
        name: As it is typed, without ``tacit``.
        about: Its help.
        arguments: What stands without a flag.
        groups: The options of each group, as rows of a table.
    """

    name: str
    about: str
    arguments: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]


def page() -> str:
    """The page in Markdown."""
    found = list(_commands(typer.main.get_command(app), ()))
    counted = Counter(pair for command in found for pair in command.groups.items())
    shared = dict(_titled(counted))
    lines = [_BEGINNING, *_overview(found)]
    for command in found:
        lines += _section(command, shared)
    lines += ["## Shared options", ""]
    for (_, rows), title in shared.items():
        lines += [f"### {title}", "", *_table(rows)]
    return "\n".join(lines)


def _titled(counted: Counter[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[Any, str]]:
    seen: Counter[str] = Counter()
    for (group, rows), times in counted.items():
        if times >= _SHARED and group != _OTHERS:
            seen[group] += 1
            yield (group, rows), f"{group} options" + (f" ({seen[group]})" * (seen[group] > 1))


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[Command]:  # noqa: ANN401 - a command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(_context(command)):
            yield from _commands(command.get_command(_context(command), name), (*path, name))
        return
    arguments: list[str] = []
    groups: dict[str, list[str]] = {}
    for one in command.params:
        if one.param_type_name == "argument":
            arguments.append(f"{one.name.upper()}{'…' if one.nargs == -1 else ''}")
        elif not one.hidden and one.name != "help":
            group = getattr(one, "rich_help_panel", None) or _OTHERS
            groups.setdefault(group, []).append(_row(one))
    yield Command(
        " ".join(path),
        inspect.cleandoc(command.help or ""),
        tuple(arguments),
        {group: tuple(rows) for group, rows in groups.items()},
    )


def _context(command: Any) -> Any:  # noqa: ANN401 - a command
    return typer.Context(command)


def _row(one: Any) -> str:  # noqa: ANN401 - an option
    written, about = one.get_help_record(typer.Context(typer.main.get_command(app)))
    flags, _, kind = written.partition(" <")
    shown = ", ".join(f"`{flag.strip()}`" for flag in flags.split(","))
    kind = _KINDS.get(kind.rstrip(">"), kind.rstrip(">"))
    values = f"`{kind}`".replace("|", "`, `") if "|" in kind else kind
    return f"| {shown} | {values} | {' '.join(about.split())} |".replace("[required]", "Required.")


_KINDS = {
    "float": "number",
    "float range": "number",
    "int": "whole number",
    "int range": "whole number",
    "list[path]": "paths",
    "list[str]": "text, repeatable",
    "str": "text",
}


def _overview(found: list[Command]) -> Iterator[str]:
    yield "| command | what it does |"
    yield "|---|---|"
    for command in found:
        first = command.about.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        yield f"| [`tacit {command.name}`](#tacit-{command.name.replace(' ', '-')}) | {first} |"
    yield ""


def _section(command: Command, shared: Mapping[Any, str]) -> Iterator[str]:
    yield f"## tacit {command.name}"
    yield ""
    arguments = "".join(f" {argument}" for argument in command.arguments)
    yield f"```text\ntacit {command.name}{arguments} [options]\n```"
    yield ""
    for paragraph in command.about.split("\n\n"):
        text = " ".join(paragraph.split())
        name, _, rest = text.partition(": ")
        yield f"{name}:\n\n```text\n{rest}\n```\n" if name == "Example" else f"{text}\n"
    also = []
    for group, rows in command.groups.items():
        if (group, rows) in shared:
            title = shared[group, rows]
            also.append(f"[{title}](#{title.lower().replace(' ', '-').translate(_ANCHOR)})")
        else:
            yield f"**{group}**"
            yield ""
            yield from _table(rows)
    if also:
        yield f"It also takes {', '.join(also)}."
        yield ""


_ANCHOR = str.maketrans("", "", "(),:.")


def _table(rows: tuple[str, ...]) -> Iterator[str]:
    yield "| option | value | meaning |"
    yield "|---|---|---|"
    yield from rows
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
