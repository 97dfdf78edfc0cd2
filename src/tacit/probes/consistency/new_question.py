"""Predict whether a model answers a new question correctly, with the facts that moved it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.base import Answers
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import YES
from tacit.probes.consistency.features import BOTH, MARGIN, features, of_background
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.predictors import Predictor
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.results import model_answers, scored
from tacit.sources.questions import Anchor
from tacit.strings import Spellings

_FEWEST = 2


@dataclass(frozen=True)
class AnswerPrediction:
    """A prediction of whether a model's answer to a question is correct.

    ``facts`` has the columns ``fact``, ``correct`` and ``effect``, the largest effect first.
    """

    p_correct: float
    interval: tuple[float, float]
    answer: str
    facts: pl.DataFrame
    predictor: str
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """All notes as a single text; None if there are no notes."""
        return " ".join(self.notes) or None

    def to_json(self) -> dict[str, Any]:
        return {
            "p_correct": self.p_correct,
            "interval": list(self.interval),
            "answer": self.answer,
            "facts": self.facts.to_dicts(),
            "predictor": self.predictor,
            "note": self.note,
        }


def probe_of(
    options: ConsistencyOptions, question: str, choices: Sequence[str]
) -> ConsistencyProbe:
    """Return the probe of one question without a known answer, by the options of a run."""
    asked = _checked(question, choices)
    if options.answering == "calibrated":
        raise RequestError(
            "the run's --answering calibrated subtracts means over all questions of the run, which "
            "a new question is not one of: predict with a run of --answering max, count or single"
        )
    return ConsistencyProbe.about(replace(options, intervene=False), [asked])


def prediction(
    probe: ConsistencyProbe, answers: Answers, predictors: Mapping[str, Predictor]
) -> AnswerPrediction:
    """Predict whether the model's answer to the question of a probe is correct."""
    answered = model_answers(probe, scored(probe, answers))
    values = features(answered).row(0, named=True)
    if values["answer_margin"] is None:
        raise RequestError(
            "the model has no answer to the question, because choices tie or have no score"
        )
    missing = predictors[BOTH].missing(values)
    name = MARGIN if missing else BOTH
    predictor = predictors[name]
    whole, low, high = predictor.probability(values)
    moved: dict[int, float | None] = {}
    if not missing:
        for one in _reversed(answered.fact_answers).iter_rows(named=True):
            moved[one["anchor"]] = whole - predictor.probability({**values, **one})[0]
    if answered.facts.is_empty():
        missing = ["background facts"]
    notes = tuple(_notes(missing, predictor.outside(values)))
    answer = answered.anchors["choice"].item()
    return AnswerPrediction(whole, (low, high), answer, _effects(answered, moved), name, notes)


def _reversed(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the features of the background if the answer about one fact (``anchor``) differed."""
    reverse = YES & (pl.col("anchor") == pl.col("fact"))
    pairs = answers.select(anchor="fact").unique().join(answers, how="cross")
    return of_background(
        pairs.with_columns(
            right=pl.when(reverse).then(~pl.col("right")).otherwise("right"),
            margin=pl.when(reverse).then(-pl.col("margin")).otherwise("margin"),
        )
    ).drop("facts")


def _effects(answered: ModelAnswers, effects: Mapping[int, float | None]) -> pl.DataFrame:
    effect = pl.col("fact").replace_strict(effects, default=None, return_dtype=pl.Float64)
    known = answered.fact_answers.filter(YES).select("fact", correct="right", effect=effect)
    return (
        answered.facts.join(known, on="fact", maintain_order="left")
        .select(
            "correct",
            fact=pl.concat_str("head", "relation", "tail", separator=" "),
            effect=pl.when(pl.col("correct").is_not_null()).then("effect"),
        )
        .select("fact", "correct", "effect")
        .sort(pl.col("effect").abs().fill_null(0.0), "fact", descending=[True, False])
    )


def _notes(missing: Sequence[str], outside: Sequence[str]) -> Iterator[str]:
    """Yield sentences on features without a value and on those outside the run's range."""
    if missing:
        yield (
            f"The prediction uses the answer margin alone: the question has no {_named(missing)}."
        )
    if outside:
        yield f"Uncertain, because outside the range of the run's questions: {_named(outside)}."


def _named(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _checked(question: str, choices: Sequence[str]) -> Anchor:
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
