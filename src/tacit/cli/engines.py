"""Which engine asks, as the command line says it: this process, or workers of a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.cli import options as given
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.pace import Pace
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions


@dataclass(frozen=True)
class EngineOptions:
    """Who asks a model, and with how much of a machine.

    Args:
        engine: ``local`` or ``ray``.
        address: As for ``tacit.engine.ray.RayOptions``, like the two below.
        workers: How many workers.
        gpus_per_worker: Each one's share of GPUs.
        threads: In how many threads the model computes, in this process or in each worker.
        strict: As for ``tacit.engine.ask.Engine``.
    """

    engine: given.EngineName = "local"
    address: given.ClusterAddress = None
    workers: given.Workers = None
    gpus_per_worker: given.GpusPerWorker = None
    threads: given.Threads = None
    strict: given.Strict = False

    def check(self, models: Sequence[str], loading: LoadOptions) -> None:
        """Refuses, before any model is loaded, what does not go together.

        Raises:
            ModelError: As ``tacit.models.loading.check_place``; the folders of workers are theirs.
            RequestError: An option for workers without any, or one that a server has no use for.
        """
        from tacit.cli import asking
        from tacit.models.server.address import is_address

        for name in models if self.engine == "ray" or self.threads else ():
            if is_address(name):
                option = "--engine ray" if self.engine == "ray" else "--threads"
                raise RequestError(
                    f"{option} is for models that are loaded, and {name} is a server's address: "
                    "leave it off, and see --concurrency"
                )
        theirs = {
            "--address": self.address,
            "--workers": self.workers,
            "--gpus-per-worker": self.gpus_per_worker,
        }
        for option, value in theirs.items():
            if self.engine != "ray" and value is not None:
                raise RequestError(f"{option} goes with --engine ray, and with no other")
        if self.engine != "ray":
            asking.check_places(models, loading)

    def start(self, name: str, loading: LoadOptions, store: Store) -> Engine:
        """An engine that asks one model; whoever drops it frees the model.

        Raises:
            ModelError: As ``tacit.models.loading.load_model``.
            RequestError: As ``check``, or as ``tacit.engine.ray.load_engine``.
        """
        from tacit.cli import asking

        self.check([name], loading)
        if self.engine == "ray":
            return self._on_ray(name, loading, store)
        from tacit.engine.ask import Engine

        if self.threads:
            _compute_in(self.threads)
        model = asking.load(name, loading, store)
        return Engine(model, store, strict=self.strict, pace=_pace(name, loading))

    def _on_ray(self, name: str, loading: LoadOptions, store: Store) -> Engine:
        from tacit.cli import asking
        from tacit.engine.ray import RayOptions, load_engine

        asking.tell_warnings()
        options = RayOptions(self.address, self.workers, self.gpus_per_worker, self.threads)
        return replace(load_engine(name, loading, store, options), strict=self.strict)


def _pace(name: str, loading: LoadOptions) -> Pace | None:
    """In what parts blocks are stored: a server's answers do not depend on what is asked beside."""
    from tacit.engine.pace import Pace
    from tacit.models.server.address import ServerOptions, is_address

    if not is_address(name):
        return None
    return Pace((loading.server or ServerOptions()).concurrency)


def _compute_in(threads: int) -> None:
    try:
        import torch
    except ImportError:
        return  # loading says what is missing
    torch.set_num_threads(threads)
