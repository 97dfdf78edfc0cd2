"""Predict from a finished run whether its model answers a new question correctly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import RequestError
from tacit.models.options import ModelOptions
from tacit.options import build, declarations, sha256_of
from tacit.probes.base import Answers
from tacit.probes.consistency import new_question, predictors
from tacit.probes.consistency.features import BOTH
from tacit.probes.consistency.new_question import AnswerPrediction
from tacit.probes.consistency.options import ConsistencyOptions, of_knowledge_base
from tacit.probes.consistency.predictors import Predictor
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.registry import probe
from tacit.runs import asking
from tacit.runs.model import RunModel
from tacit.runs.reporter import Reporter

if TYPE_CHECKING:
    from tacit.runs.run import Run


@dataclass(frozen=True)
class RunPredictor:
    """A predictor that was fitted in a run, with the settings that are needed to apply it."""

    run: Run
    model: str | None = None
    kb: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Reporter)

    def __post_init__(self) -> None:
        if probe(self.run.probe) is not ConsistencyProbe:
            raise RequestError(
                f"this is a run of the probe {self.run.probe}: a prediction needs a run of "
                f"{ConsistencyProbe.name}"
            )
        if not self.predictors:
            raise RequestError(
                "the run has no predictor, because "
                f"{self.run.tables['prediction']['undefined'][0]}: predict with a run of more "
                "questions, some answered correctly and some not"
            )

    @cached_property
    def predictors(self) -> Mapping[str, Predictor]:
        """The predictors that are stored in the run, by name."""
        return predictors.stored(self.run.summary)

    def predict(self, question: str, choices: Sequence[str]) -> AnswerPrediction:
        """Predict whether the model answers a new question correctly."""
        new = new_question.probe_of(self._options(), question, choices)
        predicted = new_question.prediction(new, self._answers(new), self.predictors)
        caution = predictors.caution(self.run.tables["prediction_gains"])
        if predicted.predictor != BOTH or caution is None:
            return predicted
        return replace(predicted, notes=(*predicted.notes, caution))

    def _options(self) -> ConsistencyOptions:
        """Return the options of the run, whose data files are where they were and unchanged.

        The file of questions is not read again.
        """
        kind, request = ConsistencyProbe.Options, self.run.request
        options: ConsistencyOptions = build(kind, _named(kind, request))
        if self.kb is not None:
            options = replace(options, kb=self.kb)
        self._check("kb", options.kb, of_knowledge_base)
        if options.templates is not None:
            self._check("templates", options.templates, sha256_of)
        return options

    def _check(self, name: str, path: Path, digest: Callable[[Path], Mapping[str, Any]]) -> None:
        """Raise an error if a data file of the run is missing or has changed."""
        if not path.is_file():
            moved = " give --kb PATH, or" if name == "kb" else ""
            raise RequestError(
                f"{path}, which the run used, does not exist here:{moved} run the command in "
                "the folder where the run was made"
            )
        (now,) = digest(path).values()
        before = self.run.data.get(self.run.request[name])
        if json.dumps(now, sort_keys=True) != json.dumps(before, sort_keys=True):
            raise RequestError(
                f"{path} has changed since the run: repeat the run, or restore the file"
            )

    def _answers(self, new: ConsistencyProbe) -> Answers:
        groups, model = new.requests(), self._model
        requests = asking.ungrouped(groups)
        self.reporter.confirm(model.costs(requests), yes=model.loading.server.yes)
        plan = self._engine.plan(requests)
        answers = asking.answers_to(requests, self._engine, plan, self.reporter)
        return asking.grouped(groups, answers)

    @cached_property
    def _model(self) -> RunModel:
        name = self.model or str(self.run.request["model"])
        given = {**_named(ModelOptions, self.run.request), **self.settings}
        settings: ModelOptions = build(ModelOptions, given)
        loading = settings.load.of([name], from_file=self.model is None)
        return RunModel(name, loading, store=self.store)

    @cached_property
    def _engine(self) -> Engine:
        """The engine for the run's model; the model is loaded once and used for all predictions."""
        engine = self._model.start()
        if engine.model.fingerprint != self.run.model.get("fingerprint"):
            raise RequestError(
                f"{engine.model.name} differs from the model of the run, "
                f"{self.run.model.get('name')}: a predictor applies only to the model that it was "
                "fitted on"
            )
        return engine


def _named(kind: type, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of a class that ``run.yaml`` includes, with their values in a run."""
    known = declarations(kind).items()
    return {name: request[name] for name, of in known if of.requested and name in request}
