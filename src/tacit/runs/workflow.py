"""How a probe is run on models: folders, probes, questions, answers, findings, comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine.options import EngineOptions
from tacit.errors import ModelError, RequestError
from tacit.files import file_name
from tacit.models.settings import ModelSettings
from tacit.options import digests, requested, sha256_of
from tacit.probes.base import ModelWords, ReadsBeliefs, probe
from tacit.runs import asking
from tacit.runs.comparison import compared, warnings
from tacit.runs.estimate import estimate
from tacit.runs.folder import RunFolder
from tacit.runs.reading import Run, Runs, named
from tacit.runs.reporter import Quiet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.findings.findings import Findings
    from tacit.models.loading import LoadOptions
    from tacit.probes.base import AnyProbe, Probe
    from tacit.requests import Request
    from tacit.runs.reporter import Reporter

REPORT = "report.html"
"""The name of a report in a folder of runs."""

FROM_FILE = "beliefs from a file"
"""How beliefs that were elicited elsewhere are described."""


@dataclass(frozen=True)
class RunRequest:
    """A probe to be run on one model or several, or on beliefs that were elicited elsewhere.

    Args:
        probe: The probe's name.
        options: An instance of the probe's ``Options``.
        models: The models' names.
        beliefs: A file of beliefs, in place of a model.
        out: The run's folder, or with several models the folder of their runs; None writes
            nothing.
        settings: How models are loaded.
        engine: Who asks them.
        store: The score store; None for the default.
        reporter: Receives the progress of the run.

    Raises:
        RequestError: There is neither a model nor a file of beliefs, or both; a model is named
            twice; or a folder holds another run.
        ModelError: A model's name leads nowhere.
    """

    probe: str
    options: Any
    models: tuple[str, ...] = ()
    beliefs: Path | None = None
    out: Path | None = None
    settings: ModelSettings = field(default_factory=ModelSettings)
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    reporter: Reporter = field(default_factory=Quiet)

    def __post_init__(self) -> None:
        if bool(self.models) == (self.beliefs is not None):
            raise RequestError("give either models (--model) or a file of beliefs (--beliefs)")
        if len(set(self.models)) < len(self.models):
            raise RequestError("a model is named twice")
        self.engine.check(self.models, self.loading)
        kind = probe(self.probe)
        if hasattr(kind, "for_models"):
            _check_vocabularies(self.models, self.beliefs)

    @cached_property
    def loading(self) -> LoadOptions:
        """How the models are loaded."""
        return self.settings.options(self.models)

    @cached_property
    def _store(self) -> Store:
        from tacit.engine.store import Store

        return self.store or Store.default()

    @cached_property
    def made(self) -> AnyProbe:
        """The probe, as its options describe it."""
        return probe(self.probe).of(self.options)

    @cached_property
    def folders(self) -> Mapping[str, RunFolder]:
        """Each model's run."""
        request = {"probe": self.probe, **requested(self.options)}
        if self.beliefs is not None:
            return {
                self.beliefs.name: RunFolder(self.out, {**request, "beliefs": str(self.beliefs)})
            }
        if hasattr(self.made, "for_models"):
            request["compared"] = sorted(self.models)  # whose words they share
        request |= requested(self.settings.named)
        return folders_of(self.models, self.out, request)

    @cached_property
    def probes(self) -> Mapping[str, Probe]:
        """Each model's probe; where words matter, they are read first.

        Raises:
            ModelError: A model cannot be loaded.
            RequestError: The models share no word, or there is nothing to ask.
        """
        from tacit.models import loading

        if not hasattr(self.made, "for_models"):
            return dict.fromkeys(self.models, self.made)
        told = {name: loading.words_of(name, self.loading) for name in self.models}
        return self.made.for_models({name: ModelWords(*each) for name, each in told.items()})

    def run(self) -> dict[str, Run]:
        """Asks each model, one at a time in memory; gives each one's run by its name."""
        folders = self.folders
        about = {"data": digests(self.options)}
        if self.beliefs is not None:
            return {self.beliefs.name: self._measured(self.beliefs, folders, about)}
        self._check_replies()
        self._confirm()
        return {name: self._asked(name, folders[name], about) for name in self.models}

    def publish(self, found: Mapping[str, Run], *, report: bool = True) -> pl.DataFrame | None:
        """Compares several models and, where there is a folder, writes what is beside the runs.

        Args:
            found: The runs.
            report: Whether a report is written as well.

        Returns:
            How each two models differ; None of a single one.

        Raises:
            WorkError: A file cannot be written.
        """
        runs = list(found.values())
        for warning in warnings(runs):
            self.reporter.warn(warning)
        if self.out is not None and report:
            Runs(tuple(named(runs))).report(self.out / REPORT)
        return compared(runs, self.out)

    def estimate(self) -> dict[str, dict[str, Any]]:
        """What would be asked of each model, and about how long it would take.

        Raises:
            RequestError: Beliefs are there already.
        """
        if self.beliefs is not None:
            raise RequestError("--dry-run is for models; beliefs are there already")
        self._check_replies()
        return {name: self._estimated(name) for name in self.models}

    def _estimated(self, name: str) -> dict[str, Any]:
        requests = self._requests(name)
        if name in self._chats:
            cost: dict[str, Any] = self._cost(name).to_json()
            return cost
        return estimate(self._started(name), requests, self.folders[name].blocks)

    def _asked(self, name: str, folder: RunFolder, about: Mapping[str, Any]) -> Run:
        """One model's run; its engine is not kept, so that one at a time is in memory."""
        made, told = self.probes[name], folder.about(about)
        return _run(told, asking.ask(made, self._started(name), told, self.reporter), name)

    def _measured(
        self, beliefs: Path, folders: Mapping[str, RunFolder], about: Mapping[str, Any]
    ) -> Run:
        """The run of beliefs that were elicited elsewhere."""
        made = self.made
        if not isinstance(made, ReadsBeliefs):
            raise RequestError(f"the probe {self.probe} reads no beliefs from a file")
        folder = folders[beliefs.name].about(about)
        model = {"kind": "beliefs", "name": beliefs.name, "elicitation": FROM_FILE}
        (model["sha256"],) = sha256_of(beliefs).values()
        folder.begin({"model": model})
        with folder.failing():
            findings = folder.finish(made.measure_file(beliefs).with_elicitation(FROM_FILE))
        return _run(folder, findings, beliefs.name)

    def _started(self, name: str) -> Engine:
        return self.engine.start(name, self.loading, self._store)

    @property
    def _chats(self) -> list[str]:
        from tacit.runs.estimate import chats_of

        return chats_of(self.models, self.loading.server)

    def _cost(self, name: str) -> Any:  # noqa: ANN401 - a Cost
        from tacit.models.openai.options import ServerOptions
        from tacit.runs.estimate import Cost

        return Cost.of(self._requests(name), self.loading.server or ServerOptions())

    def _requests(self, name: str) -> list[Request]:
        return asking.ungrouped(asking.requests_of(self.probes[name]))

    def _confirm(self) -> None:
        costs = {name: self._cost(name) for name in self._chats}
        self.reporter.confirm(costs, yes=self.settings.server.yes)

    def _check_replies(self) -> None:
        for name in self._chats:
            asking.check_replies(self.probes[name], sampled=asking.is_sampled(name, self.loading))


def _run(folder: RunFolder, findings: Findings, name: str) -> Run:
    return Run(
        folder.folder, name, folder.request, folder.manifest, findings.tables, findings.questions
    )


def _check_vocabularies(models: Sequence[str], beliefs: Path | None) -> None:
    """Refuses what ranks no vocabulary, where one is to be ranked.

    Raises:
        ModelError: A name is a server's address.
        RequestError: Beliefs are to be read from a file.
    """
    from tacit.models.openai.options import is_address

    if beliefs is not None:
        raise RequestError("beliefs in a file rank no vocabulary: give a model")
    for name in models:
        if is_address(name):
            raise ModelError(
                f"{name}: a server returns the most probable tokens alone, and this ranks a whole "
                "vocabulary: use a model in this process"
            )


def folders_of(
    models: Sequence[str], out: Path | None, request: Mapping[str, Any]
) -> dict[str, RunFolder]:
    """Each model's run: in ``out`` itself, or with several models in a folder of it named so.

    Raises:
        RequestError: A folder holds another run.
    """
    if out is None or len(models) == 1:
        return {name: RunFolder(out, {**request, "model": name}) for name in models}
    if (out / "run.yaml").exists():
        raise RequestError(f"{out} holds the run of one model: choose another --out for several")
    taken: set[str] = set()
    folders: dict[str, RunFolder] = {}
    for name in models:
        place = _folder_name(name, taken)
        taken.add(place.casefold())
        folders[name] = RunFolder(out / place, {**request, "model": name})
    _check_beside(out, [run.folder for run in folders.values() if run.folder])
    return folders


def _check_beside(out: Path, folders: Sequence[Path]) -> None:
    """Refuses to overwrite what stands where several runs' comparison and figures are written.

    Where one of the runs is there already, they are taken for that command's own.

    Raises:
        RequestError: There is something, and none of the runs.
    """
    if any((folder / "run.yaml").is_file() for folder in folders):
        return
    for name in ("comparison.parquet", "figures", REPORT):
        if (out / name).exists():
            raise RequestError(
                f"{out / name} exists, and {out} holds none of these runs: choose another --out"
            )


def _folder_name(model: str, taken: Collection[str]) -> str:
    """A name for a model's folder that no other has, on file systems without case either."""
    try:
        place = Path(model)
        own = place.resolve().name if place.is_dir() else model
    except OSError:
        own = model  # no name that a folder can have
    name = file_name(own)
    candidates = (f"{name}-{n}" if n > 1 else name for n in count(1))
    return next(candidate for candidate in candidates if candidate.casefold() not in taken)
