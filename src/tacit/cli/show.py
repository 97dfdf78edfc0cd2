"""``tacit show``: show a probe's prompts, an anchor question of a run, or data sources."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import drawings
from tacit.cli import options as given
from tacit.cli.options import declared, group
from tacit.cli.run import example, probe_group
from tacit.english import several
from tacit.errors import RequestError, TooLongError
from tacit.models.options import LoadOptions
from tacit.present.progress import Terminal
from tacit.probes.base import ModelWords, Probe
from tacit.requests import Prompt
from tacit.sources.registry import Registry, Source, SourceFile, registry

if TYPE_CHECKING:
    from tacit.models.huggingface.local import LocalModel


_FEW = 3  # ids in a message
_INDENT = 11  # the length of the longest heading, plus two spaces


def listing(known: Registry) -> Iterator[str]:
    """Yield the output lines that list all data sources, grouped by kind of data."""
    width = max(map(len, known.sources)) + 2
    for kind in known.kinds.values():
        yield f"{kind.noun}: {'; '.join(kind.options)}"
        for source in known.of_kind(kind.name):
            condition = f" ({source.condition})" if source.condition else ""
            yield f"  {source.name:<{width}}{source.title}{condition}"
        yield ""
    yield "tacit show sources NAME shows how to get a source; Tacit downloads no data"


def detail(source: Source) -> Iterator[str]:
    """Yield the output lines that describe one data source."""
    yield f"{source.name}: {source.title}"
    yield ""
    for heading, text in source.facts().items():
        yield f"{heading:<{_INDENT}}{text}"
    yield ""
    for file in source.files:
        yield from _file(file)
    yield ""
    for number, step in enumerate(source.steps, 1):
        yield f"{number}. {step}"


def _file(file: SourceFile) -> Iterator[str]:
    size = "" if file.bytes is None else f", {file.bytes:,} bytes"
    renamed = "" if file.save_as is None else f", save as {file.save_as}"
    yield f"{file.name}{size}{renamed}"
    if file.url:
        yield f"  {file.url}"
    if file.sha256:
        yield f"  sha256 {file.sha256}"


app = group("Show prompts, one question of a run, or data sources.")
First = Annotated[
    int,
    typer.Option("--first", min=1, help="How many prompts of each kind are printed."),
]
Everything = Annotated[bool, typer.Option("--all", help="Print all prompts.")]
Chat = Annotated[
    bool, typer.Option("--chat", help="Format prompts with the tokenizer's chat template.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Write all prompts to this file (TSV, CSV, JSONL or Parquet) instead of printing "
        "tokens: a row per prompt."
    ),
]


def _prompts(kind: type[Probe]) -> Callable[..., None]:
    """Return the function that implements ``tacit show prompts`` for one probe."""

    @declared(options=kind.Options)
    def verb(
        *,
        options: Any,  # noqa: ANN401 - an instance of kind.Options
        model: given.ModelName,
        first: First = 3,
        everything: Everything = False,
        revision: given.Revision = None,
        chat: Chat = False,
        out: Out = None,
        force: given.Force = False,
        as_json: given.AsJson = False,
    ) -> None:
        _refuse_server(model)
        loading = LoadOptions(revision=revision, chat=chat)
        if out is not None:
            _write(kind, options, model, loading, out, force=force)
            return
        prompts = _first_prompts(kind.of(options), model, loading, None)
        shown = prompts if everything else _first_prompts(kind.of(options), model, loading, first)
        _report_left_out(len(prompts) - len(shown))
        _show(model, loading, shown, as_json=as_json)

    return verb


app.add_typer(
    probe_group(
        "Show the first prompts of a probe as text, tokens and token ids.",
        _prompts,
        lambda kind: (
            f"Show the first prompts of the {kind.name} probe as text, tokens and token ids.\n\n"
            f"Example: {example('tacit show prompts', kind, '--model gpt2')}"
        ),
    ),
    name="prompts",
)


def _refuse_server(model: str) -> None:
    """Raise an error if ``model`` is the address of a server.

    Raises:
        RequestError: If ``model`` is the address of a server.
    """
    from tacit.models.openai.options import is_address

    if is_address(model):
        raise RequestError(
            f"{model} is a server, which does not show how a model receives its prompts: use a "
            "local model (for the text of the prompts, any local model will do)"
        )


def _for_model(made: Probe, model: str, loading: LoadOptions) -> Probe:
    """Return the probe for a model, whose words are read without its weights."""
    from tacit.models import loading as models

    if not made.ranks_vocabulary:
        return made
    words = ModelWords(*models.words_of(model, loading))
    return made.for_models({model: words})[model]


def _first_prompts(
    made: Probe, model: str, loading: LoadOptions, first: int | None
) -> list[Prompt]:
    """Return the first prompts of each of the probe's groups of requests, or all of them."""
    from tacit.requests import Prompt, RankingPrompt

    found: list[Prompt] = []
    for asked in _for_model(made, model, loading).requests().values():
        for one in asked.requests[:first]:
            if isinstance(one, Prompt):
                found.append(one)
            elif isinstance(one, RankingPrompt) and one.targets:
                found.append(one.asking(one.targets))
    return found


def _write(
    kind: type[Probe],
    options: Any,  # noqa: ANN401 - an instance of kind.Options
    model: str,
    loading: LoadOptions,
    out: Path,
    *,
    force: bool,
) -> None:
    """Write a table with the key and the text of each prompt, and the answers that are scored."""
    import polars as pl

    from tacit.outputs import check_outputs, table_with
    from tacit.requests import Prompt, RankingPrompt
    from tacit.tables import write_table

    is_own = table_with("a table of prompts", "group", "text", "answers")
    check_outputs([], [(out, is_own)], force=force)
    groups = []
    for name, asked in _for_model(kind.of(options), model, loading).requests().items():
        answers = [
            one.answers
            if isinstance(one, Prompt)
            else one.targets
            if isinstance(one, RankingPrompt)
            else ()
            for one in asked.requests
        ]
        texts = pl.Series([one.text for one in asked.requests])
        scored = pl.Series([json.dumps(each, ensure_ascii=False) for each in answers])
        group = pl.select(group=pl.lit(name)).join(asked.keys, how="cross")
        groups.append(group.with_columns(text=texts, answers=scored))
    table = pl.concat(groups, how="diagonal_relaxed")
    write_table(table, out)
    typer.echo(f"Written: {out} ({several(table.height, 'prompt')})")


@app.command("anchor")
def anchor(
    run: Annotated[Path, typer.Argument(help="Folder of a run of the consistency probe.")],
    question: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The id of the anchor question in the file of questions; a unique beginning of "
            "the id is enough.",
        ),
    ],
    as_json: given.AsJson = False,
) -> None:
    """Show one anchor question of a run, with its background facts and its scores.

    The output shows the question's background facts, the model's answers and scores, and how much
    the question contributes to the conceptual consistency of the run.

    Example: tacit show anchor runs/gpt2 1afa02df
    """
    from tacit.present.tables import print_table
    from tacit.probes.consistency.details import TRACED, tables_of, trace
    from tacit.runs.reading import read_run

    tables = {name: read_run(run, "consistency").tables[name] for name in TRACED}
    found = trace(tables, _anchor_id(tables["anchors"]["anchor"].to_list(), question))
    if as_json:
        typer.echo(json.dumps(found))
        return
    for spec, table in tables_of(found):
        print_table(spec, table, spec.title)


def _anchor_id(ids: Sequence[str], start: str) -> str:
    """Return the full id of the anchor question whose id starts with ``start``.

    If no anchor question is found, ``start`` is returned unchanged.

    Raises:
        RequestError: If the ids of several anchor questions start with ``start``, and none of these
            ids equals ``start``.
    """
    found = [start] if start in ids else [each for each in ids if each.startswith(start)]
    if len(found) > 1:
        shown = ", ".join(found[:_FEW])
        raise RequestError(
            f"{len(found):,} anchor questions have an id that starts with {start!r}: {shown}"
            f"{', …' if len(found) > _FEW else ''}; give more of the id"
        )
    return found[0] if found else start


@app.command("sources")
def sources(
    name: Annotated[
        str | None, typer.Argument(help="Name of a source of data [default: list all sources].")
    ] = None,
    as_json: given.AsJson = False,
) -> None:
    """Show where to get published data sets, and which options accept each data set.

    Example: tacit show sources conceptnet
    """
    from tacit.cli.show import detail, listing

    known = registry()
    found = None if name is None else known.source(name)
    if as_json:
        shown = asdict(found) if found else [asdict(one) for one in known.sources.values()]
        typer.echo(json.dumps(shown))
        return
    typer.echo("\n".join(detail(found) if found else listing(known)))


def _report_left_out(count: int) -> None:
    """Print to standard error how many prompts the output leaves out."""
    if count > 0:
        sys.stderr.write(
            f"tacit: {several(count, 'more prompt is', 'more prompts are')} not shown; use "
            "--first N for more, or --all for all\n"
        )


def _show(model: str, loading: LoadOptions, prompts: Sequence[Prompt], *, as_json: bool) -> None:
    """Print prompts as the model receives them: text, tokens and token ids."""
    from tacit.engine.store import Store
    from tacit.models.huggingface.local import LocalModel
    from tacit.models.loading import load_model

    Terminal()
    loaded = load_model(model, loading, Store.default().hashes)
    if not isinstance(loaded, LocalModel):
        raise RequestError(f"{model} cannot show tokens: use a local model")
    for number, prompt in enumerate(prompts, 1):
        shown = _shown(loaded, prompt)
        if as_json:
            typer.echo("[" if number == 1 else ", ", nl=False)
            typer.echo(json.dumps(shown), nl=False)
        else:
            typer.echo(_readable(number, shown))
    if as_json:
        typer.echo("]" if prompts else "[]")


def _shown(model: LocalModel, prompt: Prompt) -> dict[str, Any]:
    """Return the data that ``tacit show prompts`` prints for one prompt."""
    return {
        "text": prompt.text,
        "separator": prompt.separator,
        "answers": [_shown_answer(model, prompt, answer) for answer in prompt.answers],
    }


def _shown_answer(model: LocalModel, prompt: Prompt, answer: str) -> dict[str, Any]:
    try:
        inputs = model.inputs(prompt, answer)
    except TooLongError as error:
        return {"answer": answer, "inputs": [], "skipped": str(error)}
    rows = [
        {
            "role": one.role,
            "tokens": list(one.tokens),
            "ids": list(one.ids),
            "scored": list(one.scored),
        }
        for one in inputs
    ]
    return {"answer": answer, "inputs": rows}


def _readable(number: int, shown: dict[str, Any]) -> str:
    """Format one prompt as text: each answer's tokens, with scored tokens in brackets."""
    lines = [f"{number}. {shown['text']!r}, separator {shown['separator']!r}"]
    for of_answer in shown["answers"]:
        lines.append(f"   {of_answer['answer']!r}")
        if "skipped" in of_answer:
            lines.append(f"     skipped: {of_answer['skipped']}")
        for one in of_answer["inputs"]:
            marked = [
                f"[{token}]" if at in one["scored"] else token
                for at, token in enumerate(one["tokens"])
            ]
            lines.extend((f"     {one['role']}: {' '.join(marked)}", f"     ids: {one['ids']}"))
    return "\n".join(lines)


app.command("statements")(drawings.statements)
