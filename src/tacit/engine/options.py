"""Options of the engine, which runs models in this process or on the workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from tacit.errors import RequestError
from tacit.models.base import LanguageModel
from tacit.models.options import LoadOptions
from tacit.options import option

if TYPE_CHECKING:
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store

_cluster = partial(option, group="Cluster", requested=False, rare=True)


@dataclass(frozen=True)
class EngineOptions:
    """Options of the engine: where a model runs, and which computing resources it uses."""

    engine: Literal["local", "ray"] = _cluster(
        "local",
        help="Where models run: local (in this process) or ray (in workers of a Ray cluster).",
    )
    address: str | None = _cluster(
        None,
        help="With --engine ray: the cluster's address (auto, HOST:PORT or ray://HOST:PORT) "
        "[default: $RAY_ADDRESS if set, otherwise a new local cluster].",
    )
    workers: int | None = _cluster(
        None,
        help="With --engine ray: number of workers [default: one per GPU, or one per node of a "
        "cluster without GPUs].",
        least=1,
    )
    gpus_per_worker: float | None = _cluster(
        None,
        help="With --engine ray: number of GPUs per worker, such as 0.5 or 2 [default: 1 if the "
        "cluster has GPUs].",
        least=0,
    )
    threads: int | None = _cluster(
        None,
        help="Number of CPU threads that a model uses, in this process or in each Ray worker.",
        least=1,
    )
    strict: bool = option(
        default=False,
        help="Exit with an error if any prompt exceeds the model's context window (by default, "
        "such prompts are skipped), or doubles the white space before an answer (by default, a "
        "warning). For a server's model, Tacit knows the length of a prompt only with --tokenizer.",
        requested=False,
        rare=True,
    )

    def check(self, models: Sequence[str], loading: LoadOptions) -> None:
        """Check that the options are consistent, before any model is loaded."""
        from tacit.models.loading import check_name
        from tacit.models.openai.options import is_address

        for name in models if self.engine == "ray" or self.threads else ():
            if is_address(name):
                given = "--engine ray" if self.engine == "ray" else "--threads"
                raise RequestError(
                    f"{given} applies only to models that Tacit loads, and {name} is a server's "
                    "address: omit it; to send more requests at once, use --concurrency"
                )
        theirs = {
            "--address": self.address,
            "--workers": self.workers,
            "--gpus-per-worker": self.gpus_per_worker,
        }
        for flag, value in theirs.items():
            if self.engine != "ray" and value is not None:
                raise RequestError(f"{flag} requires --engine ray")
        for name in models if self.engine != "ray" else ():
            check_name(name, loading)

    def start_with(self, model: LanguageModel, store: Store) -> Engine:
        """Start an engine for a model that is loaded.

        Raises:
            RequestError: If the model would be asked on a cluster, whose workers load it by name.
        """
        from tacit.engine.ask import Engine

        if self.engine == "ray":
            raise RequestError("a cluster loads models by name: give the model's name")
        return Engine(model, store, strict=self.strict)

    def start(self, name: str, loading: LoadOptions, store: Store) -> Engine:
        """Start an engine for one model, which is freed when the engine is garbage-collected."""
        from tacit.engine.ask import Engine, without_gc
        from tacit.models import loading as models

        self.check([name], loading)
        if self.engine == "ray":
            from tacit.engine.ray.engine import load_engine

            return load_engine(name, loading, store, self)

        def load() -> LanguageModel:
            if self.threads:
                _compute_in(self.threads)
            with without_gc():
                return models.load_model(name, loading, store.hashes)

        model = models.recorded_model(name, loading, store.hashes, load)
        return Engine(model, store, strict=self.strict)


def _compute_in(threads: int) -> None:
    try:
        import torch
    except ImportError:
        return  # loading the model reports the missing package
    torch.set_num_threads(threads)
