"""The consistency probe: from anchors and their background to requests, and on to findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.findings import Findings, votes_summary
from tacit.probes.base import Answers, Requests
from tacit.probes.consistency import answer_tables, background_scores, consistency, sensitivity
from tacit.probes.consistency.answer_tables import ANCHORING, Scored
from tacit.probes.consistency.answers import Method, choice_table, verify_table, verify_votes_table
from tacit.probes.consistency.background_scores import CorrectAnswers, relevance
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.prompt_variants import Bounds, Inputs, at_most
from tacit.probes.consistency.questions import (
    Asked,
    background_prompts,
    choice_prompts,
    choice_variants,
    prompt_variants,
    verify_prompts,
)
from tacit.probes.consistency.tables import HEADLINES, TABLES
from tacit.probes.consistency.votes import Unread
from tacit.statistics import Bootstrap
from tacit.statistics.conditional import FEWEST_ITEMS
from tacit.statistics.studentised import Permutations
from tacit.strings import convert_strings, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.scale import ScaledFigure
    from tacit.findings.spec import FigureSpec, Headline, TableSpec, View
    from tacit.knowledge.background import Background
    from tacit.probes.consistency.prompt_variants import Floats
    from tacit.probes.consistency.questions import PromptVariant
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording
    from tacit.requests import Prompt, Scores, Votes
    from tacit.sources.anchors import Anchor


@dataclass(frozen=True)
class Reading:
    """How answers are derived from scores. Another ``method`` needs no new model calls.

    Args:
        method: How a background question is answered.
        anchoring: The methods of answering anchors; the answers of the first one count.

    Raises:
        RequestError: ``anchoring`` is empty or has an unknown or repeated method.
    """

    method: Method = field(default_factory=Method)
    anchoring: tuple[str, ...] = ANCHORING[:1]

    def __post_init__(self) -> None:
        convert_strings(self, "anchoring")
        known = set(self.anchoring) <= set(ANCHORING)
        if not self.anchoring or not known or len(set(self.anchoring)) < len(self.anchoring):
            raise RequestError(
                f"anchor questions are answered by {', '.join(ANCHORING)} or both, "
                f"not by {', '.join(self.anchoring) or 'nothing'}"
            )

    @classmethod
    def of(cls, options: ConsistencyOptions) -> Self:
        """Return the reading that options describe.

        Raises:
            RequestError: The pair is not two words, or an answering method is unknown.
        """
        pair = None if options.pair is None else tuple(options.pair.split("/"))
        if pair is not None and len(pair) != 2:  # noqa: PLR2004 - a pair
            raise RequestError(f"--pair: expected two words such as Yes/No, not {options.pair!r}")
        method = Method(options.answering, options.meta, cast("Any", pair))
        both = options.anchors == "both"
        return cls(method, ("choice", "verify") if both else listed(options.anchors))


@dataclass(frozen=True)
class ConsistencyProbe:
    """A probe that asks the background questions of anchors, and the anchors themselves.

    Args:
        anchors: Multiple-choice questions with answers.
        background: The facts of the anchors, by the index of the anchor.
        templates: The templates of the questions.
        wording: How concepts are inserted into the templates.
        version: The version of the paper, which determines the number of meta-prompts.
        reading: How answers are derived from scores.

    Raises:
        RequestError: No anchor has a fact, an anchor has no answer, a relation has no template, or
            the version lacks the meta-prompt or pair of the reading.
    """

    name: ClassVar[str] = "consistency"
    summary: ClassVar[str] = (
        "Test whether knowing the background facts of a question predicts answering it correctly."
    )
    Options: ClassVar[type[ConsistencyOptions]] = ConsistencyOptions
    title: ClassVar[str] = "Consistency"
    question: ClassVar[str] = (
        "Does knowing the background facts of a question predict answering it correctly? "
        "(Sahu et al. 2022)"
    )
    tables: ClassVar[tuple[TableSpec, ...]] = TABLES
    headlines: ClassVar[tuple[Headline, ...]] = HEADLINES
    filters: ClassVar[tuple[str, ...]] = ("relation", "concept")

    anchors: Sequence[Anchor]
    background: Background
    templates: Templates
    wording: Wording
    version: str = "review-lexicon"
    reading: Reading = field(default_factory=Reading)

    @classmethod
    def of(cls, options: ConsistencyOptions) -> Self:
        """Build the probe from options; see ``Probe.of``.

        Raises:
            RequestError: An option is unknown, or there is nothing to ask.
            DataError: A file is missing or malformed.
        """
        from tacit.knowledge.background import background
        from tacit.knowledge.base import KnowledgeBase
        from tacit.knowledge.words import spare_torch
        from tacit.probes.consistency.template import load_templates
        from tacit.probes.consistency.wording import wording
        from tacit.sources.anchors import read_anchors

        reading = Reading.of(options)
        worded, templates = wording(options.wording), load_templates(options.templates)
        extraction = options.background.extraction()
        spare_torch(options.background.tagger)
        anchors = read_anchors(options.questions)[: options.limit]
        with KnowledgeBase(options.kb) as base:
            texts = [(anchor.question, *anchor.choices) for anchor in anchors]
            found = background(base, texts, extraction)
        version = options.background.paper_version
        return cls(anchors, found, templates, worded, version, reading)

    def __post_init__(self) -> None:
        unlabelled = [anchor.id for anchor in self.anchors if anchor.answer is None]
        if unlabelled:
            raise RequestError(
                f"{several(len(unlabelled), 'question has', 'questions have')} no correct answer "
                f"(the first is {unlabelled[0]}): the probe requires one for each question"
            )
        if self.background.facts.is_empty():
            raise RequestError(
                "no question has a background fact in this knowledge base: try --length 2, add "
                "relations to --relations, or use another knowledge base"
            )
        # Raise on missing templates, meta-prompts or pairs before any model call.
        _ = self.asked, self.variants
        method = self.reading.method
        if method.meta is not None and method.pair is not None:
            Inputs.of(self.variants).indexes(method.meta, method.pair)

    @cached_property
    def asked(self) -> Asked:
        """The distinct facts and their questions."""
        return Asked.of(self.background.facts, self.templates, self.wording)

    @cached_property
    def variants(self) -> tuple[PromptVariant, ...]:
        """The prompt variants of a yes/no question."""
        return prompt_variants(self.templates, self.version)

    @cached_property
    def choice_variants(self) -> tuple[PromptVariant, ...]:
        """The prompt variants that a choice can answer."""
        return choice_variants(self.templates, self.version)

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """All prompts: each background question in every prompt variant, then the anchors."""
        prompts = [p for text in self.asked.texts for p in background_prompts(text, self.variants)]
        return [*prompts, *self.anchor_prompts]

    @cached_property
    def anchor_prompts(self) -> Sequence[Prompt]:
        """The anchors in every prompt variant: all choices, then all verifications."""
        prompts: list[Prompt] = []
        if "choice" in self.reading.anchoring:
            prompts += [p for group in self._choice_prompts for p in group]
        if "verify" in self.reading.anchoring:
            prompts += [p for groups in self._verify_prompts for group in groups for p in group]
        return prompts

    @cached_property
    def _choice_prompts(self) -> list[list[Prompt]]:
        return [choice_prompts(a.question, a.choices, self.choice_variants) for a in self.anchors]

    @cached_property
    def _verify_prompts(self) -> list[list[list[Prompt]]]:
        return [
            verify_prompts(a.question, a.choices, self.variants, self.templates)
            for a in self.anchors
        ]

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests for background questions, choices and verifications.

        See ``Probe.requests``.
        """
        n, m = len(self.variants), len(self.choice_variants)
        background = self.prompts[: len(self.asked.texts) * n]
        found = {"background": Requests(_keys(len(self.asked.texts), n), background)}
        if "choice" in self.reading.anchoring:
            asked = [p for group in self._choice_prompts for p in group]
            found["choice"] = Requests(_keys(len(self.anchors), m), asked)
        if "verify" in self.reading.anchoring:
            asked = [p for groups in self._verify_prompts for group in groups for p in group]
            choices = sum(len(anchor.choices) for anchor in self.anchors)
            found["verify"] = Requests(_keys(choices, n), asked)
        return found

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from scores or votes; see ``Probe.measure``."""
        answers = answers.joined(self.requests())
        if answers.sampled:
            return self.measure_votes([v for g in answers.groups for v in answers.votes(g)])
        return self.measure_scores([s for g in answers.groups for s in answers.scores(g)])

    def measure_scores(self, scores: Sequence[Scores]) -> Findings:
        """Compute the findings from one score per prompt.

        Returns:
            The tables that ``tacit.probes.consistency.tables`` declares.
        """
        n = len(self.asked.texts) * len(self.variants)
        told = {
            **_tokens(scores[:n]),
            **_anchor_tokens(scores[n:]),
            "spanned": sum(one.spanned for score in scores for one in score.answers),
        }
        return self._found(self._scored(scores), told)

    @staticmethod
    def compare(found: Mapping[str, Findings]) -> pl.DataFrame:
        """Compare models, paired; see ``tacit.probes.consistency.compare``."""
        from tacit.probes.consistency.compare import compare

        return compare(found)

    @staticmethod
    def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
        """Return figures over the size of models; see ``tacit.probes.consistency.scale``."""
        from tacit.probes.consistency.scale import scaling

        return scaling(found)

    @staticmethod
    def figures() -> Mapping[str, FigureSpec]:
        """Return the figures by name."""
        from tacit.probes.consistency.figures import FIGURES

        return FIGURES

    @staticmethod
    def headline(findings: Findings) -> str:
        """Return a sentence on whether the background predicts the answers.

        See ``Declared.headline``.
        """
        from tacit.probes.consistency.sentences import verdict

        return verdict(findings.summary)

    @staticmethod
    def sentences(findings: Findings) -> Iterator[str]:
        """Yield sentences on requests and results; see ``tacit.probes.consistency.sentences``."""
        from tacit.probes.consistency.sentences import sentences

        return sentences(findings.summary)

    @staticmethod
    def notes(findings: Findings) -> Iterator[str]:
        """Yield sentences on how figures are made; see ``tacit.probes.consistency.sentences``."""
        from tacit.probes.consistency.sentences import notes

        return notes(findings.summary)

    @staticmethod
    def views(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[View]:
        """Yield the questions, down to their prompts; see ``tacit.probes.consistency.views``."""
        from tacit.probes.consistency.views import views

        return views(findings, request, most)

    def check_replies(self, *, sampled: bool) -> None:
        """Check that replies in a chat can answer the questions; see ``ReadsReplies``.

        Raises:
            RequestError: Choices are scored as texts, or the preset for sampled replies is
                ``calibrated``.
        """
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

    def measure_votes(self, votes: Sequence[Votes]) -> Findings:
        """Compute the findings from the votes on each prompt, and add vote counts to the summary.

        Raises:
            RequestError: See ``check_replies``.
        """
        self.check_replies(sampled=True)
        return self._found(self._voted(votes), {"votes": votes_summary(votes)})

    def _found(self, scored: Scored, told: Mapping[str, Any]) -> Findings:
        """Compute the findings. ``told`` is the part of the summary that describes the scores."""
        how, bootstrap = Permutations(), Bootstrap()
        answers = scored.answers(self.reading.method)
        beliefs = scored.beliefs(self.reading.method)
        known = CorrectAnswers.of(answers, self.asked)
        background = background_scores.by_anchor(known, self.asked, len(self.anchors))
        way = self.reading.anchoring[0]
        anchors = answer_tables.anchors(self.anchors, scored, way, background)
        chosen = [(name, scored.chosen(name)) for name in self.reading.anchoring]
        tables = {
            "facts": answer_tables.facts(self.asked, known, answers, scored, beliefs),
            "links": self.asked.links,
            "anchors": anchors,
            "choices": answer_tables.choices(self.anchors, scored),
            "consistency": consistency.overall(anchors, how),
            "consistency_by_relation": consistency.by_relation(anchors, self.asked, how),
            "consistency_by_concept": consistency.by_concept(anchors, self.asked, how),
            "background_by_relation": background_scores.by_relation(known, self.asked, bootstrap),
            "relevance": relevance(known, self.asked, anchors, how),
            "background_variants": sensitivity.background_variants(scored, self.asked, anchors),
            "anchor_variants": sensitivity.anchor_variants(scored, self.anchors),
            "winners": sensitivity.winners(
                answers, scored, [(name, each) for name, each in chosen if each is not None]
            ),
        }
        summary = {
            **self._summary(tables, bootstrap),
            **_unanswered(tables["facts"]),
            "missing_questions": int(answers.missing.sum()),
            "tied_questions": int(answers.tied.sum()),
            "without_margin": int((np.isnan(answers.margin) & ~answers.missing).sum()),
            **({} if beliefs is None else {"clear_questions": _clear(beliefs)}),
            **told,
            "intervals": {
                "consistency": {**how.to_json(), "clusters": "question concept"},
                "background_score": {"method": "Student's t", "over": "relations"},
                "background_by_relation": {**bootstrap.to_json(), "clusters": "head of the fact"},
                "relevance": {
                    **how.to_json(),
                    "clusters": "question concept",
                    "least_facts": FEWEST_ITEMS,
                },
                "others": {**bootstrap.to_json(), "clusters": "question concept"},
            },
        }
        return Findings(answer_tables.questions(self.asked, scored), tables, summary)

    def _scored(self, scores: Sequence[Scores]) -> Scored:
        """Return the scores as arrays from which answers are computed."""
        tables = self._tables(scores)
        most = [at_most(one) for one in scores]
        bounds = Bounds() if most == scores else Bounds(*self._tables(most))
        return Scored(self.variants, self.choice_variants, *tables, self._sizes, bounds)

    def _tables(self, scores: Sequence[Scores]) -> tuple[Floats, Floats | None, Floats | None]:
        """Return the scores of background questions, choices and verified choices."""
        n = len(self.asked.texts) * len(self.variants)
        inputs = Inputs.of(self.variants)
        background, rest = inputs.table(scores[:n]), list(scores[n:])
        choices = verified = None
        if "choice" in self.reading.anchoring:
            step = len(self.choice_variants)
            count = step * len(self.anchors)
            choices, _ = choice_table([rest[i : i + step] for i in range(0, count, step)])
            rest = rest[count:]
        if "verify" in self.reading.anchoring:
            left = iter(rest)
            verified = verify_table(
                [
                    [[next(left) for _ in self.variants] for _ in anchor.choices]
                    for anchor in self.anchors
                ],
                inputs,
            )
        return background, choices, verified

    def _voted(self, votes: Sequence[Votes]) -> Scored:
        """Return the votes as arrays from which answers are computed; anchors are verified."""
        n = len(self.asked.texts) * len(self.variants)
        inputs, sizes = Inputs.of(self.variants), [len(anchor.choices) for anchor in self.anchors]
        return Scored(
            self.variants,
            self.choice_variants,
            inputs.votes(votes[:n]),
            None,
            verify_votes_table(votes[n:], sizes, inputs),
            self._sizes,
            unread=Unread.of(votes[:n], len(self.variants)),
        )

    @cached_property
    def _sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The choices' lengths in UTF-8 bytes; 0 is padding."""
        sizes = np.zeros((len(self.anchors), max(len(a.choices) for a in self.anchors)), np.int64)
        for at, anchor in enumerate(self.anchors):
            sizes[at, : len(anchor.choices)] = [len(choice.encode()) for choice in anchor.choices]
        return sizes

    def _summary(self, tables: dict[str, pl.DataFrame], bootstrap: Bootstrap) -> dict[str, Any]:
        anchors = tables["anchors"]
        able = anchors.filter(anchors["facts"] > 0)
        read = tables["background_variants"]
        mean = background_scores.over_relations(tables["background_by_relation"])
        return {
            "anchors": anchors.height,
            "without_facts": anchors.height - able.height,
            "without_background_score": able["background_score"].null_count(),
            "with_background_score": anchors["background_score"].count(),
            "without_answer": anchors["right"].null_count(),
            "tied_anchors": int(anchors["tied"].sum()),
            "repeated_choices": sum(anchor.repeated for anchor in self.anchors),
            "facts": self.asked.facts.height,
            "without_negative": self.asked.facts["negative"].null_count(),
            **({} if self.background.counts is None else asdict(self.background.counts)),
            "questions": len(self.asked.texts),
            "prompts": len(self.prompts),
            "consistency": tables["consistency"].to_dicts()[0],
            "background_score": {
                "relations": tables["background_by_relation"]["background_score"].count(),
                "value": mean.value,
                "low": mean.low,
                "high": mean.high,
            },
            **{
                name: background_scores.mean_of(anchors.drop_nulls("background_score")[name])
                for name in ("positive_accuracy", "negative_accuracy")
            },
            "anchor_accuracy": [
                {"of": name, **_accuracy(part, bootstrap)}
                for name, part in (("all", anchors), ("with facts", able))
            ],
            "relevance": tables["relevance"].to_dicts()[0],
            "background_variants": read.filter(read["preset"] != "single").to_dicts(),
        }


def _keys(questions: int, variants: int) -> pl.DataFrame:
    """Return the keys of all questions and prompt variants, sorted by question."""
    import polars as pl

    return pl.DataFrame(
        {
            "question": np.repeat(np.arange(questions), variants),
            "variant": np.tile(np.arange(variants), questions),
        }
    )


def _accuracy(anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, float | int | None]:
    """Return the share of answered anchors that are right, clustered by question concept."""
    done = anchors.drop_nulls("right")
    right = done["right"].cast(int).to_numpy()
    share = bootstrap.ratio(done["cluster"].to_numpy(), right, np.ones_like(right))
    return {"n": done.height, "value": share.value, "low": share.low, "high": share.high}


def _clear(beliefs: pl.DataFrame) -> int:
    """Count the questions whose vote share has an interval on one side of one half."""
    return int(((beliefs["low"] > 1 / 2) | (beliefs["high"] < 1 / 2)).sum())


def _unanswered(facts: pl.DataFrame) -> dict[str, int]:
    """Count the questions about facts and about negatives that have no answer."""
    asked = {side: facts.drop_nulls(f"{side}_question") for side in ("positive", "negative")}
    return {
        f"{name}_without_answer": asked[side][f"{side}_right"].null_count()
        for name, side in (("facts", "positive"), ("negatives", "negative"))
    }


def _tokens(scores: Sequence[Scores]) -> dict[str, int]:
    """Count the background inputs, those of several tokens, and those without a score."""
    words = [one for score in scores for one in score.answers]
    return {
        "inputs": len(words),
        "inputs_of_several_tokens": sum(one.tokens > 1 for one in words),
        "inputs_without_score": sum(one.logprob is None for one in words),
    }


def _anchor_tokens(scores: Sequence[Scores]) -> dict[str, int]:
    """Count the anchor inputs (choices and answer words) and those without a score."""
    answers = [one for score in scores for one in score.answers]
    return {
        "anchor_inputs": len(answers),
        "anchor_inputs_without_score": sum(one.logprob is None for one in answers),
    }
