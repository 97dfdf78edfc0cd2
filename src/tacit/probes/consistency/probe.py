"""The consistency probe, which tests whether background knowledge predicts correct answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.findings import Findings, votes_summary
from tacit.knowledge.frequency import mean_zipf
from tacit.probes.base import Probe
from tacit.probes.consistency import background, consistency, intervention, predictors, questions
from tacit.probes.consistency.answers import (
    BY_CHOICE,
    Method,
    ModelAnswers,
    anchor_answers,
    anchors_with_answers,
    answers_about_facts,
    labelled,
    score_tables,
    scored_words,
    scores_of_choices,
)
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.block import block, verdict_of
from tacit.probes.consistency.controls import Controls
from tacit.probes.consistency.details import details, negative_examples
from tacit.probes.consistency.features import by_choice, features
from tacit.probes.consistency.intervention import MOST_FACTS, Contexts
from tacit.probes.consistency.measures import measures
from tacit.probes.consistency.no_knowledge import no_knowledge
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.questions import BACKGROUND, CHOICE, PRIOR, VERIFY, Question
from tacit.probes.consistency.summary import counts, intervals, score_counts
from tacit.probes.consistency.tables import HEADLINES, TABLES
from tacit.probes.consistency.template import Templates, load_templates
from tacit.probes.consistency.variants import background_variants
from tacit.probes.consistency.wording import wording
from tacit.requests import Prompt
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Headline, TableSpec
    from tacit.knowledge.background import Background
    from tacit.probes.base import Answers, Requests
    from tacit.sources.anchors import Anchor


@dataclass(frozen=True)
class ConsistencyProbe(Probe):
    """A probe that asks anchor questions, and yes/no questions about background facts."""

    name: ClassVar[str] = "consistency"
    summary: ClassVar[str] = (
        "Test whether knowing a question's background facts predicts a correct answer to the "
        "question."
    )
    Options: ClassVar[type[ConsistencyOptions]] = ConsistencyOptions
    title: ClassVar[str] = "Consistency"
    question: ClassVar[str] = (
        "Does knowing a question's background facts predict a correct answer to the question? "
        "(Sahu et al. 2022)"
    )
    tables: ClassVar[Mapping[str, TableSpec]] = TABLES
    headlines: ClassVar[tuple[Headline, ...]] = HEADLINES
    figures = "tacit.probes.consistency.figures:FIGURES"
    filters: ClassVar[tuple[str, ...]] = ("relation", "concept")
    block = staticmethod(block)
    details = staticmethod(details)
    measures = staticmethod(measures)

    options: ConsistencyOptions
    anchors: Sequence[Anchor]
    background: Background
    templates: Templates = field(default_factory=load_templates)

    @classmethod
    def of(cls, options: ConsistencyOptions) -> Self:
        from tacit.sources.anchors import read_anchors

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
        extraction = options.background.extraction()
        spare_torch(options.background.tagger)
        with KnowledgeBase(options.kb) as base:
            texts = [(anchor.question, *anchor.choices) for anchor in anchors]
            topics = [anchor.concept for anchor in anchors]
            found = background(base, texts, extraction, topics=topics, tails=True)
        return cls(options, anchors, found, templates)

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
        facts = (Question({"question": text}, text) for text in self.asked.texts)
        groups = {BACKGROUND: questions.requests_of(facts, self.variants, "question")}
        for group in (CHOICE, PRIOR, VERIFY):
            if group in self.anchoring or (group == PRIOR and CHOICE in self.anchoring):
                of = questions.about_anchors(group, self.anchors, self.templates)
                groups[group] = self._about_anchors(group, of)
        if self.contexts is not None:
            for condition in self.contexts.texts:
                of = self.contexts.questions(self.anchoring[0], condition)
                groups[questions.in_context(condition)] = self._about_anchors(self.anchoring[0], of)
        return groups

    def _about_anchors(self, group: str, asked: Iterable[Question]) -> Requests:
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
        if answers.sampled:
            self.check_replies(sampled=True)
        scores = self.scored(answers)
        found = self.answered(scores)
        yes = background.answered(found)
        rows = predictors.Rows.of(features(found), found.anchors)
        tables = self._tables(scores, found, yes) | predictors.tables(rows, Bootstrap())
        every = [one for name in answers.groups for one in answers.votes(name)]
        summary = {
            "verdict": verdict_of(yes, tables).to_json(),
            "prompts": len(self.prompts),
            **counts(found),
            **({"votes": votes_summary(every)} if answers.sampled else score_counts(scores)),
            **self._how(tables),
            "predictor": predictors.summary(rows),
        }
        asked = TABLES["questions"].frame(scored_words(scores[BACKGROUND], "question"))
        return Findings(asked, tables, summary)

    def scored(self, answers: Answers) -> dict[str, pl.DataFrame]:
        return {
            name: labelled(answers.frame(name), self.templates.pairs)
            if {"question", "choice"} & set(group.keys.columns)
            else scores_of_choices(answers.frame(name))
            for name, group in answers.groups.items()
        }

    def answered(self, scores: Mapping[str, pl.DataFrame]) -> ModelAnswers:
        links, first = self.asked.links, self.anchoring[0]
        about_facts = answers_about_facts(self.asked.questions, scores[BACKGROUND], self.method)
        linked = links.join(about_facts, on="fact", maintain_order="left")
        frequency = mean_zipf(self.background.concepts, len(self.anchors))
        anchors, others = anchors_with_answers(
            questions.anchor_frame(self.anchors).with_columns(frequency=frequency),
            background.by_anchor(linked),
            {group: anchor_answers(scores[group]) for group in self.anchoring},
        )
        choices = by_choice(self.anchors, scores, first)
        return ModelAnswers(self.asked.facts, links, about_facts, anchors, choices, others)

    def _tables(
        self, scores: Mapping[str, pl.DataFrame], found: ModelAnswers, yes: pl.DataFrame
    ) -> dict[str, pl.DataFrame]:
        """Compute all tables of findings but those on prediction."""
        how, bootstrap = Permutations(), Bootstrap()
        anchors = found.anchors
        relations = background.by_relation(found, bootstrap)
        tables = {
            "facts": found.facts,
            "fact_answers": found.fact_answers,
            "links": found.links,
            "anchors": anchors,
            **score_tables(scores),
            "consistency": consistency.overall(anchors, how),
            "adjusted": consistency.adjusted(anchors, how),
            "controls": Controls(self.anchors, self.background, found).table(how),
            "consistency_by_relation": consistency.by_relation(found, how),
            "consistency_by_concept": consistency.by_concept(found, how),
            "background_by_relation": relations,
            "background_score": background.overall(relations, anchors),
            "anchor_accuracy": background.anchor_accuracy(anchors, bootstrap),
            "relevance": background.relevance(found, how),
            "background_variants": background_variants(scores[BACKGROUND], found),
            "background_answers": background.background_answers(yes, bootstrap),
            "accuracy_by_score": consistency.accuracy_by_score(anchors, bootstrap),
            "anchor_baselines": anchor_baselines(self.anchors, found, bootstrap),
            "negative_examples": negative_examples(found),
        }
        if found.others is not None:
            tables["other_answers"] = found.others
        if self.background.tails is not None:
            tables["no_knowledge"] = no_knowledge(self.background.tails, found, bootstrap)
        if self.contexts is not None:
            texts = self.contexts.texts
            chosen = {name: anchor_answers(scores[questions.in_context(name)]) for name in texts}
            tables |= intervention.tables(self.contexts, chosen, found)
        return tables

    def _how(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
        """Return for the summary how the facts were found, stated and asked about."""
        found: dict[str, Any] = {
            "repeated_choices": sum(anchor.repeated for anchor in self.anchors),
            "intervals": intervals(Permutations(), Bootstrap()),
        }
        if self.background.counts is not None:
            found |= asdict(self.background.counts)
        if self.options.fast:
            found["fast"] = (
                "every question is asked in one prompt variant alone (meta-prompt "
                f"{self.method.meta}, {self.method.pair})"
            )
        if self.contexts is not None:
            found["intervention"] = intervention.summary(
                self.contexts, self.anchoring[0], tables["intervention"]
            )
        return found
