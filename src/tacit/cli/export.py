"""``tacit export``: write tasks and results for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tacit.cli import options as given
from tacit.cli.options import GroupedCommand, declared, group
from tacit.cli.run import example, probe_group
from tacit.english import several
from tacit.probes.base import Probe

app = group("Write prompts and results for other programs.")


def _lm_eval(kind: type[Probe]) -> Callable[..., None]:
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


RunFolders = Annotated[list[Path], typer.Argument(help="Folders of finished runs.")]


@app.command("eee", cls=GroupedCommand)
def eee(
    *,
    runs: RunFolders,
    out: Annotated[Path, typer.Option(help="Folder for the records, in which data/ is made.")],
    organization: Annotated[
        str, typer.Option(help="The organisation that made the evaluation.", show_default=False)
    ],
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        typer.Option(help="Relation of the organisation to the model."),
    ] = "third_party",
) -> None:
    """Write results and answers in the format of Every Eval Ever, version 0.3.0.

    Example: tacit export eee runs/gpt2 --organization "My laboratory" --out results
    """
    from tacit.runs.exports import eee as records
    from tacit.runs.reading import read_runs

    for path in records.export(read_runs(runs), out, organization, relationship):
        typer.echo(f"Written: {path}")


@app.command("hf", cls=GroupedCommand)
def hf(
    *,
    runs: RunFolders,
    dataset: Annotated[
        str,
        typer.Option(
            help="The benchmark on the Hugging Face hub, a dataset whose eval.yaml has the tasks.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="YAML file, for the folder .eval_results of the model's repository."),
    ],
    force: given.Force = False,
) -> None:
    """Write results as a file of evaluation results for a model's page on the Hugging Face hub.

    Example: tacit export hf runs/gpt2 --dataset ORG/BENCHMARK --out tacit.yaml
    """
    from tacit.outputs import OutputKind, check_outputs
    from tacit.runs.exports import hf as entries
    from tacit.runs.reading import read_runs

    is_own = OutputKind("a file of evaluation results", entries.is_own)
    check_outputs([run / "manifest.json" for run in runs], [(out, is_own)], force=force)
    number = entries.export(read_runs(runs), dataset, out)
    typer.echo(f"Written: {out} ({several(number, 'result')})")
