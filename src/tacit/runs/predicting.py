"""Predict from a finished run whether its model answers a new question correctly."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine.options import EngineOptions
from tacit.errors import RequestError
from tacit.models.settings import ModelSettings
from tacit.options import build, declarations, sha256_of
from tacit.probes.consistency import predictor
from tacit.probes.consistency.features import BOTH
from tacit.probes.consistency.new_question import NewQuestion
from tacit.probes.consistency.options import of_knowledge_base
from tacit.probes.consistency.prediction import adds, background_adds, why
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.registry import probe
from tacit.runs import asking
from tacit.runs.estimate import Cost, chats_of
from tacit.runs.reporter import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions
    from tacit.probes.base import Answers
    from tacit.probes.consistency.new_question import AnswerPrediction
    from tacit.probes.consistency.options import ConsistencyOptions
    from tacit.probes.consistency.predictor import Predictor
    from tacit.runs.reading import Run
    from tacit.runs.reporter import Reporter


@dataclass(frozen=True)
class RunPredictor:
    """A predictor that was fitted in a run, with the settings that are needed to apply it."""

    run: Run
    model: str | None = None
    kb: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Quiet)

    def __post_init__(self) -> None:
        if probe(self.run.probe) is not ConsistencyProbe:
            raise RequestError(
                f"this is a run of the probe {self.run.probe}: a prediction needs a run of "
                f"{ConsistencyProbe.name}"
            )
        if not self.predictors:
            reason = self.run.summary["prediction_rows"]["undefined"]
            raise RequestError(
                f"the run has no predictor, because {why(reason)}: predict with a run of more "
                "questions, some answered correctly and some not"
            )

    @property
    def predictors(self) -> dict[str, Predictor]:
        """The predictors that are stored in the run, by name."""
        return predictor.stored(self.run.tables)

    def predict(self, question: str, choices: Sequence[str]) -> AnswerPrediction:
        """Predict whether the model answers a new question correctly."""
        options = self._options()
        new = NewQuestion.of(options, question, choices)
        found = new.predict(self._answers(new), self.predictors)
        return replace(found, notes=(*found.notes, *self._remarks(found)))

    def _remarks(self, found: AnswerPrediction) -> Iterator[str]:
        """Yield a remark if background facts do not improve the run's predictions."""
        if found.predictor == BOTH and not background_adds(self.run.summary):
            yield f"{adds(self.run.summary)}. The prediction uses all features nevertheless."

    def _options(self) -> ConsistencyOptions:
        """Check that the data files of the run are unchanged, and return the run's options."""
        request = self.run.request
        kind = ConsistencyProbe.Options
        options: ConsistencyOptions = build(kind, _named(kind, request))
        # The file of questions is not read again.
        known = {name: self.run.manifest["data"].get(name) for name in _files(request)}
        if self.kb is not None:
            known[str(self.kb)] = known.pop(request["kb"])
            options = replace(options, kb=self.kb)
        for place in known:
            if not Path(place).is_file():
                moved = " give --kb PATH, or" if place == str(options.kb) else ""
                raise RequestError(
                    f"{place}, which the run used, does not exist here:{moved} run the command in "
                    "the folder where the run was made"
                )
        now: dict[str, Any] = dict(of_knowledge_base(options.kb))
        if options.templates is not None:
            now |= sha256_of(options.templates)
        for place, digest in known.items():
            if json.loads(json.dumps(now[place])) != json.loads(json.dumps(digest)):
                raise RequestError(
                    f"{place} has changed since the run: repeat the run, or restore the file"
                )
        return options

    def _answers(self, new: NewQuestion) -> Answers:
        groups = new.requests()
        requests = asking.ungrouped(groups)
        server = self._settings.server
        costs = {name: Cost.of(requests, server.options()) for name in self._chats}
        self.reporter.confirm(costs, yes=server.yes)
        plan = self._engine.plan(requests)
        return asking.grouped(
            groups, asking.answers_to(requests, self._engine, plan, self.reporter)
        )

    @property
    def _name(self) -> str:
        return self.model or str(self.run.request["model"])

    @cached_property
    def _settings(self) -> ModelSettings:
        settings: ModelSettings = build(
            ModelSettings, {**_named(ModelSettings, self.run.request), **self.settings}
        )
        return settings

    @cached_property
    def _loading(self) -> LoadOptions:
        return self._settings.options([self._name], from_file=self.model is None)

    @property
    def _chats(self) -> list[str]:
        return chats_of([self._name], self._loading.server)

    @cached_property
    def _engine(self) -> Engine:
        """The engine for the run's model; the model is loaded once and used for all predictions."""
        from tacit.engine.store import Store

        store = self.store or Store.default()
        engine = EngineOptions().start(self._name, self._loading, store)
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
    return {name: request[name] for name, of in known if of.about.requested and name in request}


def _files(request: Mapping[str, Any]) -> list[str]:
    """Return the paths of a run's data files that are needed for predictions."""
    return [request[name] for name in ("kb", "templates") if request.get(name) is not None]
