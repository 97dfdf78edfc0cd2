"""The assumptions probe: build requests from feature norms, and compute the findings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import polars as pl

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.assumptions import HEADLINES, TABLES, averages, ranks
from tacit.probes.assumptions.block import block, standing
from tacit.probes.assumptions.corrections import Correction, Corrections, read_corrections
from tacit.probes.assumptions.details import details
from tacit.probes.assumptions.elicitation import Asking, Elicitation, elicit
from tacit.probes.assumptions.measures import different_questions, measures, sides
from tacit.probes.assumptions.options import AssumptionsOptions, vocabulary_file
from tacit.probes.assumptions.properties import (
    OF_PROPERTIES,
    Chosen,
    WordedNorms,
    all_removed,
    choose_concepts,
    word_properties,
)
from tacit.probes.assumptions.retrieval import ORDERS, RANDOM_ORDERS, TIES, Retrieval, has_ties
from tacit.probes.assumptions.vocabulary import Vocabularies, read_words
from tacit.probes.base import Answered, Answers, ModelWords, Probe, Requests
from tacit.requests import Vocabulary
from tacit.sources.norms import Norms, read_norms
from tacit.statistics import Bootstrap

log = logging.getLogger(__name__)

FAST = "properties stand in the main order alone, and only after “Everyone knows that”"
"""How a fast run departs from Weir et al. (2020)."""


@dataclass(frozen=True)
class Assumptions(Probe):
    """The assumptions probe for several models: concept retrieval and property elicitation."""

    name = "assumptions"
    summary = (
        "Test whether a model shares people's stereotypic tacit assumptions about everyday "
        "concepts."
    )
    question = (
        "Does the model share people's stereotypic tacit assumptions about concepts? "
        "(Weir et al. 2020)"
    )
    Options = AssumptionsOptions
    tables = TABLES
    headlines = HEADLINES
    figures = "tacit.probes.assumptions.figures:FIGURES"
    filters = ("relation", "concept")
    ranks_vocabulary = True
    block = staticmethod(block)
    details = staticmethod(details)
    measures = staticmethod(measures)
    sides = staticmethod(sides)
    different_questions = staticmethod(different_questions)

    norms: Norms
    options: AssumptionsOptions
    words: Vocabulary | None = None
    """The candidates of retrieval, if they come from a file."""
    corrections: Sequence[Correction] = ()

    @classmethod
    def of(cls, options: AssumptionsOptions) -> Self:
        from tacit.knowledge.words import spare_torch

        spare_torch(None)
        if options.articles == "candidate" and options.vocabulary != "concepts":
            raise RequestError(
                "--articles candidate scores every candidate separately with its article, which is "
                "feasible only for a short list: add --vocabulary concepts"
            )
        file = vocabulary_file(options.vocabulary)
        words = read_words(file) if file else None
        norms = read_norms(options.norms)
        own = read_corrections(options.corrections) if options.corrections else ()
        if unmatched := Corrections(norms, own).unmatched:
            met = ", ".join(one.shown for one in unmatched)
            log.warning("corrections that match no property (letter case matters): %s", met)
        return cls(norms, options, words, own)

    @cached_property
    def worded(self) -> WordedNorms:
        """The properties that retrieval prompts can state."""
        return word_properties(self.norms, self.options, self.corrections)

    @cached_property
    def elicited(self) -> Elicitation:
        """What elicitation prompts ask for, with people's responses."""
        return elicit(self.norms, self.options, self.corrections)

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, AssumptionsProbe]:
        words = Vocabularies.of({name: model.words for name, model in models.items()})
        return {
            name: AssumptionsProbe(self, words, name, model.kind) for name, model in models.items()
        }


@dataclass(frozen=True)
class AssumptionsProbe(Probe):
    """The assumptions probe for one model."""

    probe: Assumptions
    words: Vocabularies
    model: str
    kind: str

    def __post_init__(self) -> None:
        if not self.chosen.concepts:
            raise all_removed(self.chosen.steps, len(self.probe.worded.properties))

    @property
    def options(self) -> AssumptionsOptions:
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

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings of the retrieval prompts; of the last, candidates may be listed."""
        if self.kind != "causal":
            return ("sentence",)
        both = self.options.wording == "both"
        return ("blank-last", "sentence") if both else (self.options.wording,)

    @cached_property
    def retrievals(self) -> Sequence[Retrieval]:
        """The retrieval prompts and their candidate words, with one entry per wording."""
        concepts, options = self.chosen.concepts, self.options
        every = options.orders == "all" and not options.fast
        orders = (*ORDERS, *RANDOM_ORDERS) if every else ORDERS[:1]
        retrievals = []
        for wording in self.wordings:
            sentences = self.kind == "causal" and wording == "sentence"
            among = self._whole_words
            if sentences or options.vocabulary == "concepts":
                among = Vocabulary(concept.word for concept in concepts)
            how = (wording, options.articles, orders, sentences, options.top, options.seed)
            retrievals.append(Retrieval(concepts, among, *how))
        return retrievals

    @cached_property
    def asking(self) -> Asking:
        """The wording for which one forward pass can score all candidates, and the candidates."""
        ending = "blank-last" if self.kind == "causal" else "sentence"
        return Asking(ending, self.words.own[self.model], self.words.shared, self.options.top)

    @cached_property
    def _elicitation(self) -> Requests:
        prefaces = (True,) if self.options.fast else (True, False)
        return self.asking.elicitation(self.probe.elicited, prefaces)

    def requests(self) -> Mapping[str, Requests]:
        groups = {"elicitation": self._elicitation, "prince": self.asking.prince()[0]}
        if ranked := [part for part in self.retrievals if not part.listed]:
            keys = pl.concat([part.keys for part in ranked])
            prompts = [request for part in ranked for request in part.rankings]
            # Orders and categories may select the same properties.
            groups = {"retrieval": Requests(keys, prompts, repeats=True), **groups}
        words = [(part.wording, one) for part in self.retrievals for one in part.prompts]
        rows = [
            {"wording": wording, "text": one.text, "first": one.answers[0]}
            for wording, one in words
        ]
        groups["retrieval_words"] = Requests(pl.DataFrame(rows), [prompt for _, prompt in words])
        return {name: group for name, group in groups.items() if group.requests}

    def measure(self, answers: Answers) -> Findings:
        whole = self._whole(answers)
        rank_tables = {
            "retrieval": ranks.retrieval(whole),
            "retrieval_top": ranks.retrieval_top(whole),
            "elicitation": ranks.elicitation(whole, self.probe.elicited.responses),
            "elicitation_top": ranks.elicitation_top(whole),
            "prince": ranks.prince(whole, self.asking.prince()[1]),
        }
        tables = {**rank_tables, **averages.averages(rank_tables), **self._about()}
        ranked = [one for one in whole.groups["retrieval"].answers if one.unranked is None]
        summary = {
            **standing(tables),
            **self._summary(),
            "several": max((one.several for one in ranked), default=0),
            "missing": max((one.missing for one in ranked), default=0),
            "candidates": ranks.digests(whole),
        }
        return Findings(ranks.questions(self.requests(), answers), tables, summary)

    def _whole(self, answers: Answers) -> Answers:
        """Return the rankings, and make those of prompts whose candidates were scored."""
        groups = answers.groups
        rankings = [*groups["retrieval"].answers] if "retrieval" in groups else []
        if "retrieval_words" in groups:
            scored = answers.frame("retrieval_words").select("text", "answer", "score", "tokens")
            known = scored.rows_by_key(["text", "answer"], unique=True)
            for part in self.retrievals:
                rankings += part.ranked(known) if part.listed else []
        keys = pl.concat([part.keys for part in self.retrievals])
        # There may be no elicitation prompts.
        elicited = {"elicitation": Answered(self._elicitation.keys, ())}
        return Answers({**elicited, **groups, "retrieval": Answered(keys, rankings)})

    def _about(self) -> dict[str, pl.DataFrame]:
        """Return the tables of candidate words, of what was left out, and of categories."""
        candidates, worded = self.retrievals[0].vocabulary, self.probe.worded
        own = self.words.own[self.model]
        sets = {"own": own, "shared": self.words.shared, "candidate": candidates}
        words = pl.DataFrame({"word": sorted({*own.words, *candidates.words})})
        steps = [*self.chosen.steps, *self.probe.elicited.steps]
        left_out = (
            {
                "of": OF_PROPERTIES,
                "filter": reason,
                "concept": one.concept,
                "feature": one.feature,
                "frequency": one.frequency,
            }
            for one, reason in sorted(worded.left_out, key=lambda each: -each[0].frequency)
        )
        nothing = {"feature": None, "frequency": None}
        concepts = (
            {"of": step.of, "filter": step.name, "concept": name, **nothing}
            for step in steps
            for name in step.removed
        )
        return {
            "vocabulary": TABLES["vocabulary"].frame(
                words, **{name: pl.col("word").is_in(of.words) for name, of in sets.items()}
            ),
            "filters": TABLES["filters"].frame(
                {"of": one.of, "filter": one.name, "removed": len(one.removed), "left": one.left}
                for one in (*worded.steps, *steps)
            ),
            "left_out": TABLES["left_out"].frame([*left_out, *concepts]),
            **averages.categories(self.probe.norms),
        }

    def _summary(self) -> dict[str, Any]:
        """Return what was asked; how much of the norms, is in the table ``filters``."""
        first, norms = self.retrievals[0], self.probe.norms
        file = "file" if self.probe.words else self.options.vocabulary
        return {
            "kind": self.kind,
            "ties": {"rule": TIES, "concepts": sum(map(has_ties, first.concepts))},
            "norms": {"concepts": len(norms.by_concept()), "properties": len(norms.properties)},
            "uncounted": {why: list(lines) for why, lines in norms.uncounted.items()},
            "vocabulary": {
                "name": "concepts" if first.listed else file,
                "words": len(first.vocabulary),
                "own": len(self.words.own[self.model]),
                "shared": len(self.words.shared),
            },
            "wordings": list(self.wordings),
            "elicitation_wording": self.asking.wording,
            "intervals": {**Bootstrap().to_json(), "clusters": "concept"},
            **({"fast": FAST} if self.options.fast else {}),
        }
