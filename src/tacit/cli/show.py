"""``tacit show``: what a model is really given, and what a run made of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import chat as chatting
from tacit.cli import options as given
from tacit.cli.background import BackgroundOptions
from tacit.cli.group import group
from tacit.cli.spreading import spread
from tacit.errors import RequestError, TooLongError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.loading import LoadOptions
    from tacit.models.local import LocalModel
    from tacit.prompts import Prompt

app = group("Show what a model is really given, and what a run made of it.")
First = Annotated[
    int, typer.Option("--first", "--limit", min=1, help="How many prompts of each kind.")
]
Everything = Annotated[bool, typer.Option("--all", help="All prompts; may be very long.")]

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
    first: First = 3,
    everything: Everything = False,
    revision: given.Revision = None,
    chat: chatting.Chat = False,
    as_json: given.AsJson = False,
) -> None:
    """Show the parts probe's first prompts as text, tokens and ids."""
    from tacit.cli.parts import PartsOptions

    probe = PartsOptions(drawings, things, None, preset, prompt, number, nouns).probe()
    shown = probe.prompts if everything else probe.prompts[:first]
    _tell_left_out(len(probe.prompts) - len(shown))
    _show(model, _loading(revision, chat=chat), shown, as_json=as_json)


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
    first: First = 3,
    everything: Everything = False,
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
    several = [*probe.prompts[:first], *probe.anchor_prompts[:first]]
    shown = probe.prompts if everything else several
    _tell_left_out(len(probe.prompts) - len(shown))
    _show(model, _loading(revision, chat=chat), shown, as_json=as_json)


@prompts.command("assumptions")
def assumptions(
    model: given.ModelName,
    norms: given.NormsFile,
    corrections: given.Corrections = None,
    vocabulary: given.Candidates = "shared",
    wording: given.CausalWording = "blank-last",
    articles: given.ArticleRule = "fixed",
    concepts: given.ConceptPreset = "paper",
    responses: given.ResponsePreset = "people",
    least: given.LeastProperties = 10,
    least_people: given.LeastPeople = 0,
    most_words: given.MostWords = None,
    first: First = 3,
    everything: Everything = False,
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
        concepts,
        responses,
        least,
        least_people,
        most_words,
    )
    loading = _loading(revision, chat=chat)
    probes = probes_of([model], read_norms(norms), options.choices(), loading)
    shown = first_prompts(probes[model], None if everything else first)
    _tell_left_out(len(first_prompts(probes[model], None)) - len(shown))
    _show(model, loading, shown, as_json=as_json)


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


def _tell_left_out(count: int) -> None:
    """Say on standard error how many prompts are not shown."""
    if count > 0:
        sys.stderr.write(
            f"tacit: {count:,} more prompts are not shown; --first N shows more, --all shows all\n"
        )


def _show(model: str, loading: LoadOptions, prompts: Sequence[Prompt], *, as_json: bool) -> None:
    """Print prompts as a model is given them, one after the other."""
    from tacit.cli import asking
    from tacit.engine.store import Store
    from tacit.models.local import LocalModel

    loaded = asking.load(model, loading, Store.default())
    if not isinstance(loaded, LocalModel):
        raise RequestError(f"{model} shows no tokens; a model in this process does")
    for number, prompt in enumerate(prompts, 1):
        shown = _shown(loaded, prompt)
        if as_json:
            typer.echo("[" if number == 1 else ", ", nl=False)
            typer.echo(json.dumps(shown, ensure_ascii=False), nl=False)
        else:
            typer.echo(_readable(number, shown))
    if as_json:
        typer.echo("]" if prompts else "[]")


def _shown(model: LocalModel, prompt: Prompt) -> dict[str, Any]:
    """A prompt with its answers' inputs; an answer that does not fit has the reason instead."""
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
    """The prompt, and below it each answer's tokens, those that are scored in brackets."""
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
