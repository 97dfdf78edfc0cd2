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
from tacit.probes.consistency import (
    answer_tables,
    background,
    consistency,
    intervention,
    prediction,
)
from tacit.probes.consistency.answers import (
    ModelAnswers,
    anchor_answers,
    labelled,
    scores_of_choices,
    yes_or_no,
)
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.block import block, verdict_of
from tacit.probes.consistency.contexts import MOST_FACTS, ContextChoice, Contexts
from tacit.probes.consistency.controls import Controls
from tacit.probes.consistency.details import details
from tacit.probes.consistency.features import by_choice, features
from tacit.probes.consistency.figures import FIGURES
from tacit.probes.consistency.measures import measures
from tacit.probes.consistency.negative_examples import negative_examples
from tacit.probes.consistency.no_knowledge import no_knowledge
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.questions import (
    BACKGROUND,
    CHOICE,
    VERIFY,
    Asked,
    Questions,
    in_context,
)
from tacit.probes.consistency.reading import Reading
from tacit.probes.consistency.summary import counts, intervals, score_counts
from tacit.probes.consistency.tables import HEADLINES, TABLES
from tacit.probes.consistency.variants import background_variants
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import FigureSpec, Headline, TableSpec
    from tacit.knowledge.background import Background
    from tacit.probes.base import Answers, Requests
    from tacit.probes.consistency.questions import PromptVariant
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording
    from tacit.requests import Prompt
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
    figures: ClassVar[Mapping[str, FigureSpec]] = FIGURES
    filters: ClassVar[tuple[str, ...]] = ("relation", "concept")
    block = staticmethod(block)
    details = staticmethod(details)
    measures = staticmethod(measures)

    anchors: Sequence[Anchor]
    background: Background
    templates: Templates
    wording: Wording
    version: str = "review-lexicon"
    reading: Reading = field(default_factory=Reading)
    context: ContextChoice | None = None

    @classmethod
    def of(cls, options: ConsistencyOptions) -> Self:
        """Create the probe from its options; see ``Probe.of``."""
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
        """Create the probe for given anchor questions."""
        from tacit.knowledge.background import background
        from tacit.knowledge.base import KnowledgeBase
        from tacit.knowledge.words import spare_torch
        from tacit.probes.consistency.template import load_templates
        from tacit.probes.consistency.wording import wording

        worded, templates = wording(options.wording), load_templates(options.templates)
        reading = Reading.of(options, templates)
        extraction = options.background.extraction()
        spare_torch(options.background.tagger)
        with KnowledgeBase(options.kb) as base:
            texts = [(anchor.question, *anchor.choices) for anchor in anchors]
            topics = [anchor.concept for anchor in anchors]
            found = background(base, texts, extraction, topics=topics, tails=True)
        version = options.background.paper_version
        context = None
        if options.intervene:
            context = ContextChoice(options.context_facts or MOST_FACTS, options.background.seed)
        return cls(anchors, found, templates, worded, version, reading, context)

    def __post_init__(self) -> None:
        # Raise on missing templates, meta-prompts or pairs before any model call.
        _ = self.asked, self.variants, self.choice_variants, self.contexts

    @cached_property
    def asked(self) -> Asked:
        """The distinct facts, with questions about each fact and its negative (false version)."""
        return Asked.of(self.background.facts, self.templates, self.wording)

    @cached_property
    def variants(self) -> tuple[PromptVariant, ...]:
        """The prompt variants in which yes/no questions are asked."""
        return self.reading.variants(self.templates, self.version)

    @cached_property
    def choice_variants(self) -> tuple[PromptVariant, ...]:
        """The prompt variants of anchor questions in which the choices are scored as answers."""
        return self.reading.choice_variants(self.templates, self.version)

    @cached_property
    def contexts(self) -> Contexts | None:
        """The contexts (stated facts) of the anchor questions; None if no facts are stated."""
        if self.context is None:
            return None
        return Contexts(self.anchors, self.background, self.templates, self.context)

    @cached_property
    def questions(self) -> Questions:
        """All that is asked."""
        return Questions(
            self.asked,
            self.anchors,
            self.variants,
            self.choice_variants,
            self.templates,
            self.reading.anchoring,
            self.contexts,
        )

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts of all groups, in the order of ``requests``."""
        return [one for prompts in self.questions.prompts.values() for one in prompts]

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests by the name of the prompt group; see ``Probe.requests``."""
        return self.questions.requests

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from scores, or from the votes of sampled replies."""
        if answers.sampled:
            self.check_replies(sampled=True)
        scores = self.scored(answers)
        found = self.answered(scores)
        predicted = prediction.Rows.of(features(found), found.anchors)
        answered = background.answered(found.facts, found.links, found.anchors)
        tables = self._tables(scores, found, answered) | prediction.tables(predicted, Bootstrap())
        every = [one for name in answers.groups for one in answers.votes(name)]
        summary = {
            "verdict": verdict_of(answered, tables).to_json(),
            "prompts": sum(len(group.requests) for group in self.requests().values()),
            **counts(found),
            **({"votes": votes_summary(every)} if answers.sampled else score_counts(scores)),
            **self._how(tables),
            "predictor": prediction.summary(predicted),
        }
        return Findings(answer_tables.questions(scores[BACKGROUND]), tables, summary)

    def check_replies(self, *, sampled: bool) -> None:
        """Raise an error if the probe's options are incompatible with replies of chat models."""
        if "choice" in self.reading.anchoring:
            raise RequestError(
                "chat replies cannot score the choices of a question as texts: use --anchors "
                "verify, which asks for each choice whether it is the answer"
            )
        if sampled and self.reading.method.preset == "calibrated":
            raise RequestError(
                "--answering calibrated subtracts mean log-probabilities, which sampled replies do "
                "not provide: use --answering max (all replies together), count or single"
            )

    def scored(self, answers: Answers) -> dict[str, pl.DataFrame]:
        """Return the scores or votes of each group of prompts."""
        return {
            name: labelled(answers.frame(name), self.templates.pairs)
            if {"question", "choice"} & set(group.keys.columns)
            else scores_of_choices(answers.frame(name))
            for name, group in answers.groups.items()
        }

    def answered(self, scores: Mapping[str, pl.DataFrame]) -> ModelAnswers:
        """Return the model's answers to the questions about facts and to the anchor questions."""
        words, how = scores[BACKGROUND], self.reading.method
        sampled = "unparsed" in words.columns
        how = how.of_replies() if sampled else how
        known = yes_or_no(words, how)
        if sampled:
            known = answer_tables.with_votes(known, words, how)
        facts = answer_tables.facts(self.asked.facts, known)
        links, way = self.asked.links, self.reading.anchoring[0]
        anchors = answer_tables.anchors(
            self.anchors,
            background.by_anchor(links, facts),
            mean_zipf(self.background.concepts, len(self.anchors)),
            {name: anchor_answers(scores[name]) for name in self.reading.anchoring},
        )
        return ModelAnswers(known, facts, links, anchors, by_choice(self.anchors, scores, way))

    def _tables(
        self, scores: Mapping[str, pl.DataFrame], found: ModelAnswers, answered: pl.DataFrame
    ) -> dict[str, pl.DataFrame]:
        """Compute all tables of findings but those on prediction."""
        how, bootstrap = Permutations(), Bootstrap()
        facts, links, anchors = found.facts, found.links, found.anchors
        relations = background.by_relation(facts, bootstrap)
        tables = {
            "facts": facts,
            "links": links,
            "anchors": anchors,
            "choices": answer_tables.choices(self.anchors, scores.get(CHOICE)),
            "consistency": consistency.overall(anchors, how),
            "adjusted": consistency.adjusted(anchors, how),
            "controls": Controls(self.anchors, self.background, facts, links, anchors).table(how),
            "consistency_by_relation": consistency.by_relation(anchors, links, facts, how),
            "consistency_by_concept": consistency.by_concept(anchors, links, facts, how),
            "background_by_relation": relations,
            "background_score": background.overall(relations, anchors),
            "anchor_accuracy": background.anchor_accuracy(anchors, bootstrap),
            "relevance": background.relevance(facts, links, anchors, how),
            "background_variants": background_variants(
                scores[BACKGROUND], self.asked, anchors["right"]
            ),
            "background_answers": background.background_answers(answered, bootstrap),
            "accuracy_by_score": consistency.accuracy_by_score(anchors, bootstrap),
            "anchor_baselines": anchor_baselines(self.anchors, found.choices, anchors, bootstrap),
            "negative_examples": negative_examples(facts),
        }
        if VERIFY in scores:
            tables["verifications"] = answer_tables.verifications(self.anchors, scores[VERIFY])
        if self.background.tails is not None:
            tables["no_knowledge"] = no_knowledge(self.background.tails, facts, bootstrap)
        if self.contexts is not None:
            chosen = {
                name: anchor_answers(scores[in_context(name)]) for name in self.contexts.texts
            }
            tables |= intervention.tables(self.contexts, chosen, facts, anchors)
        return tables

    def _how(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
        """Return for the summary how the facts were found, stated and asked about."""
        found: dict[str, Any] = {
            "repeated_choices": sum(anchor.repeated for anchor in self.anchors),
            "intervals": intervals(Permutations(), Bootstrap()),
        }
        if self.background.counts is not None:
            found |= asdict(self.background.counts)
        if self.reading.fast:
            method = self.reading.method
            found["fast"] = (
                "every question is asked in one prompt variant alone (meta-prompt "
                f"{method.meta}, {method.label})"
            )
        if self.contexts is not None:
            found["intervention"] = intervention.summary(
                self.contexts, self.reading.anchoring[0], tables["intervention"]
            )
        return found
