"""``tacit show``: what a model is really given, and what a run made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import chat as chatting
from tacit.cli import options as given
from tacit.cli.background import BackgroundOptions
from tacit.cli.group import group
from tacit.cli.spreading import spread
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.loading import LoadOptions
    from tacit.models.local import LocalModel
    from tacit.prompts import Prompt

app = group("Show what a model is really given, and what a run made of it.")
prompts = group("Show a probe's first prompts as text, tokens and ids.")
app.add_typer(prompts, name="prompts")


@prompts.command("parts")
def parts(
    model: given.ModelName,
    drawings: given.Drawings,
    things: given.Things = None,
    preset: given.Preset = "plain",
    prompt: given.PromptFile = None,
    number: given.NumberPreset = "paper",
    nouns: given.NounsFile = None,
    first: Annotated[int, typer.Option(min=1, help="How many prompts.")] = 3,
    revision: given.Revision = None,
    chat: chatting.Chat = False,
    as_json: given.AsJson = False,
) -> None:
    """Show the parts probe's first prompts as text, tokens and ids."""
    from tacit.cli.parts import PartsOptions

    probe = PartsOptions(drawings, things, None, preset, prompt, number, nouns).probe()
    _show(model, _loading(revision, chat=chat), probe.prompts[:first], as_json=as_json)


@prompts.command("consistency")
@spread
def consistency(
    *,
    model: given.ModelName,
    questions: given.Questions,
    kb: given.KnowledgeBaseFile,
    background: BackgroundOptions,
    wording: given.FactWording = "paper",
    templates: given.TemplatesFile = None,
    anchoring: given.Anchoring = "choice",
    first: Annotated[int, typer.Option(min=1, help="How many prompts.")] = 3,
    revision: given.Revision = None,
    chat: chatting.Chat = False,
    as_json: given.AsJson = False,
) -> None:
    """Show the first prompts of background and questions as text, tokens and ids."""
    from tacit.cli.consistency import ConsistencyOptions

    options = ConsistencyOptions(
        questions, kb, None, background, wording, templates, anchoring=anchoring
    )
    probe = options.probe()
    shown = [*probe.prompts[:first], *probe.anchor_prompts[:first]]
    _show(model, _loading(revision, chat=chat), shown, as_json=as_json)


@prompts.command("assumptions")
def assumptions(
    model: given.ModelName,
    norms: given.NormsFile,
    corrections: given.Corrections = None,
    vocabulary: given.Candidates = "shared",
    wording: given.CausalWording = "blank-last",
    articles: given.ArticleRule = "fixed",
    no_tagged: given.NoTagged = False,
    least: given.LeastProperties = 10,
    least_people: given.LeastPeople = 0,
    most_words: given.MostWords = None,
    first: Annotated[int, typer.Option(min=1, help="How many prompts.")] = 3,
    revision: given.Revision = None,
    chat: chatting.Chat = False,
    as_json: given.AsJson = False,
) -> None:
    """Show the first prompts of retrieval and elicitation, with people's answers in place."""
    from tacit.cli.assumptions import AssumptionsOptions, first_prompts, probes_of
    from tacit.sources.norms import read_norms

    options = AssumptionsOptions(
        norms,
        corrections,
        vocabulary,
        wording,
        articles,
        "main",
        not no_tagged,
        least,
        least_people,
        most_words,
    )
    loading = _loading(revision, chat=chat)
    probes = probes_of([model], read_norms(norms), options.choices(), loading)
    _show(model, loading, first_prompts(probes[model], first), as_json=as_json)


@app.command("anchor")
def anchor(
    run: Annotated[Path, typer.Argument(help="The folder of a consistency run.")],
    question: Annotated[str, typer.Argument(metavar="ID", help="The question's id in its file.")],
    as_json: given.AsJson = False,
) -> None:
    """Follow one question through its facts to what it adds to conceptual consistency."""
    from tacit.cli.anchor import echo_anchor
    from tacit.probes.consistency.trace import TABLES, trace
    from tacit.runs import read_findings

    found = trace(read_findings(run, TABLES), question)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    echo_anchor(found)


def _loading(revision: str | None, *, chat: bool) -> LoadOptions:
    from tacit.models.loading import LoadOptions

    return LoadOptions(revision=revision, chat=chat)


def _show(model: str, loading: LoadOptions, prompts: Sequence[Prompt], *, as_json: bool) -> None:
    """Prints prompts as a model is given them."""
    from tacit.cli import asking
    from tacit.engine.store import Store
    from tacit.models.local import LocalModel

    loaded = asking.load(model, loading, Store.default())
    if not isinstance(loaded, LocalModel):
        raise RequestError(f"{model} shows no tokens; a model in this process does")
    shown = [_shown(loaded, one) for one in prompts]
    if as_json:
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    for number, one in enumerate(shown, 1):
        typer.echo(_readable(number, one))


def _shown(model: LocalModel, prompt: Prompt) -> dict[str, Any]:
    return {
        "text": prompt.text,
        "separator": prompt.separator,
        "answers": [
            {
                "answer": answer,
                "inputs": [
                    {
                        "role": one.role,
                        "tokens": list(one.tokens),
                        "ids": list(one.ids),
                        "scored": list(one.scored),
                    }
                    for one in model.inputs(prompt, answer)
                ],
            }
            for answer in prompt.answers
        ],
    }


def _readable(number: int, shown: dict[str, Any]) -> str:
    """The prompt, and below it each answer's tokens, those that are scored in brackets."""
    lines = [f"{number}. {shown['text']!r}, separator {shown['separator']!r}"]
    for of_answer in shown["answers"]:
        lines.append(f"   {of_answer['answer']!r}")
        for one in of_answer["inputs"]:
            marked = [
                f"[{token}]" if at in one["scored"] else token
                for at, token in enumerate(one["tokens"])
            ]
            lines.extend((f"     {one['role']}: {' '.join(marked)}", f"     ids: {one['ids']}"))
    return "\n".join(lines)
