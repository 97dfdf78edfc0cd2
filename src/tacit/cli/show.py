"""``tacit show``: what a model is really given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.group import group
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.models.local import LocalModel
    from tacit.prompts import Prompt

app = group("Show what a model is really given.")
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
    as_json: given.AsJson = False,
) -> None:
    """Show the parts probe's first prompts as text, tokens and ids."""
    from tacit.cli import asking
    from tacit.cli.parts import PartsOptions
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions
    from tacit.models.local import LocalModel

    options = PartsOptions(drawings, things, None, preset, prompt, number, nouns)
    probe = options.probe()
    loaded = asking.load(model, LoadOptions(revision=revision), Store.default())
    if not isinstance(loaded, LocalModel):
        raise RequestError(f"{model} shows no tokens; a model in this process does")
    shown = [_shown(loaded, one) for one in probe.prompts[:first]]
    if as_json:
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    for number_, one in enumerate(shown, 1):
        typer.echo(_readable(number_, one))


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
