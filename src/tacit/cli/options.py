"""Generation of command-line options from dataclasses, and creation of command groups."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache, wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from tacit.options import Option, build, declarations, names_of, option

OUTPUT = "Output"
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
Questions = Annotated[
    Path,
    typer.Option(
        help="A file of multiple-choice questions: CommonsenseQA or another published data set, or "
        "a table with the columns question, choices and answer."
    ),
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
        help=f"{A_MODEL}; repeat the option to compare models.",
        group="Model",
        check=checked,
    )


@dataclass(frozen=True)
class ModelsOrFile(Models):
    """The options that name the models or, in place of a model, a file of beliefs."""

    beliefs: Path | None = option(None, help=_BELIEFS, group="Model")


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
    )
    store: str | None = option(None, help=_STORE, group=OUTPUT)
    dry_run: bool = option(default=False, help=_DRY_RUN, group=OUTPUT)
    as_json: bool = option(default=False, help=_JSON, flags=("--json",), group=OUTPUT)


class GroupedCommand(TyperCommand):
    """A command whose help text lists the options by group, with a heading for each group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's signature
        """Write the command's options to the help text, with a heading for each group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                argument = parameter.param_type_name == "argument"
                heading = getattr(parameter, "rich_help_panel", None) or OUTPUT
                groups.setdefault("Arguments" if argument else heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def declared(
    *, without: Collection[str] = (), figures: bool = False, **kinds: type
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that turns the fields of dataclass arguments into options.

    The command does not accept the options ``without``, nor those of figures if it draws none.
    ``kinds`` are the dataclasses of parameters that are not annotated with one.
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

        @wraps(verb)
        def spread_out(**given: Any) -> None:  # noqa: ANN401 - any options
            for name, kind in groups.items():
                given[name] = build(kind, {one: given.pop(one) for one in accepted[name]})
            verb(**given)

        spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # Typer's
        spread_out.__annotations__ = {option.name: option.annotation for option in options}
        return spread_out

    return decorate


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
        hidden=about.hidden,
        rich_help_panel=about.group,
        show_default=default is not MISSING,
    )
    default = Parameter.empty if default is MISSING else default
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


def group(about: str) -> typer.Typer:
    """Return a command group that remains a group even if it has only one command."""
    return typer.Typer(
        help=about,
        # Without a callback, Typer turns a group of one command into that command.
        callback=_stay_a_group,
        no_args_is_help=True,
        add_completion=False,
        # Plain help avoids Rich, which takes longer to import than everything else.
        rich_markup_mode=None,
    )


def _stay_a_group() -> None:
    pass
