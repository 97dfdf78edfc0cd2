"""Generation of command-line options from dataclasses, and creation of command groups."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache, wraps
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from tacit.errors import RequestError
from tacit.options import Option, OptionError, build, declarations, names_of, option
from tacit.strings import listed

OUTPUT = "Output"
_RARE = ", rarely needed"
"""The end of a heading whose options only ``--help-all`` lists."""
_STORE = (
    "The score store: a folder or an s3:// address [default: $TACIT_STORE if set, otherwise "
    ".tacit]."
)
_DRY_RUN = "Print the number of prompts and the estimated time, and exit."
_JSON = "Print the result as JSON."
_BELIEFS = (
    "A file of beliefs to measure instead of a model's beliefs, with the columns thing, subject, "
    "relation, object and p_true."
)


def checked(given: str | list[str] | None) -> str | list[str] | None:
    """Return the model names; raise an error if a server address may contain a secret key."""
    from tacit.models.openai.options import check_holds_no_key

    for name in [given] if isinstance(given, str) else given or ():
        check_holds_no_key(name)
    return given


def _models(given: list[str] | None) -> list[str] | None:
    """Return the names of models, separated at commas, except in the path of a model."""
    checked(given)
    separated = [[one] if _exists(one) else listed(one) for one in given or ()]
    return checked(list(chain(*separated))) or None  # type: ignore[return-value] # a list


def _exists(path: str) -> bool:
    try:
        return Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False  # not a valid path


A_MODEL = (
    'Name of a model on the Hugging Face hub, folder of a model, GGUF file, "demo" (the bundled '
    "model), or address of a server (http://…/v1)"
)

ModelName = Annotated[
    str,
    typer.Option("--model", help=f"{A_MODEL}.", show_default=False, callback=checked),
]
OneModel = Annotated[str | None, typer.Option("--model", help=f"{A_MODEL}.", callback=checked)]
BeliefsFile = Annotated[
    Path | None,
    typer.Option("--beliefs", help=_BELIEFS),
]
Revision = Annotated[
    str | None, typer.Option(help="Branch, tag or commit of a model on the Hugging Face hub.")
]
StorePath = Annotated[str | None, typer.Option("--store", help=_STORE)]
DryRun = Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite an output file that another command or program wrote."),
]
KnowledgeBaseFile = Annotated[
    Path, typer.Argument(metavar="KB", help="A knowledge base that tacit kb import created.")
]
AsJson = Annotated[bool, typer.Option("--json", help=_JSON)]


@dataclass(frozen=True)
class Models:
    """The command-line option that names the models to run."""

    model: list[str] | None = option(
        None,
        help=f"{A_MODEL}. To compare models, separate them by commas or repeat the option.",
        group="Model",
        check=_models,
    )


@dataclass(frozen=True)
class ModelsOrFile(Models):
    """The options that name the models or, in place of a model, a file of beliefs."""

    beliefs: Path | None = option(None, help=_BELIEFS, group="Model", rare=True)


@dataclass(frozen=True)
class Output:
    """Options that control the files and the printed output of runs."""

    out: Path | None = option(
        None,
        help="Folder for the run, or for all runs if there are several; a suite has a default in "
        "its file. Only --dry-run needs no folder.",
        flags=("--out", "-o", "--output"),
        group=OUTPUT,
    )
    report: bool = option(
        default=True,
        help="Write report.html with all findings.",
        flags=("--report/--no-report",),
        group=OUTPUT,
        rare=True,
    )
    store: str | None = option(None, help=_STORE, group=OUTPUT)
    dry_run: bool = option(default=False, help=_DRY_RUN, group=OUTPUT)
    as_json: bool = option(default=False, help=_JSON, flags=("--json",), group=OUTPUT)


class Commands(TyperGroup):
    """A command group whose help lists the commands under headings, with their whole summaries."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's signature
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            summary = " ".join(command.help.partition("\n\n")[0].split())
            groups.setdefault(command.rich_help_panel or "Commands", []).append((name, summary))
        _write_sections(formatter, groups)


class GroupedCommand(TyperCommand):
    """A command whose help text lists the options by group, with a heading for each group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's signature
        """Write the options to the help text; those rarely needed only for ``--help-all``."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            heading = getattr(parameter, "rich_help_panel", None) or OUTPUT
            if record is not None and (WHOLE_HELP in ctx.meta or not heading.endswith(_RARE)):
                argument = parameter.param_type_name == "argument"
                heading = "Arguments" if argument else heading.removesuffix(_RARE)
                groups.setdefault(heading, []).append(record)
        _write_sections(formatter, groups)


def _write_sections(formatter: Any, groups: Mapping[str, list[tuple[str, str]]]) -> None:  # noqa: ANN401 - of click
    for heading, records in groups.items():
        with formatter.section(heading):
            formatter.write_dl(records)


WHOLE_HELP = "tacit.whole_help"
"""The key in the ``meta`` of a command's context with which its help lists all options."""


def _print_whole_help(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[WHOLE_HELP] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


_HELP_ALL = Parameter(
    "help_all",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all",
            callback=_print_whole_help,
            is_eager=True,
            help="Show all options and exit.",
        ),
    ],
)


def declared(
    *,
    without: Collection[str] = (),
    figures: bool = False,
    short: bool = True,
    **kinds: Any,  # noqa: ANN401 - any annotation
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that turns the fields of dataclass arguments into options.

    The command does not accept the options ``without``, nor those of figures if it draws none.
    ``short`` says that the help of a ``GroupedCommand`` omits options that are rarely needed, and
    ``kinds`` are the annotations of parameters that have none of their own.
    """

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        hints = {**get_type_hints(verb, include_extras=True), **kinds}
        groups: dict[str, type] = {
            name: kind
            for name, kind in hints.items()
            if isinstance(kind, type) and is_dataclass(kind)
        }
        accepted = {
            name: [one for one in names_of(kind, figures=figures) if one not in without]
            for name, kind in groups.items()
        }
        options: list[Parameter] = []
        for name, parameter in inspect.signature(verb).parameters.items():
            if name in groups:
                options += [one for one in _parameters(groups[name]) if one.name in accepted[name]]
            else:
                only = Parameter.KEYWORD_ONLY
                options.append(parameter.replace(kind=only, annotation=hints[name]))
        options += [_HELP_ALL] if short else []

        @wraps(verb)
        def spread_out(**given: Any) -> None:  # noqa: ANN401 - any options
            given.pop(_HELP_ALL.name, None)
            for name, kind in groups.items():
                given[name] = _built(kind, {one: given.pop(one) for one in accepted[name]})
            verb(**given)

        spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # Typer's
        spread_out.__annotations__ = {option.name: option.annotation for option in options}
        return spread_out

    return decorate


def _built(kind: type, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an instance of kind
    """Build options of values by name, without those that were required and not given."""
    known = declarations(kind)
    values = {name: one for name, one in given.items() if one is not None or known[name].optional}
    try:
        return build(kind, values)
    except OptionError as error:
        raise RequestError(f"--{error.name.replace('_', '-')} {error.problem}") from error


@cache  # reading type hints is slow, happens at start-up, and several commands share a dataclass
def _parameters(kind: type) -> tuple[Parameter, ...]:
    """Return one parameter per option of a dataclass and of the dataclasses nested in it."""
    return tuple(_parameter(name, one) for name, one in declarations(kind).items())


def _parameter(name: str, about: Option) -> Parameter:
    kind, default = about.kind, about.default
    declared = typer.Option(
        *(about.flags or (f"--{name.replace('_', '-')}",)),
        help=about.help,
        metavar=about.metavar,
        min=about.least,
        rich_help_panel=about.group + _RARE * about.rare,
        show_default=about.optional,
    )
    if not about.optional:
        kind, default = (kind, Parameter.empty) if about.absent is None else (kind | None, None)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


def group(about: str, cls: type[Commands] = Commands) -> typer.Typer:
    """Return a command group that remains a group even if it has only one command."""
    return typer.Typer(
        help=about,
        cls=cls,
        # Without a callback, Typer turns a group of one command into that command.
        callback=lambda: None,
        no_args_is_help=True,
        add_completion=False,
        # Plain help avoids Rich, which takes longer to import than everything else.
        rich_markup_mode=None,
    )
