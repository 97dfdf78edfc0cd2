"""The options by which models are asked: in this process, or by workers of a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tacit.errors import RequestError
from tacit.options import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions

CLUSTER = "Cluster"


@dataclass(frozen=True)
class EngineOptions:
    """Who asks a model, and with how much of a machine."""

    engine: Literal["local", "ray"] = option(
        "local",
        help="local (this process), or ray (workers here or elsewhere).",
        group=CLUSTER,
        requested=False,
    )
    address: str | None = option(
        None,
        help="With --engine ray: a running cluster, auto, HOST:PORT or ray://HOST:PORT "
        "[default: $RAY_ADDRESS, else one that is started here for the run].",
        group=CLUSTER,
        requested=False,
    )
    workers: int | None = option(
        None,
        help="With --engine ray: how many workers [default: one per GPU, else per node].",
        least=1,
        group=CLUSTER,
        requested=False,
    )
    gpus_per_worker: float | None = option(
        None,
        help="With --engine ray: each worker's GPUs, such as 0.5 or 2 [default: 1 or none].",
        least=0,
        group=CLUSTER,
        requested=False,
    )
    threads: int | None = option(
        None,
        help="In how many threads the model computes, here or in each worker, on a CPU.",
        least=1,
        group=CLUSTER,
        requested=False,
    )
    strict: bool = option(
        default=False,
        help="Refuse the run if a prompt is longer than the model's window; else it is skipped.",
        group="What to ask",
        requested=False,
    )

    def check(self, models: Sequence[str], loading: LoadOptions) -> None:
        """Refuses, before any model is loaded, what does not go together.

        Raises:
            ModelError: As ``tacit.models.loading.check_name``; the folders of workers are theirs.
            RequestError: An option for workers without any, or one that a server has no use for.
        """
        from tacit.models.loading import check_name
        from tacit.models.openai.options import is_address

        for name in models if self.engine == "ray" or self.threads else ():
            if is_address(name):
                given = "--engine ray" if self.engine == "ray" else "--threads"
                raise RequestError(
                    f"{given} is for models that are loaded, and {name} is a server's address: "
                    "leave it off, and see --concurrency"
                )
        theirs = {
            "--address": self.address,
            "--workers": self.workers,
            "--gpus-per-worker": self.gpus_per_worker,
        }
        for flag, value in theirs.items():
            if self.engine != "ray" and value is not None:
                raise RequestError(f"{flag} goes with --engine ray, and with no other")
        for name in models if self.engine != "ray" else ():
            check_name(name, loading)

    def start(self, name: str, loading: LoadOptions, store: Store) -> Engine:
        """An engine that asks one model; whoever drops it frees the model.

        Raises:
            ModelError: As ``tacit.models.loading.load_model``.
            RequestError: As ``check``, or as ``tacit.engine.ray.engine.load_engine``.
        """
        from tacit.engine.ask import Engine
        from tacit.models import loading as models

        self.check([name], loading)
        if self.engine == "ray":
            from tacit.engine.ray.engine import RayOptions, load_engine

            cluster = RayOptions(self.address, self.workers, self.gpus_per_worker, self.threads)
            return replace(load_engine(name, loading, store, cluster), strict=self.strict)
        if self.threads:
            _compute_in(self.threads)
        model = models.load_model(name, loading, store.hashes)
        return Engine(model, store, strict=self.strict)


def _compute_in(threads: int) -> None:
    try:
        import torch
    except ImportError:
        return  # loading says what is missing
    torch.set_num_threads(threads)
