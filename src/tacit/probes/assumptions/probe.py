"""The assumptions probe: build requests from feature norms, and compute the findings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.assumptions import averages, ranks
from tacit.probes.assumptions.block import block, standing
from tacit.probes.assumptions.details import details
from tacit.probes.assumptions.elicitation import Eliciting, elicit
from tacit.probes.assumptions.figures import FIGURES
from tacit.probes.assumptions.measures import different_questions, measures
from tacit.probes.assumptions.options import AssumptionsOptions, vocabulary_file
from tacit.probes.assumptions.prince import Prince
from tacit.probes.assumptions.properties import all_removed, choose_concepts, word_properties
from tacit.probes.assumptions.retrieval import (
    FOUR_ORDERS,
    TIES,
    Retrieval,
    has_ties,
    random_baseline,
)
from tacit.probes.assumptions.tables import HEADLINES, TABLES
from tacit.probes.assumptions.vocabulary import Words
from tacit.probes.base import Answered, Answers, Probe, Requests
from tacit.requests import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import FigureSpec, Headline, TableSpec
    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.elicitation import Elicitation
    from tacit.probes.assumptions.properties import Chosen, WordedNorms
    from tacit.probes.assumptions.retrieval import Order
    from tacit.probes.base import ModelWords
    from tacit.requests import Ranking
    from tacit.sources.norms import Norms

FAST = "properties stand in the main order alone, and only after “Everyone knows that”"
"""How a fast run departs from Weir et al. (2020)."""


@dataclass(frozen=True)
class Assumptions(Probe):
    """The assumptions probe for several models: concept retrieval and property elicitation."""

    name: ClassVar[str] = "assumptions"
    summary: ClassVar[str] = (
        "Test whether a model shares people's stereotypic tacit assumptions about everyday "
        "concepts."
    )
    title: ClassVar[str] = "Assumptions"
    question: ClassVar[str] = (
        "Does the model share people's stereotypic tacit assumptions about concepts? "
        "(Weir et al. 2020)"
    )
    Options: ClassVar[type[AssumptionsOptions]] = AssumptionsOptions
    tables: ClassVar[Mapping[str, TableSpec]] = TABLES
    headlines: ClassVar[Sequence[Headline]] = HEADLINES
    figures: ClassVar[Mapping[str, FigureSpec]] = FIGURES
    filters: ClassVar[tuple[str, ...]] = ("relation", "concept")
    ranks_vocabulary: ClassVar[bool] = True
    block = staticmethod(block)
    details = staticmethod(details)
    measures = staticmethod(measures)
    different_questions = staticmethod(different_questions)

    norms: Norms
    options: AssumptionsOptions
    words: Vocabulary | None = None
    """The candidates of retrieval, if they come from a file."""
    corrections: Sequence[Correction] = ()

    @classmethod
    def of(cls, options: AssumptionsOptions) -> Self:
        """Build the probe from options; see ``Probe.of``."""
        from tacit.knowledge.words import spare_torch
        from tacit.probes.assumptions.vocabulary import read_words
        from tacit.sources.norms import read_norms

        spare_torch(None)
        if options.articles == "candidate" and options.vocabulary != "concepts":
            raise RequestError(
                "--articles candidate scores every candidate separately with its article, which is "
                "feasible only for a short list: add --vocabulary concepts"
            )
        file = vocabulary_file(options.vocabulary)
        words = read_words(file) if file else None
        return cls(read_norms(options.norms), options, words, options.own_wordings())

    @cached_property
    def worded(self) -> WordedNorms:
        """The properties that retrieval prompts can state."""
        return word_properties(self.norms, self.options, self.corrections)

    @cached_property
    def elicited(self) -> Elicitation:
        """What elicitation prompts ask for, with people's responses."""
        return elicit(self.norms, self.options, self.corrections)

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, AssumptionsProbe]:
        """Return each model's probe; see ``Probe.for_models``."""
        words = Words.of({name: model.words for name, model in models.items()})
        return {
            name: AssumptionsProbe(self, words, name, model.kind) for name, model in models.items()
        }


@dataclass(frozen=True)
class AssumptionsProbe(Probe):
    """The assumptions probe for one model."""

    probe: Assumptions
    words: Words
    model: str
    kind: str

    def __post_init__(self) -> None:
        if not self.chosen.concepts:
            removed = {step.name: len(step.removed) for step in self.chosen.steps}
            raise all_removed(removed, len(self.probe.worded.properties))

    @property
    def options(self) -> AssumptionsOptions:
        """The options of the run."""
        return self.probe.options

    @cached_property
    def chosen(self) -> Chosen:
        """The concepts of the retrieval prompts, and the concepts that each filter removed."""
        among = None if self.options.vocabulary == "concepts" else self._whole_words.words
        return choose_concepts(self.probe.worded, self.options, among)

    @property
    def _whole_words(self) -> Vocabulary:
        if self.probe.words is not None:
            return self.probe.words
        shared = self.options.vocabulary == "shared"
        return self.words.shared if shared else self.words.own[self.model]

    @cached_property
    def retrievals(self) -> Sequence[Retrieval]:
        """The retrieval prompts and their candidate words, with one entry per wording."""
        concepts, options = self.chosen.concepts, self.options
        names = Vocabulary(concept.word for concept in concepts)
        orders: Sequence[Order] = FOUR_ORDERS[:1]
        if options.orders == "all" and not options.fast:
            orders = (*FOUR_ORDERS, *random_baseline(options.seed))
        found = []
        for wording in self.wordings:
            sentences = self.kind == "causal" and wording == "sentence"
            listed = sentences or options.vocabulary == "concepts"
            among = names if listed else self._whole_words
            how = (wording, options.articles, orders, sentences, options.top)
            found.append(Retrieval(concepts, among, *how))
        return found

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings of the retrieval prompts."""
        if self.kind != "causal":
            return ("sentence",)
        both = self.options.wording == "both"
        return ("blank-last", "sentence") if both else (self.options.wording,)

    @cached_property
    def eliciting(self) -> Eliciting:
        """The elicitation prompts with and without "Everyone knows that", and their candidates."""
        return Eliciting(
            self.probe.elicited,
            (True,) if self.options.fast else (True, False),
            self._ending,
            self.words.own[self.model],
            self.words.shared,
            self.options.top,
        )

    @cached_property
    def prince(self) -> Prince:
        """The prompts from the linguist Ellen Prince's examples (Weir et al. 2020, Table 3)."""
        return Prince(self.words.own[self.model], self._ending, self.options.top)

    @property
    def _ending(self) -> str:
        """The wording of prompts for which one forward pass can score all candidates."""
        return "blank-last" if self.kind == "causal" else "sentence"

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests for rankings and the requests for scores; see ``Probe.requests``."""
        import polars as pl

        parts: dict[str, Sequence[Retrieval | Eliciting | Prince]] = {
            "retrieval": [part for part in self.retrievals if not part.listed],
            "elicitation": [self.eliciting],
            "prince": [self.prince],
        }
        found = {
            # Orders and categories may select the same properties.
            name: Requests(
                pl.concat([part.keys for part in some]),
                [request for part in some for request in part.rankings],
                repeats=True,
            )
            for name, some in parts.items()
            if some
        }
        words = [(part.wording, one) for part in self.retrievals for one in part.prompts]
        rows = [
            {"wording": wording, "text": one.text, "first": one.answers[0]}
            for wording, one in words
        ]
        found["retrieval_words"] = Requests(pl.DataFrame(rows), [prompt for _, prompt in words])
        return {name: group for name, group in found.items() if group.requests}

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from answers; see ``Probe.measure``."""
        whole = self._whole(answers)
        found = {
            "retrieval": ranks.retrieval(whole),
            "retrieval_top": ranks.retrieval_top(whole),
            "elicitation": ranks.elicitation(whole, self.eliciting.responses),
            "elicitation_top": ranks.elicitation_top(whole),
            "prince": ranks.prince(whole, self.prince.meant),
        }
        tables = {**found, **averages.averages(found), **self._about()}
        summary = {
            **standing(tables),
            **self._summary(whole.rankings("retrieval")),
            "candidates": ranks.digests(whole),
        }
        return Findings(ranks.questions(self.requests(), answers), tables, summary)

    def _whole(self, answers: Answers) -> Answers:
        """Return the rankings, and make those of prompts whose candidates were scored."""
        import polars as pl

        groups = answers.groups
        rankings = list(answers.rankings("retrieval")) if "retrieval" in groups else []
        if "retrieval_words" in groups:
            scored = answers.frame("retrieval_words").select("text", "answer", "score", "tokens")
            known = {row[:2]: (row[2], row[3]) for row in scored.iter_rows()}
            for part in self.retrievals:
                rankings += part.ranked(known) if part.listed else []
        keys = pl.concat([part.keys for part in self.retrievals])
        # There may be no elicitation prompts.
        elicited = {"elicitation": Answered(self.eliciting.keys, ())}
        return Answers({**elicited, **groups, "retrieval": Answered(keys, rankings)})

    def _about(self) -> dict[str, pl.DataFrame]:
        """Return the tables of candidate words, removed concepts and property categories."""
        own, shared = self.words.own[self.model], self.words.shared
        candidates = self.retrievals[0].vocabulary
        return {
            "vocabulary": TABLES["vocabulary"].frame(
                {
                    "word": word,
                    "own": word in own,
                    "shared": word in shared,
                    "candidate": word in candidates,
                }
                for word in sorted({*own.words, *candidates.words})
            ),
            "left_out": TABLES["left_out"].frame(
                {"filter": step.name, "concept": name}
                for step in self.chosen.steps
                for name in step.removed
            ),
            **averages.categories(self.probe.norms),
        }

    def _summary(self, retrieved: Sequence[Ranking]) -> dict[str, Any]:
        first, options = self.retrievals[0], self.options
        asked, worded = self.probe.elicited, self.probe.worded
        ranked = [one for one in retrieved if one.unranked is None]
        return {
            "kind": self.kind,
            "ties": {"rule": TIES, "concepts": sum(map(has_ties, first.concepts))},
            "concepts": len(first.concepts),
            "retrieval_prompts": sum(map(first.is_main, first.items)),
            "elicitation_prompts": len(asked.prompts),
            "vocabulary": self._vocabulary(),
            "wordings": list(self.wordings),
            "elicitation_wording": self._ending,
            "steps": [step.to_json() for step in self.chosen.steps],
            "properties": {"all": len(self.probe.norms.properties), **worded.counts},
            "namings": worded.namings,
            "uncounted": {why: list(at) for why, at in self.probe.norms.uncounted.items()},
            "relations": asked.counts(),
            "without_response": dict(asked.without),
            "elicitation_steps": [step.to_json() for step in asked.steps],
            "responses": dict(asked.notes),
            "several": max((one.several for one in ranked), default=0),
            "missing": max((one.missing for one in ranked), default=0),
            "top": options.top,
            "intervals": averages.intervals(),
            **({"fast": FAST} if options.fast else {}),
        }

    def _vocabulary(self) -> dict[str, Any]:
        """Return the sizes of the vocabularies, and how many words are in one of them alone."""
        first, own = self.retrievals[0], self.words.own[self.model]
        beside = sum(word not in own for word in first.vocabulary.words)
        file = "file" if self.probe.words else self.options.vocabulary
        return {
            "name": "concepts" if first.listed else file,
            "words": len(first.vocabulary),
            "own": len(own),
            "not_own": beside,
            "own_left_out": len(own) - (len(first.vocabulary) - beside),
            "shared": len(self.words.shared),
            "no_letters": self.words.others[self.model],
        }
