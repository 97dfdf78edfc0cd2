"""The assumptions probe: build requests from feature norms, and compute the findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.assumptions import categories, standings
from tacit.probes.assumptions.block import block, standing
from tacit.probes.assumptions.candidates import digests
from tacit.probes.assumptions.elicitation import (
    ElicitationRules,
    Eliciting,
    Phrasing,
    Prince,
    elicit,
)
from tacit.probes.assumptions.figures import FIGURES
from tacit.probes.assumptions.headlines import HEADLINES
from tacit.probes.assumptions.options import AssumptionsOptions, vocabulary_file
from tacit.probes.assumptions.properties import (
    Filters,
    Limits,
    all_removed,
    choose_concepts,
    word_properties,
)
from tacit.probes.assumptions.retrieval import TIES, Retrieval, has_ties, orders_of
from tacit.probes.assumptions.retrieval_measures import MAIN, intervals, measures
from tacit.probes.assumptions.tables import TABLES
from tacit.probes.assumptions.vocabulary import Words
from tacit.probes.base import Answers, Probe, Requests
from tacit.requests import TOP, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.measure import Measure
    from tacit.findings.spec import FigureSpec, Headline, TableSpec, View
    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.elicitation import Elicitation
    from tacit.probes.assumptions.properties import (
        Articles,
        Chosen,
        ConceptPreset,
        Step,
        WordedNorms,
    )
    from tacit.probes.assumptions.responses import ResponsePreset
    from tacit.probes.base import ModelWords
    from tacit.requests import Prompt, Ranking, RankingPrompt, Scores
    from tacit.sources.norms import Norms

FAST = "properties stand in the main order alone, and only after “Everyone knows that”"
"""How a fast run departs from Weir et al. (2020)."""

Candidates = Literal["shared", "own", "concepts", "file"]
CausalWording = Literal["blank-last", "sentence", "both"]


@dataclass(frozen=True, slots=True)
class Choices:
    """The settings of a run for all of its models; the defaults follow Weir et al. (2020)."""

    vocabulary: Candidates = "shared"
    words: Vocabulary | None = None
    causal: CausalWording = "blank-last"
    articles: Articles = "fixed"
    orders: str = "all"
    concepts: ConceptPreset = "paper"
    responses: ResponsePreset = "people"
    least: int = 10
    limits: Limits = field(default_factory=Limits)
    corrections: Sequence[Correction] = ()
    limit: int | None = None
    top: int = TOP
    seed: int = 0
    fast: bool = False

    def __post_init__(self) -> None:
        if self.vocabulary not in get_args(Candidates):
            raise RequestError(
                f"unknown vocabulary {self.vocabulary!r}; expected one of "
                f"{', '.join(get_args(Candidates))}"
            )
        if (self.vocabulary == "file") != (self.words is not None):
            raise RequestError(
                "the vocabulary 'file' requires words; other vocabularies accept none"
            )
        if self.causal not in get_args(CausalWording):
            raise RequestError(
                f"unknown wording {self.causal!r}; expected one of "
                f"{', '.join(get_args(CausalWording))}"
            )
        if self.articles == "candidate" and self.vocabulary != "concepts":
            raise RequestError(
                "--articles candidate scores every candidate separately with its article, which is "
                "feasible only for a short list: add --vocabulary concepts"
            )
        orders_of(self.orders)

    @classmethod
    def of(cls, options: AssumptionsOptions) -> Self:
        """Build the settings from the options of the assumptions probe."""
        from tacit.probes.assumptions.vocabulary import read_words

        file = vocabulary_file(options.vocabulary)
        return cls(
            vocabulary="file" if file else cast("Candidates", options.vocabulary),
            words=read_words(file) if file else None,
            causal=options.wording,
            articles=options.articles,
            orders="main" if options.fast else options.orders,
            concepts=options.concepts,
            responses=options.responses,
            least=options.least,
            limits=Limits(options.least_people, options.most_words),
            corrections=options.own_wordings(),
            limit=options.limit,
            top=options.top,
            seed=options.seed,
            fast=options.fast,
        )

    def worded(self, norms: Norms) -> WordedNorms:
        """Convert the properties of the norms to predicates; see ``word_properties``."""
        return word_properties(norms, self.corrections, self.limits)


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

    norms: Norms
    choices: Choices

    @classmethod
    def of(cls, options: AssumptionsOptions) -> Self:
        """Build the probe from options; see ``ProbeByVocabulary.of``."""
        from tacit.knowledge.words import spare_torch
        from tacit.sources.norms import read_norms

        spare_torch(None)
        return cls(read_norms(options.norms), Choices.of(options))

    @classmethod
    def measures(cls, found: Mapping[str, Findings]) -> list[Measure]:
        """Return what is compared between models; see ``tacit.probes.assumptions.measures``."""
        from tacit.probes.assumptions.measures import measures

        return measures(found)

    @staticmethod
    def different_questions(found: Mapping[str, Findings]) -> list[str]:
        """Return a warning for each pair of models whose retrieval prompts share no wording."""
        from tacit.probes.assumptions.measures import different_questions

        return different_questions({name: of.summary["wordings"] for name, of in found.items()})

    @staticmethod
    def views(findings: Findings, _request: Mapping[str, Any], most: int) -> Iterator[View]:
        """Yield the tables that are computed only for display; see ``Declared.views``."""
        from tacit.probes.assumptions.concepts import concept_views
        from tacit.probes.assumptions.headlines import headline_views, printed_views

        yield from headline_views(findings)
        yield from printed_views(findings)
        yield from concept_views(findings, most)

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, AssumptionsProbe]:
        """Return each model's probe; see ``ProbeByVocabulary.for_models``."""
        words = Words.of({name: model.words for name, model in models.items()})
        worded = self.choices.worded(self.norms)
        return {
            name: AssumptionsProbe(worded, words, name, model.kind, self.choices)
            for name, model in models.items()
        }


@dataclass(frozen=True)
class AssumptionsProbe(Probe):
    """The assumptions probe for one model."""

    worded: WordedNorms
    words: Words
    model: str
    kind: str
    choices: Choices = field(default_factory=Choices)

    def __post_init__(self) -> None:
        if not self.chosen.concepts:
            removed = {step.name: len(step.removed) for step in self.chosen.steps}
            raise all_removed(removed, len(self.worded.properties))

    @property
    def norms(self) -> Norms:
        """The feature norms from which the prompts are built."""
        return self.worded.norms

    @cached_property
    def chosen(self) -> Chosen:
        """The concepts of the retrieval prompts, and the concepts that each filter removed."""
        choices = self.choices
        among = None if choices.vocabulary == "concepts" else self._whole_words.words
        filters = Filters(choices.concepts, choices.articles, among, choices.least)
        return choose_concepts(self.worded, filters).limited(self.choices.limit)

    @property
    def _whole_words(self) -> Vocabulary:
        if self.choices.words is not None:
            return self.choices.words
        shared = self.choices.vocabulary == "shared"
        return self.words.shared if shared else self.words.own[self.model]

    @cached_property
    def retrievals(self) -> Sequence[Retrieval]:
        """The retrieval prompts and their candidate words, with one entry per wording."""
        concepts = self.chosen.concepts
        names = Vocabulary(concept.word for concept in concepts)
        choices = self.choices
        found = []
        for wording in self.wordings:
            sentences = self.kind == "causal" and wording == "sentence"
            listed = sentences or choices.vocabulary == "concepts"
            found.append(
                Retrieval(
                    concepts,
                    names if listed else self._whole_words,
                    wording,
                    choices.articles,
                    orders_of(choices.orders, choices.seed),
                    sentences,
                    choices.top,
                )
            )
        return found

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings of the retrieval prompts."""
        if self.kind != "causal":
            return ("sentence",)
        both = self.choices.causal == "both"
        return ("blank-last", "sentence") if both else (self.choices.causal,)

    @cached_property
    def eliciting(self) -> Eliciting:
        """The elicitation prompts with and without "Everyone knows that", and their candidates."""
        prefaces = (True,) if self.choices.fast else (True, False)
        asked = {preface: self._elicited(preface=preface) for preface in prefaces}
        own = self.words.own[self.model]
        return Eliciting(asked, own, self.words.shared, self.choices.top)

    @cached_property
    def prince(self) -> Prince:
        """The prompts from the linguist Ellen Prince's examples (Weir et al. 2020, Table 3)."""
        ending = self._ending
        return Prince(self.words.own[self.model], ending, ending, self.choices.top)

    @property
    def _ending(self) -> str:
        """The wording of prompts for which one forward pass can score all candidates."""
        return "blank-last" if self.kind == "causal" else "sentence"

    def _elicited(self, *, preface: bool) -> Elicitation:
        choices = self.choices
        found = elicit(
            self.norms,
            Phrasing(preface, self._ending),
            choices.corrections,
            ElicitationRules(choices.concepts, choices.responses, choices.limits.people),
        )
        return found.limited(self.norms, choices.limit)

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """All ranking prompts: retrieval, elicitation, and Table 3 of Weir et al. (2020)."""
        retrieval = [one for part in self.retrievals for one in part.rankings]
        return [*retrieval, *self.eliciting.rankings, *self.prince.rankings]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The retrieval prompts for which the model scores each candidate separately."""
        return [prompt for part in self.retrievals for prompt in part.prompts]

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests for rankings and the requests for scores; see ``Probe.requests``."""
        retrieval = [one for part in self.retrievals for one in part.rankings]
        groups: dict[str, Sequence[Prompt] | Sequence[RankingPrompt]] = {
            "retrieval": retrieval,
            "elicitation": self.eliciting.rankings,
            "prince": self.prince.rankings,
            "retrieval_words": self.prompts,
        }
        return {
            # Orders and categories may select the same properties.
            name: Requests(_numbered(len(asked)), asked, repeats=True)
            for name, asked in groups.items()
            if asked
        }

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from answers; see ``Probe.measure``."""
        answers = answers.joined(self.requests())
        ranked = [name for name in answers.groups if name != "retrieval_words"]
        scores = answers.scores("retrieval_words") if self.prompts else ()
        return self.measure_rankings(scores, [r for name in ranked for r in answers.rankings(name)])

    def measure_rankings(self, scores: Sequence[Scores], rankings: Sequence[Ranking]) -> Findings:
        """Compute the findings from the answers to ``prompts`` and ``rankings``."""
        left, scored = iter(rankings), iter(scores)
        retrieved = [
            (
                part,
                part.ranked(
                    [next(left) for _ in part.rankings], [next(scored) for _ in part.prompts]
                ),
            )
            for part in self.retrievals
        ]
        elicited = [next(left) for _ in self.eliciting.rankings]
        where = {
            "retrieval": _stacked([standings.retrieval_table(*each) for each in retrieved]),
            "retrieval_top": _stacked([standings.retrieval_top(*each) for each in retrieved]),
            "elicitation": standings.elicitation_table(self.eliciting, elicited),
            "elicitation_top": standings.elicitation_top(self.eliciting, elicited),
            "prince": standings.prince_table(self.prince, list(left)),
        }
        questions = standings.questions_table(self.rankings, rankings)
        tables = {**where, **measures(where), **self._about()}
        summary = {
            **standing(tables),
            **self._summary(rankings),
            **_means(tables),
            "candidates": digests(retrieved, (self.eliciting, elicited)),
            "intervals": intervals(),
        }
        return Findings(questions, tables, summary)

    def _about(self) -> dict[str, pl.DataFrame]:
        """Return the tables of candidate words, removed concepts and property categories."""
        import polars as pl

        own, shared = self.words.own[self.model], self.words.shared
        candidates = self.retrievals[0].vocabulary
        words = pl.DataFrame(
            [
                (word, word in own, word in shared, word in candidates)
                for word in sorted({*own.words, *candidates.words})
            ],
            {
                "word": pl.String,
                "own": pl.Boolean,
                "shared": pl.Boolean,
                "candidate": pl.Boolean,
            },
            orient="row",
        )
        steps = pl.DataFrame(
            [(step.name, name) for step in self.chosen.steps for name in step.removed],
            {"filter": pl.String, "concept": pl.String},
            orient="row",
        )
        return {
            "vocabulary": words,
            "left_out": steps,
            "categories": categories.by_category(self.norms),
            "category_counts": categories.counts(self.norms),
        }

    def _summary(self, rankings: Sequence[Ranking]) -> dict[str, Any]:
        first = self.retrievals[0]
        asked = self.eliciting.asked[True]
        named = "concepts" if first.listed else self.choices.vocabulary
        retrieved = rankings[: sum(len(part.rankings) for part in self.retrievals)]
        ranked = [one for one in retrieved if one.unranked is None]
        own = self.words.own[self.model]
        beside = sum(word not in own for word in first.vocabulary.words)
        return {
            "kind": self.kind,
            "presets": {"concepts": self.choices.concepts, "responses": self.choices.responses},
            "ties": {"rule": TIES, "concepts": sum(map(has_ties, first.concepts))},
            "concepts": len(first.concepts),
            "retrieval_prompts": sum(map(first.is_main, first.items)),
            "elicitation_prompts": len(asked.prompts),
            "vocabulary": {
                "name": named,
                "words": len(first.vocabulary),
                "own": len(own),
                "not_own": beside,
                "own_left_out": len(own) - (len(first.vocabulary) - beside),
                "shared": len(self.words.shared),
                "no_letters": self.words.others[self.model],
            },
            "wordings": list(self.wordings),
            "elicitation_wording": self._ending,
            "steps": _counts(self.chosen.steps),
            "properties": {
                "all": len(self.norms.properties),
                "usable": self.worded.usable,
                **self.worded.dropped,
                "corrected": self.worded.corrected,
            },
            "namings": self.worded.namings,
            "worded_by_feature": dict(self.worded.from_feature),
            "uncounted": {problem: list(at) for problem, at in self.norms.uncounted.items()},
            "relations": asked.counts(),
            "without_response": dict(asked.without),
            "elicitation_steps": _counts(asked.steps),
            "responses": dict(asked.notes),
            "several": max((one.several for one in ranked), default=0),
            "missing": max((one.missing for one in ranked), default=0),
            "top": self.choices.top,
            **({"fast": FAST} if self.choices.fast else {}),
        }


def _means(tables: Mapping[str, pl.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """Return the mean retrieval and elicitation measures that the manifest contains."""
    import polars as pl

    main = tables["retrieval_by_number"].filter(pl.col("category").is_null(), order=MAIN)
    return {
        "retrieval_by_number": main.drop("order", "category").to_dicts(),
        "elicitation_by_relation": tables["elicitation_by_relation"].to_dicts(),
    }


def _numbered(count: int) -> pl.DataFrame:
    """Return a table whose column ``item`` contains the numbers from 0 to ``count`` - 1."""
    import polars as pl

    return pl.DataFrame({"item": range(count)}, {"item": pl.Int64})


def _counts(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return, for the manifest, the numbers of concepts that each filter removed and kept."""
    return [
        {"filter": step.name, "removed": len(step.removed), "left": step.left} for step in steps
    ]


def _stacked(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(tables)
