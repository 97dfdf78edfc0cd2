"""``tacit export``: write tasks and results for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.options import declared, group
from tacit.cli.run import example, probe_group
from tacit.english import several
from tacit.probes.base import Probe

app = group("Write prompts and results for other programs.")


def _lm_eval(kind: type[Probe]) -> Callable[..., None]:
    """Return the function that implements ``tacit export lm-eval`` for one probe."""

    @declared(options=kind.Options)
    def verb(
        *,
        options: Any,  # noqa: ANN401 - an instance of kind.Options
        out: Annotated[Path, typer.Option(help="Folder for the tasks, given as --include_path.")],
    ) -> None:
        from tacit.runs.exports import lm_eval

        tasks = lm_eval.export(kind, options, out)
        prompts = sum(len(task.documents) for task in tasks)
        typer.echo(
            f"Written: {out} ({several(len(tasks), 'task')}, {several(prompts, 'prompt')})\n"
            "Ask a model: lm-eval run --model hf --model_args pretrained=MODEL,dtype=float32 "
            f"--tasks tacit_{kind.name} --include_path {out} --output_path OUT --log_samples\n"
            f"Then measure: tacit run {kind.name} --model lm-eval:OUT/MODEL, with the same options"
        )

    return verb


app.add_typer(
    probe_group(
        "Write a probe's prompts as tasks of lm-evaluation-harness.",
        _lm_eval,
        lambda kind: (
            f"Write the prompts of the {kind.name} probe as tasks of lm-evaluation-harness.\n\n"
            "The harness asks a model with --include_path OUT and --log_samples. tacit run reads "
            "the folder of its samples as the model lm-eval:FOLDER.\n\n"
            f"Example: {example('tacit export lm-eval', kind, '--out tasks')}"
        ),
    ),
    name="lm-eval",
)
