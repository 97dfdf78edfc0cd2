"""How ``tacit run`` carries out a probe: each model's folder, its prompts, its findings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from tacit.cli.engines import EngineOptions
from tacit.errors import RequestError
from tacit.naming import file_name
from tacit.prompts import missing_by_reason

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tacit.cli.costs import Cost
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions
    from tacit.probes.findings import Findings
    from tacit.prompts import LogProbs, Prompt
    from tacit.runs import Run


class Probe(Protocol):
    """What every probe offers: what to ask, and what the answers show."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        """What is asked."""
        ...

    def measure(self, scores: Sequence[LogProbs]) -> Findings:
        """Findings from one score per prompt."""
        ...


@dataclass(frozen=True)
class Job:
    """A probe to be run on models.

    Args:
        probe: What to ask, and how to measure it.
        folders: Each model's run, by the model's name.
        about: What the manifest says beside the model.
        loading: How models are loaded.
        store: Where scores are kept.
        engine: Who asks them.
        yes: Whether the cost of a server's chat is meant.
    """

    probe: Probe
    folders: Mapping[str, Run]
    about: Mapping[str, Any]
    loading: LoadOptions
    store: Store
    engine: EngineOptions = field(default_factory=EngineOptions)
    yes: bool = False

    def run(self) -> dict[Path, tuple[str, Findings]]:
        """Each model's folder, its name and what it shows."""
        from tacit.cli import costs

        self._check_votes()
        chats = costs.chats_of(list(self.folders), self.loading.server)
        if chats:
            costs.confirm(chats, self._cost(), yes=self.yes)
        return {
            folder.folder: (name, self._asked(name, folder))
            for name, folder in self.folders.items()
        }

    def _asked(self, name: str, folder: Run) -> Findings:
        """What one model shows; its engine is not kept, so that one at a time is in memory."""
        from tacit.cli import voting

        if voting.is_sampled(name, self.loading):
            sampling = voting.engine_of(name, self.loading, self.store)
            return voting.ask_a_model(self.probe, sampling, folder, self.about)
        return ask_a_model(self.probe, self._engine(name), folder, self.about)

    def _check_votes(self) -> None:
        """Refuses, before any cost, what sampled replies or their first tokens cannot tell."""
        from tacit.cli import voting

        if any(voting.is_sampled(name, self.loading) for name in self.folders):
            voting.votable(self.probe)

    def _cost(self) -> Cost:
        from tacit.cli.costs import Cost
        from tacit.models.server.address import ServerOptions

        return Cost.of(self.probe.prompts, self.loading.server or ServerOptions())

    def estimate(self) -> dict[str, dict[str, Any]]:
        """What would be asked of each model, and about how long it would take."""
        from tacit.cli import asking, costs

        self._check_votes()
        chats = costs.chats_of(list(self.folders), self.loading.server)
        return {
            name: (
                self._cost().to_json()
                if name in chats
                else asking.estimate(self._engine(name), self.probe.prompts, folder.blocks)
            )
            for name, folder in self.folders.items()
        }

    def _engine(self, name: str) -> Engine:
        return self.engine.start(name, self.loading, self.store)


def echo_estimates(estimates: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Prints what would be asked of each model."""
    from tacit.cli.asking import echo_estimate

    told = [{"model": name, **estimate} for name, estimate in estimates.items()]
    if as_json:
        typer.echo(json.dumps({"runs": told}))
        return
    for each in told:
        echo_estimate(each)


def echo_json(found: Mapping[Path, tuple[str, Findings]], **more: object) -> None:
    """Prints what each model showed as JSON, and whatever more there is to say of them together."""
    runs = [
        {"model": name, "out": str(folder), **of.summary} for folder, (name, of) in found.items()
    ]
    typer.echo(json.dumps({"runs": runs, **more}))


def folders_of(models: Sequence[str], out: Path, request: Mapping[str, Any]) -> dict[str, Run]:
    """Each model's run: in ``out`` itself, or with several models in a folder of it named so.

    Raises:
        RequestError: A model is named twice, or a folder holds another run.
    """
    from tacit.runs import Run

    if len(set(models)) < len(models):
        raise RequestError("a model is named twice")
    if len(models) == 1:
        return {models[0]: Run(out, {**request, "model": models[0]})}
    if models and (out / "run.yaml").exists():
        raise RequestError(f"{out} holds the run of one model: choose another --out for several")
    taken: set[str] = set()
    folders: dict[str, Run] = {}
    for name in models:
        place = _folder_name(name, taken)
        taken.add(place.casefold())
        folders[name] = Run(out / place, {**request, "model": name})
    _check_beside(out, [run.folder for run in folders.values()])
    return folders


def _check_beside(out: Path, folders: Sequence[Path]) -> None:
    """Refuses to overwrite what stands where several runs' comparison and figures are written.

    Where one of the runs is there already, they are taken for that command's own.

    Raises:
        RequestError: There is something, and none of the runs.
    """
    if any((folder / "run.yaml").is_file() for folder in folders):
        return
    for name in ("comparison.parquet", "figures"):
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


def ask_a_model(probe: Probe, engine: Engine, folder: Run, about: Mapping[str, Any]) -> Findings:
    """Asks what the probe asks, measures, and keeps the run's folder true to how it went.

    Args:
        probe: What to ask, and how to measure it.
        engine: Whom to ask.
        folder: The run; nothing is written in it before all prompts are known to be scorable.
        about: What the manifest says beside the model.
    """
    from tacit.cli import asking

    plan = engine.plan(probe.prompts, folder.blocks)
    folder.begin(about_engine(engine) | dict(about))
    with folder.failing():
        plan.record(folder.blocks)
        scores = asking.ask(engine, probe.prompts, plan)
        findings = probe.measure(scores).unscored(missing_by_reason(scores))
        findings = findings.skipped(plan.skipped.items())
        findings = findings.obtained(engine.model.description.get("obtained"))
        folder.finish(findings)
    return findings


def about_engine(engine: Engine) -> dict[str, Any]:
    """What a manifest says of the model, and of who asks it."""
    return {"model": dict(engine.model.description), "engine": engine.description}


def digest(file: Path) -> str:
    """A file's SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
