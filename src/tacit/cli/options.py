"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelName = Annotated[
    str,
    typer.Option(
        "--model", help="A Hugging Face name, a model's folder, or demo.", show_default=False
    ),
]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit of a model on the hub.")]
Dtype = Annotated[
    str,
    typer.Option(help="auto (float32 on a CPU, else as stored), float32, bfloat16 or float16."),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")]
BatchTokens = Annotated[
    int | None, typer.Option(help="Tokens in one forward pass; the default goes by the device.")
]
MaskedMode = Annotated[
    str,
    typer.Option(
        help="How a masked model scores answers of several tokens: left-to-right or one-at-a-time."
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option("--store", help="Where scores are kept [default: $TACIT_STORE, else .tacit]."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked and how long it would take.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
