"""Predict whether a model answers a new question correctly, using a run's predictor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.consistency import features
from tacit.probes.consistency.features import BOTH, MARGIN, FactAnswers
from tacit.probes.consistency.probe import Reading
from tacit.probes.consistency.prompt_set import PromptSet
from tacit.probes.consistency.questions import Asked
from tacit.probes.consistency.tables import DETAILS
from tacit.sources.anchors import Anchor
from tacit.strings import Spellings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.knowledge.background import Background
    from tacit.probes.base import Answers, Requests
    from tacit.probes.consistency.options import ConsistencyOptions
    from tacit.probes.consistency.predictor import Predictor
    from tacit.probes.consistency.scored import Scored
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording

_FEWEST = 2


@dataclass(frozen=True)
class FactEffect:
    """A background fact and its effect on the predicted probability of a correct answer."""

    fact: str
    correct: bool | None
    effect: float | None


@dataclass(frozen=True)
class AnswerPrediction:
    """A prediction of whether a model's answer to a question is correct."""

    p_correct: float
    interval: tuple[float, float]
    answer: str
    facts: tuple[FactEffect, ...]
    predictor: str
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """All notes as a single text; None if there are no notes."""
        return " ".join(self.notes) or None

    def to_json(self) -> dict[str, Any]:
        """Return the prediction as values that JSON can represent."""
        return {
            "p_correct": self.p_correct,
            "interval": list(self.interval),
            "answer": self.answer,
            "facts": [
                {"fact": one.fact, "correct": one.correct, "effect": one.effect}
                for one in self.facts
            ],
            "predictor": self.predictor,
            "note": self.note,
        }

    def table(self) -> pl.DataFrame:
        """Return the table ``effects``: each fact's effect on the predicted probability."""
        import polars as pl

        return pl.DataFrame(self.to_json()["facts"], schema=DETAILS["effects"].schema)


@dataclass(frozen=True)
class NewQuestion:
    """A new question for a model, with the background of the question."""

    anchor: Anchor
    background: Background
    templates: Templates
    wording: Wording
    version: str
    reading: Reading

    @classmethod
    def of(cls, options: ConsistencyOptions, question: str, choices: Sequence[str]) -> Self:
        """Extract the background of a new question, using the extraction options of a run."""
        from tacit.knowledge.background import background
        from tacit.knowledge.base import KnowledgeBase
        from tacit.knowledge.words import spare_torch
        from tacit.probes.consistency.template import load_templates
        from tacit.probes.consistency.wording import wording

        asked = _checked(question, choices)
        worded, templates = wording(options.wording), load_templates(options.templates)
        reading = Reading.of(options, templates)
        if reading.method.preset == "calibrated":
            raise RequestError(
                "the run's --answering calibrated subtracts means over all questions of the run, "
                "which a new question is not one of: predict with a run of --answering max, count "
                "or single"
            )
        spare_torch(options.background.tagger)
        with KnowledgeBase(options.kb) as base:
            texts = [(asked.question, *asked.choices)]
            found = background(base, texts, options.background.extraction())
        version = options.background.paper_version
        return cls(asked, found, templates, worded, version, reading)

    @cached_property
    def asked(self) -> Asked:
        """The facts and the questions about the facts."""
        return Asked.of(self.background.facts, self.templates, self.wording)

    @cached_property
    def prompt_set(self) -> PromptSet:
        """The prompts for the new question, in the same named groups as in a run."""
        return PromptSet(
            self.asked.texts,
            (self.anchor,),
            self.reading.variants(self.templates, self.version),
            self.reading.choice_variants(self.templates, self.version),
            self.templates,
            self.reading.anchoring,
        )

    def requests(self) -> Mapping[str, Requests]:
        """Return the model requests for the new question, by the name of the request group."""
        return self.prompt_set.requests

    def predict(self, answers: Answers, predictors: Mapping[str, Predictor]) -> AnswerPrediction:
        """Predict whether the model's answer to the question is correct."""
        scored = self._scored(answers)
        values = self._values(scored)
        chosen = scored.chosen(self.reading.anchoring[0])
        if chosen is None or values["answer_margin"] is None:
            raise RequestError(
                "the model has no answer to the question, because choices tie or have no score"
            )
        known = FactAnswers.of(scored.answers(self.reading.method), self.asked)
        predictor = predictors[MARGIN if predictors[BOTH].missing(values) else BOTH]
        found = predictor.probability(values)
        low, high = found.low or 0.0, found.high or 0.0
        return AnswerPrediction(
            found.value or 0.0,
            (low, high),
            self.anchor.choices[int(chosen.choice[0])],
            self._effects(known, predictor, values),
            predictor.name,
            tuple(self._notes(predictors, predictor, values)),
        )

    def _scored(self, answers: Answers) -> Scored:
        if answers.sampled:
            return self.prompt_set.voted({name: answers.votes(name) for name in answers.groups})
        return self.prompt_set.scored({name: answers.scores(name) for name in answers.groups})

    def _values(self, scored: Scored) -> dict[str, float | None]:
        """Return the features of the question by name."""
        found = features.features(scored, self.reading, self.asked, self.background.concepts)
        return found.row(0, named=True)

    def _notes(
        self,
        predictors: Mapping[str, Predictor],
        used: Predictor,
        values: Mapping[str, float | None],
    ) -> Iterator[str]:
        """Yield notes on features that are missing or outside the range of the run's questions."""
        missing = predictors[BOTH].missing(values)
        if self.asked.facts.is_empty():
            yield "The prediction uses the answer margin alone: there is no background fact."
        elif missing:
            yield (
                "The prediction uses the answer margin alone. The question has no value for: "
                f"{_named(missing)}."
            )
        outside = used.outside(values)
        if outside:
            yield (
                f"Outside the range of the run's questions, which makes the prediction uncertain: "
                f"{_named(outside)}."
            )

    def _effects(
        self, known: FactAnswers, predictor: Predictor, values: Mapping[str, float | None]
    ) -> tuple[FactEffect, ...]:
        """Return the facts' effects on ``p_correct``, sorted by decreasing absolute value."""
        found = []
        correct = known.correct.positive
        names = self.asked.facts.select("head", "relation", "tail").rows()
        whole = predictor.probability(values).value or 0.0
        for fact, name in enumerate(names):
            answered = correct[fact] == correct[fact]  # not NaN
            effect = None
            if answered and predictor.name == BOTH:
                other = features.of_background(known.flipped(fact), self.asked, 1)
                moved = predictor.probability({**values, **other.row(0, named=True)}).value
                effect = whole - (moved or 0.0)
            right = bool(correct[fact]) if answered else None
            found.append(FactEffect(" ".join(name), right, effect))
        return tuple(sorted(found, key=lambda one: (-abs(one.effect or 0.0), one.fact)))


def _named(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _checked(question: str, choices: Sequence[str]) -> Anchor:
    """Check the question and its choices, and return them as an anchor question."""
    given = list(map(Spellings(), (choice.strip() for choice in choices)))
    if not question.strip() or not all(given):
        raise RequestError("the question or one of its choices is empty")
    if len(given) < _FEWEST:
        raise RequestError(
            f"the question has {several(len(given), 'choice')}: give two or more choices"
        )
    repeated = sorted({choice for choice in given if given.count(choice) > 1})
    if repeated:
        raise RequestError(f"the choice {repeated[0]!r} is given twice; give each choice once")
    return Anchor("new", question.strip(), tuple(given), None)
