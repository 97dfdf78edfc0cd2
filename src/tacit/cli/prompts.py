"""``tacit show prompts``: prompts of a probe as text, tokens and token ids."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.options import declared
from tacit.cli.run import example, probe_group
from tacit.english import several
from tacit.errors import RequestError, TooLongError
from tacit.models.openai.options import is_address
from tacit.models.options import LoadOptions
from tacit.present.progress import Terminal
from tacit.probes.base import ModelWords, Probe, Requests
from tacit.requests import Prompt, RankingPrompt, Request

if TYPE_CHECKING:
    from tacit.models.huggingface.local import LocalModel

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
        from tacit.outputs import check_outputs, table_with

        if is_address(model):
            raise RequestError(
                f"{model} is a server, which does not show how a model receives its prompts: use a "
                "local model (for the text of the prompts, any local model will do)"
            )
        loading = LoadOptions(revision=revision, chat=chat).of([model])
        is_own = table_with("a table of prompts", "group", "text", "answers")
        check_outputs([], [(out, is_own)], force=force)
        groups = _requests(kind.of(options), model, loading)
        if out is not None:
            _write(groups, out)
            return
        prompts = [list(_scored(group.requests)) for group in groups.values()]
        listed = [one for group in prompts for one in group[: None if everything else first]]
        if left := sum(map(len, prompts)) - len(listed):
            sys.stderr.write(
                f"tacit: {several(left, 'more prompt is', 'more prompts are')} not shown; use "
                "--first N for more, or --all for all\n"
            )
        _show(model, loading, listed, as_json=as_json)

    return verb


def _requests(made: Probe, model: str, loading: LoadOptions) -> Mapping[str, Requests]:
    """Return the probe's requests to a model, whose words are read without its weights."""
    from tacit.models import loading as models

    if made.ranks_vocabulary:
        words = ModelWords(*models.words_of(model, loading))
        made = made.for_models({model: words})[model]
    return made.requests()


def _scored(requests: Iterable[Request]) -> Iterator[Prompt]:
    """Yield a prompt for each request whose answers have scores or ranks."""
    for one in requests:
        if isinstance(one, Prompt):
            yield one
        elif isinstance(one, RankingPrompt) and one.targets:
            yield one.asking(one.targets)


def _write(groups: Mapping[str, Requests], out: Path) -> None:
    """Write a table with the key and the text of each prompt, and the answers that are scored."""
    import polars as pl

    from tacit.tables import write_table

    tables = []
    for name, of in groups.items():
        answers = [
            [each for one in _scored([asked]) for each in one.answers] for asked in of.requests
        ]
        texts = pl.Series([asked.text for asked in of.requests])
        scored = pl.Series([json.dumps(each, ensure_ascii=False) for each in answers])
        keys = pl.select(group=pl.lit(name)).join(of.keys, how="cross")
        tables.append(keys.with_columns(text=texts, answers=scored))
    table = pl.concat(tables, how="diagonal_relaxed")
    write_table(table, out)
    typer.echo(f"Written: {out} ({several(table.height, 'prompt')})")


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
        tokenized = _shown(loaded, prompt)
        if as_json:
            typer.echo("[" if number == 1 else ", ", nl=False)
            typer.echo(json.dumps(tokenized), nl=False)
        else:
            typer.echo(_readable(number, tokenized))
    if as_json:
        typer.echo("]" if prompts else "[]")


def _shown(model: LocalModel, prompt: Prompt) -> dict[str, Any]:
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
    rows = [{**asdict(one), "scored": list(one.scored)} for one in inputs]
    return {"answer": answer, "inputs": rows}


def _readable(number: int, tokenized: dict[str, Any]) -> str:
    """Format one prompt as text: each answer's tokens, with scored tokens in brackets."""
    lines = [f"{number}. {tokenized['text']!r}, separator {tokenized['separator']!r}"]
    for of_answer in tokenized["answers"]:
        lines.append(f"   {of_answer['answer']!r}")
        if "skipped" in of_answer:
            lines.append(f"     skipped: {of_answer['skipped']}")
        for one in of_answer["inputs"]:
            marked = [
                f"[{token}]" if at in one["scored"] else token
                for at, token in enumerate(one["tokens"])
            ]
            lines.extend(
                (f"     {one['role']}: {' '.join(marked)}", f"     ids: {list(one['ids'])}")
            )
    return "\n".join(lines)


app = probe_group(
    "Show the first prompts of a probe as text, tokens and token ids.",
    _prompts,
    lambda kind: (
        f"Show the first prompts of the {kind.name} probe as text, tokens and token ids.\n\n"
        f"Example: {example('tacit show prompts', kind, '--model gpt2')}"
    ),
)
