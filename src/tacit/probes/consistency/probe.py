"""The consistency probe, which tests whether background knowledge predicts correct answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.block import Block
from tacit.findings.display import Details
from tacit.findings.findings import Findings
from tacit.knowledge.background import Background
from tacit.probes.base import Answers, Probe, Requests
from tacit.probes.consistency import HEADLINES, TABLES, questions
from tacit.probes.consistency.options import ConsistencyOptions, Method
from tacit.probes.consistency.questions import (
    BACKGROUND,
    BY_CHOICE,
    CHOICE,
    PRIOR,
    VERIFY,
    Query,
)
from tacit.probes.consistency.template import Templates, load_templates
from tacit.probes.consistency.wording import wording
from tacit.requests import Prompt
from tacit.sources.questions import Anchor

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.measure import Measure
    from tacit.probes.consistency.intervention import Contexts


@dataclass(frozen=True)
class ConsistencyProbe(Probe):
    """A probe that asks anchor questions, and yes/no questions about background facts."""

    name = "consistency"
    summary = (
        "Test whether knowing a question's background facts predicts a correct answer to the "
        "question."
    )
    Options = ConsistencyOptions
    question = (
        "Does knowing a question's background facts predict a correct answer to the question? "
        "(Sahu et al. 2022)"
    )
    tables = TABLES
    headlines = HEADLINES
    figures = "tacit.probes.consistency.figures:FIGURES"
    filters = ("concept",)

    options: ConsistencyOptions
    anchors: Sequence[Anchor]
    background: Background
    templates: Templates = field(default_factory=load_templates)

    @classmethod
    def of(cls, options: ConsistencyOptions) -> Self:
        from tacit.sources.questions import read_anchors

        anchors = read_anchors(options.questions)[: options.limit]
        unlabelled = [anchor.id for anchor in anchors if anchor.answer is None]
        if unlabelled:
            raise RequestError(
                f"{several(len(unlabelled), 'question has', 'questions have')} no correct answer "
                f"(the first is {unlabelled[0]}): the probe requires one for each question"
            )
        made = cls.about(options, anchors)
        made.background.check_facts()
        return made

    @classmethod
    def about(cls, options: ConsistencyOptions, anchors: Sequence[Anchor]) -> Self:
        from tacit.knowledge.background import background
        from tacit.knowledge.base import KnowledgeBase
        from tacit.knowledge.words import spare_torch

        templates = load_templates(options.templates)
        spare_torch(options.background.tagger)
        with KnowledgeBase(options.kb) as base:
            texts = [(anchor.question, *anchor.choices) for anchor in anchors]
            topics = [anchor.concept for anchor in anchors]
            extracted = background(base, texts, options.background, topics=topics, tails=True)
        return cls(options, anchors, extracted, templates)

    def __post_init__(self) -> None:
        # Raise on missing templates, meta-prompts or pairs before any model call.
        _ = self.asked, self.variants, self.choice_variants, self.contexts

    @cached_property
    def asked(self) -> questions.BackgroundQuestions:
        """The distinct facts, with questions about each fact and its negative (false version)."""
        ids = [anchor.id for anchor in self.anchors]
        worded = wording(self.options.wording)
        return questions.BackgroundQuestions.of(self.background.facts, ids, self.templates, worded)

    @property
    def anchoring(self) -> list[str]:
        """The groups of prompts that answer anchor questions; results come from the first."""
        return self.options.anchors.split(",")

    @property
    def version(self) -> str:
        return self.options.background.paper_version

    @cached_property
    def method(self) -> Method:
        options, templates = self.options, self.templates
        if options.fast and options.answering == "max":
            last = len(templates.of_version(self.version))
            return Method("single", last, "/".join(templates.pairs[0]))
        return Method(options.answering, options.meta, options.pair)

    @cached_property
    def variants(self) -> tuple[questions.PromptVariant, ...]:
        """The prompt variants in which yes/no questions are asked."""
        every, pairs = questions.prompt_variants(self.templates, self.version), self.templates.pairs
        meta, pair = self.method.meta, self.method.pair
        if meta is None or pair is None:
            return every
        if pair not in (labels := ["/".join(each) for each in pairs]):
            raise RequestError(
                f"there is no label pair {pair}; expected one of {', '.join(labels)}"
            )
        if not (own := questions.single(every, meta, pair)):
            metas = ", ".join(map(str, sorted({one.meta for one in every})))
            raise RequestError(f"there is no meta-prompt {meta}; expected one of {metas}")
        return own

    @cached_property
    def choice_variants(self) -> tuple[questions.PromptVariant, ...]:
        """The prompt variants of anchor questions in which the choices are scored as answers."""
        every = questions.choice_variants(self.templates, self.version)
        meta, pair = self.method.meta, self.method.pair
        if not self.options.fast or meta is None or pair is None:
            return every
        own = questions.single(every, meta, pair)
        if not own and CHOICE in self.anchoring:
            raise RequestError(
                f"meta-prompt {meta} asks for a truth value, so choices cannot be scored after it: "
                "give another --meta, or use --anchors verify"
            )
        return own

    @cached_property
    def contexts(self) -> Contexts | None:
        """The contexts (stated facts) of the anchor questions; None if no facts are stated."""
        from tacit.probes.consistency.intervention import MOST_FACTS, Contexts

        if not self.options.intervene:
            return None
        most, seed = self.options.context_facts or MOST_FACTS, self.options.background.seed
        return Contexts(self.anchors, self.background, self.templates, most, seed)

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts of all groups, in the order of ``requests``."""
        groups = self.requests().values()
        return [one for group in groups for one in group.requests if isinstance(one, Prompt)]

    def requests(self) -> Mapping[str, Requests]:
        return self._requests

    @cached_property
    def _requests(self) -> Mapping[str, Requests]:
        facts = (Query({"question": text}, text) for text in self.asked.texts)
        groups = {BACKGROUND: questions.requests_of(facts, self.variants, "question")}
        for group in (CHOICE, PRIOR, VERIFY):
            if group in self.anchoring or (group == PRIOR and CHOICE in self.anchoring):
                of = questions.about_anchors(group, self.anchors, self.templates)
                groups[group] = self._about_anchors(group, of)
        if self.contexts is not None:
            for condition in self.contexts.texts:
                of = self.contexts.queries(self.anchoring[0], condition)
                groups[questions.in_context(condition)] = self._about_anchors(self.anchoring[0], of)
        return groups

    def _about_anchors(self, group: str, asked: Iterable[Query]) -> Requests:
        if group == VERIFY:
            return questions.requests_of(asked, self.variants, *BY_CHOICE)
        # Questions with the same choices share the prompts for the choices' prior.
        return questions.requests_of(asked, self.choice_variants, "anchor", repeats=group == PRIOR)

    def check_replies(self, *, sampled: bool) -> None:
        if CHOICE in self.anchoring:
            raise RequestError(
                "chat replies cannot score the choices of a question as texts: use --anchors "
                "verify, which asks for each choice whether it is the answer"
            )
        if sampled and self.method.preset == "calibrated":
            raise RequestError(
                "--answering calibrated subtracts mean log-probabilities, which sampled replies do "
                "not provide: use --answering max (all replies together), count or single"
            )

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from scores, or from the votes of sampled replies."""
        from tacit.probes.consistency.results import findings

        if answers.sampled:
            self.check_replies(sampled=True)
        return findings(self, answers)

    @staticmethod
    def block(findings: Findings) -> Block:
        from tacit.probes.consistency.block import block

        return block(findings)

    @staticmethod
    def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[Details]:
        from tacit.probes.consistency.details import details

        return details(findings, request, most)

    @staticmethod
    def sides(findings: Findings) -> Mapping[str, pl.DataFrame]:
        """Return the answers to background questions and to anchor questions."""
        import polars as pl

        yes = pl.col("right") == (pl.col("expected") == "yes")
        of_facts, anchors = (findings.tables[name] for name in ("fact_answers", "anchors"))
        return {
            "background question": of_facts.select("fact", "expected", "right", side=yes),
            "anchor question": anchors.select("cluster", "anchor", "right", side="choice"),
        }

    @staticmethod
    def measures(found: Mapping[str, Findings]) -> Sequence[Measure]:
        from tacit.probes.consistency.measures import measures

        return measures(found)
