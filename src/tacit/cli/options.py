"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def checked(given: str | list[str] | None) -> str | list[str] | None:
    """The models as they are named, unless one is an address that may hold a key.

    Raises:
        ModelError: One is; no verb has named it yet.
    """
    from tacit.models.server.address import check_holds_no_key

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
NormsFile = Annotated[
    Path, typer.Option("--norms", help="CSLB's norms.dat, McRae's file, or concept, feature, pf.")
]
Corrections = Annotated[
    Path | None,
    typer.Option(help="Your own wordings: a table or YAML with concept, feature, wording."),
]
LeastPeople = Annotated[int, typer.Option(min=0, help="Only properties that so many people named.")]
ConceptLimit = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many concepts that are left.")
]
MostWords = Annotated[
    int | None, typer.Option(min=1, help="Retrieval: only properties of at most so many words.")
]
LeastProperties = Annotated[
    int, typer.Option(min=1, help="Retrieval: only concepts with so many usable properties.")
]
ArticleRule = Annotated[
    Literal["fixed", "candidate"],
    typer.Option(help="Retrieval: A for all, or each candidate's own, scored with it."),
]
ConceptPreset = Annotated[
    Literal["paper", "tagged", "all"],
    typer.Option(
        "--concepts",
        help="paper: without seal_(animal) and the like; tagged: the tag is stripped; all: also "
        "several words, in elicitation.",
    ),
]
ResponsePreset = Annotated[
    Literal["people", "feature", "first"],
    typer.Option(
        "--responses",
        help="Elicitation: alternatives with the number of people who gave each, all with that of "
        "the feature, or the feature's first wording.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
