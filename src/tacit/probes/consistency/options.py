"""The options of the consistency probe."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - the types of options are read
from typing import TYPE_CHECKING, Any, Literal

from tacit.knowledge.options import BackgroundOptions
from tacit.options import option

if TYPE_CHECKING:
    from collections.abc import Mapping


def _of_knowledge_base(path: Path) -> Mapping[str, Any]:
    """What a knowledge base says of its sources."""
    from tacit.knowledge.base import KnowledgeBase

    with KnowledgeBase(path) as base:
        return {str(path): dict(base.about)}


@dataclass(frozen=True)
class ConsistencyOptions:
    """What is asked about, how it is put, and how answers are read."""

    questions: Path = option(
        help="Multiple-choice questions: CommonsenseQA, or question, choices, answer."
    )
    kb: Path = option(
        help="A knowledge base's file, that tacit kb import made.", data=_of_knowledge_base
    )
    limit: int | None = option(None, help="Only the first so many questions.", least=1)
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    wording: Literal["paper", "grammatical"] = option(
        "paper", help="How facts are put: paper (as printed) or grammatical."
    )
    templates: Path | None = option(
        None, help="YAML: relations of your own, or other words for ours."
    )
    answering: Literal["max", "count", "calibrated", "single"] = option(
        "max", help="How a yes/no question is answered."
    )
    meta: int | None = option(None, help="With --answering single: the meta-prompt, from 1.")
    pair: str | None = option(None, help="With --answering single: a pair such as Yes/No.")
    anchors: str = option(
        "choice",
        help="How questions are answered: choice, verify, or both (choice,verify); the first "
        "counts.",
    )
