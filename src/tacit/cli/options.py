"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def checked(given: str | list[str] | None) -> str | list[str] | None:
    """The models as they are named, unless one is an address that may hold a key.

    Raises:
        ModelError: One is; no verb has named it yet.
    """
    from tacit.models.openai.options import check_holds_no_key

    for name in [given] if isinstance(given, str) else given or ():
        check_holds_no_key(name)
    return given


_A_MODEL = "A Hugging Face name, a model's folder, demo, or a server's address (http://…/v1)"

ModelName = Annotated[
    str,
    typer.Option("--model", help=f"{_A_MODEL}.", show_default=False, callback=checked),
]
OneModel = Annotated[str | None, typer.Option("--model", help=f"{_A_MODEL}.", callback=checked)]
BeliefsFile = Annotated[
    Path | None,
    typer.Option(
        "--beliefs", help="Beliefs asked elsewhere, in place of a model: thing, subject, …, p_true."
    ),
]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit of a model on the hub.")]
Preset = Annotated[
    str, typer.Option(help="How a question is put: plain, macaw, gpt3 or gpt3-paper.")
]
StorePath = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where scores are kept, a folder or s3://… [default: $TACIT_STORE, else .tacit].",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked and how long it would take.")
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite a file that this command did not write."),
]
Questions = Annotated[
    Path,
    typer.Option(help="Multiple-choice questions: CommonsenseQA, or question, choices, answer."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
