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
    """Return what a knowledge base records about its sources, used instead of a file digest."""
    from tacit.knowledge.base import KnowledgeBase

    with KnowledgeBase(path) as base:
        return {str(path): dict(base.about)}


@dataclass(frozen=True)
class ConsistencyOptions:
    """Options for the questions, the wording of facts, and the derivation of answers."""

    questions: Path = option(
        help="A file of multiple-choice questions: CommonsenseQA or another published data set, "
        "or a table with question, choices and answer."
    )
    kb: Path = option(help="A knowledge base created by tacit kb import.", data=of_knowledge_base)
    limit: int | None = option(None, help="Use only the first N questions.", least=1)
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    wording: Literal["paper", "grammatical", "surface"] = option(
        "paper",
        help="Wording of facts: paper (the paper's templates as printed), grammatical (these "
        "templates with correct grammar), or surface (the knowledge base's own sentences).",
    )
    templates: Path | None = option(None, help="A YAML file with your own templates for relations.")
    answering: Literal["max", "count", "calibrated", "single"] = option(
        "max",
        help="How scores become a yes/no answer: max (the prompt variant with the highest score "
        "decides), count (the majority of variants decides), calibrated (as max, after each "
        "variant's mean is subtracted) or single (one variant).",
    )
    meta: int | None = option(
        None, help="With --answering single: the number of the meta-prompt, from 1."
    )
    pair: str | None = option(None, help="With --answering single: the label pair, such as Yes/No.")
    anchors: str = option(
        "choice",
        help="How questions are answered: choice (every choice is scored), verify (for each "
        "choice, the model is asked whether it is the answer), or both (choice,verify); results "
        "use the method that is named first.",
    )
    intervene: bool = option(
        default=False,
        help="Repeat each question with facts in the prompt: its own facts, their negatives "
        "stated as facts, and another question's facts.",
    )
    context_facts: int | None = option(
        None,
        help="With --intervene: maximum number of facts before a question, those of the highest "
        "weight [default: 5].",
        least=1,
    )

    def __post_init__(self) -> None:
        if self.context_facts is not None and not self.intervene:
            raise RequestError("--context-facts sets the facts of --intervene: give both")
