"""The options of the consistency probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tacit.errors import RequestError
from tacit.knowledge.options import BackgroundOptions
from tacit.options import option
from tacit.sources.fetching import fetched

Preset = Literal["max", "single", "count", "calibrated", "votes"]


@dataclass(frozen=True)
class Method:
    """A method of answering yes/no questions; ``votes`` is ``max`` for sampled replies.

    ``pair`` is a label pair, such as ``Yes/No``.
    """

    preset: Preset = "max"
    meta: int | None = None
    pair: str | None = None

    def __post_init__(self) -> None:
        wanted = self.preset == "single"
        if (self.meta is not None) != wanted or (self.pair is not None) != wanted:
            raise RequestError(
                "the answering method single requires a meta-prompt (--meta) and a label pair "
                "(--pair); other methods accept neither"
            )

    def of_replies(self) -> Method:
        return replace(self, preset="votes") if self.preset == "max" else self


def of_knowledge_base(path: Path) -> Mapping[str, Any]:
    """Return a knowledge base's metadata, which a run records instead of a file hash."""
    from tacit.knowledge.base import KnowledgeBase

    with KnowledgeBase(path) as base:
        return {str(path): dict(base.about)}


@dataclass(frozen=True)
class ConsistencyOptions:
    """Options for the questions, the wording of facts, and the methods of answering."""

    questions: Path = option(
        help="A file of multiple-choice questions: CommonsenseQA or another published data set, or "
        "a table with the columns question, choices and answer [default: the development split of "
        "commonsenseqa, which tacit get fetches].",
        absent=fetched("commonsenseqa", "dev_rand_split.jsonl"),
    )
    kb: Path = option(help="A knowledge base that tacit kb import created.", data=of_knowledge_base)
    limit: int | None = option(
        None, help="Use only the first N anchor questions, with all their facts.", least=1
    )
    fast: bool = option(
        default=False,
        help="Ask every question in a single prompt variant: the one that --answering single "
        "names, or else the last meta-prompt with the first pair of answer words. This is not the "
        "method of Sahu et al. 2022.",
    )
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    wording: Literal["paper", "grammatical"] = option(
        "paper",
        help="Wording of facts: paper (the templates of Sahu et al. 2022 as printed) or "
        "grammatical (these templates with correct grammar).",
        rare=True,
    )
    templates: Path | None = option(
        None,
        help="A YAML file with your own templates that turn the facts of a relation into text.",
        rare=True,
    )
    answering: Literal["max", "count", "calibrated", "single"] = option(
        "max",
        help="How scores are converted to a yes/no answer: max (the prompt variant with the "
        "highest score decides), count (the majority of prompt variants decides), calibrated (like "
        "max, after the mean score of each variant is subtracted) or single (one given variant "
        "decides, and yes/no questions are asked in no other).",
        rare=True,
    )
    meta: int | None = option(
        None,
        help="With --answering single: the number of the meta-prompt, from 1.",
        rare=True,
    )
    pair: str | None = option(
        None, help="With --answering single: the label pair, such as Yes/No.", rare=True
    )
    anchors: Literal["choice", "verify", "choice,verify", "verify,choice"] = option(
        "choice",
        help="How anchor questions are answered: choice (the model scores every choice), verify "
        "(the model is asked whether each choice is the answer) or both; results come from the "
        "first.",
        rare=True,
    )
    intervene: bool = option(
        default=False,
        help="Ask each anchor question three more times, each time with different facts in the "
        "prompt: the question's own facts, their negatives (false versions of the facts), or "
        "another question's facts.",
    )
    context_facts: int | None = option(
        None,
        help="With --intervene: maximum number of facts that a prompt contains before the "
        "question; the facts with the highest weight are used [default: 5].",
        least=1,
        rare=True,
    )

    def __post_init__(self) -> None:
        if self.fast and self.answering not in {"max", "single"}:
            raise RequestError(
                f"--answering {self.answering} combines prompt variants, and --fast asks one: "
                "leave one of the two out"
            )
        if self.context_facts is not None and not self.intervene:
            raise RequestError("--context-facts sets the facts of --intervene: give both")
