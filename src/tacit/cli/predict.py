"""``tacit predict``: predict whether a model answers a new question correctly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options as given
from tacit.findings.numbers import estimate
from tacit.strings import listed

if TYPE_CHECKING:
    from tacit.probes.consistency.new_question import AnswerPrediction


def predict(
    *,
    run: Annotated[Path, typer.Argument(help="Folder of a run of the consistency probe.")],
    question: Annotated[str, typer.Argument(help="The text of the new question.")],
    choices: Annotated[
        str, typer.Option(help="The answer choices of the new question, separated by commas.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="The model of the finished run: its current name, folder or address [default: "
            "as recorded in the run].",
            callback=given.checked,
        ),
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(
            help="Current path of the finished run's knowledge base [default: as "
            "recorded in the run]."
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="Device that runs the model: auto, cpu, cuda, cuda:1, …")
    ] = "auto",
    trust_remote_code: Annotated[
        bool,
        typer.Option(
            "--trust-remote-code", help="Allow Python code from the model's repository to run."
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Do not ask for confirmation of the cost of a chat API."),
    ] = False,
    store: given.StorePath = None,
    as_json: given.AsJson = False,
) -> None:
    """Predict whether the model of a finished run answers a new question correctly.

    The model answers the new question, and yes/no questions about the background facts of the new
    question. A predictor that was fitted to the finished run estimates the probability that the
    model answers the new question correctly. The predictor uses the model's answers to the yes/no
    questions about background facts, and the scores of the new question's choices.

    Example: tacit predict runs/gpt2 "Where does a dog sleep?" --choices kennel,tree,pond
    """
    from tacit.engine.store import Store
    from tacit.present.progress import Terminal
    from tacit.runs.predicting import RunPredictor
    from tacit.runs.reading import read_run

    predicted = RunPredictor(
        read_run(run),
        model,
        kb,
        {"device": device, "trust_remote_code": trust_remote_code, "yes": yes},
        Store(store) if store else None,
        Terminal(),
    ).predict(question, listed(choices))
    if as_json:
        typer.echo(json.dumps(predicted.to_json()))
    else:
        _echo(predicted)


def _echo(predicted: AnswerPrediction) -> None:
    from tacit.present.tables import print_table
    from tacit.probes.consistency import DETAILS

    low, high = predicted.interval
    probability = estimate(predicted.p_correct, low, high)
    typer.echo(f"Answer: {predicted.answer}\nProbability that it is correct: {probability}")
    if predicted.note:
        typer.echo(predicted.note)
    if not predicted.facts.is_empty():
        typer.echo("")
        effects = DETAILS["effects"]
        print_table(effects, predicted.facts, f"{effects.title}\n{effects.reading}")
