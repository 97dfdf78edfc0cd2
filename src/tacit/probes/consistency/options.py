"""The options of the consistency probe."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - the types of options are read
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import RequestError
from tacit.knowledge.options import BackgroundOptions
from tacit.options import option

if TYPE_CHECKING:
    from collections.abc import Mapping


def of_knowledge_base(path: Path) -> Mapping[str, Any]:
    """Return a knowledge base's description of its sources, in place of a digest of the file."""
    from tacit.knowledge.base import KnowledgeBase

    with KnowledgeBase(path) as base:
        return {str(path): dict(base.about)}


@dataclass(frozen=True)
class ConsistencyOptions:
    """Options for the questions, their wording, and how answers are computed."""

    questions: Path = option(
        help="Multiple-choice questions: CommonsenseQA, or question, choices, answer."
    )
    kb: Path = option(help="A knowledge base created by tacit kb import.", data=of_knowledge_base)
    limit: int | None = option(None, help="Only the first N questions.", least=1)
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    wording: Literal["paper", "grammatical", "surface"] = option(
        "paper",
        help="Wording of facts: paper (templates as printed), grammatical, or surface (the "
        "knowledge base's own sentences).",
    )
    templates: Path | None = option(None, help="A YAML file with your own templates for relations.")
    answering: Literal["max", "count", "calibrated", "single"] = option(
        "max", help="How scores become a yes/no answer."
    )
    meta: int | None = option(None, help="With --answering single: the meta-prompt, from 1.")
    pair: str | None = option(None, help="With --answering single: the label pair, such as Yes/No.")
    anchors: str = option(
        "choice",
        help="How questions are answered: choice, verify, or both (choice,verify); the first "
        "counts.",
    )
    intervene: bool = option(
        default=False,
        help="Ask each question again behind its own facts, its negatives stated as facts, and "
        "facts of another question.",
    )
    context_facts: int | None = option(
        None,
        help="With --intervene: the most facts before a question, by weight [default: 5].",
        least=1,
    )

    def __post_init__(self) -> None:
        if self.context_facts is not None and not self.intervene:
            raise RequestError("--context-facts sets the facts of --intervene: give both")
