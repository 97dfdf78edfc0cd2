"""A worker of the Ray engine: a process that loads a model and writes answers to the store.

A worker returns errors as ``Failed`` objects, because some exceptions cannot be sent between
processes.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Self, TypeVar

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import (
    DISTRIBUTION,
    ModelError,
    NetworkError,
    PromptError,
    RequestError,
    ScoringError,
    StoreError,
    TacitError,
    TooLongError,
    WorkError,
)
from tacit.models.base import CutsBlocks, LanguageModel
from tacit.models.huggingface.fingerprint import FileHashes

Loader = Callable[[FileHashes], LanguageModel]
"""A function that a worker calls to load the model."""

VERSION = metadata.version(DISTRIBUTION)

T = TypeVar("T")

_TOLD: dict[str, type[TacitError]] = {
    kind.__name__: kind
    for kind in (
        WorkError,
        ScoringError,
        StoreError,
        RequestError,
        PromptError,
        TooLongError,
        ModelError,
        NetworkError,
    )
}


@dataclass(frozen=True)
class Order:
    """Instructions for creating a worker of the Ray engine."""

    load: Loader
    store: str
    threads: int
    gpus: float
    version: str = VERSION


@dataclass(frozen=True)
class Loaded:
    """A worker's report after its model is loaded."""

    name: str
    fingerprint: str
    description: Mapping[str, Any]
    cuts_blocks: bool
    supports: frozenset[type]
    warnings: tuple[str, ...]
    host: str


@dataclass(frozen=True)
class Stored:
    """A worker's report that it has stored the answers to a block of requests."""

    segment: str
    host: str


@dataclass(frozen=True)
class Failed:
    """A worker's report of an error."""

    kind: str
    message: str
    is_final: bool
    is_ours: bool

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Convert an exception to a ``Failed`` object."""
        # A model that failed because of a library or GPU error may work on another worker.
        foreign = error.__cause__ is not None and not isinstance(error.__cause__, TacitError)
        is_ours = isinstance(error, TacitError) and not (
            foreign and isinstance(error, ScoringError)
        )
        own = isinstance(error, TacitError)
        message = str(error) if own else f"{type(error).__name__}: {error}"
        if not is_ours:
            message += f" (on {platform.node()})"
        is_final = is_ours and isinstance(error, RequestError | ScoringError | NetworkError)
        fallback = "RequestError" if isinstance(error, RequestError) else "WorkError"
        kind = type(error).__name__ if type(error).__name__ in _TOLD else fallback
        return cls(kind if is_ours else "ScoringError", message, is_final, is_ours)

    @property
    def error(self) -> TacitError:
        """The exception to raise in the process that started the run."""
        return _TOLD[self.kind](self.message)


class Worker:
    """A worker of the Ray engine, which loads a model and answers blocks of requests."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._engine: Engine | None = None

    def load(self) -> Loaded | Failed:
        """Load the model."""
        return _or_failed(self._load)

    def call(self, method: str, arguments: Sequence[object]) -> object:
        """Call a method of the model and return the result."""
        return _or_failed(lambda: getattr(self._asked.model, method)(*arguments))

    def work(self, requests: Sequence[Any]) -> Stored | Failed:
        """Compute the answers to a block of requests and store the answers."""
        return _or_failed(lambda: Stored(str(self._asked.keep(requests)), platform.node()))

    def ping(self) -> str:
        """Return Ray's ID of the worker's node, even while the worker is computing answers."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def _load(self) -> Loaded:
        order, host = self._order, platform.node()
        if order.version != VERSION:
            raise RequestError(
                f"Tacit is version {VERSION} on {host}, but version {order.version} on the machine "
                "that started the run: install the same version on every node"
            )
        _compute_in(order.threads)
        if not order.gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the GPUs belong to other workers
        store = Store(order.store)
        with _Listening() as heard:
            model = order.load(store.hashes)
        _compute_in(order.threads)
        if order.gpus and model.description.get("device") == "cpu":
            raise ModelError(
                f"{model.name}: according to Ray, the worker on {host} has a GPU, but torch finds "
                "none: install torch with CUDA, or pass --gpus-per-worker 0"
            )
        self._engine = Engine(model, store)
        return Loaded(
            name=model.name,
            fingerprint=model.fingerprint,
            description=dict(model.description),
            cuts_blocks=isinstance(model, CutsBlocks),
            supports=frozenset(model.supports),
            warnings=tuple(heard.messages),
            host=host,
        )

    @property
    def _asked(self) -> Engine:
        if self._engine is None:
            raise WorkError("this worker has not loaded a model yet")
        return self._engine


class _Listening(logging.Handler):
    """A log handler that collects the warnings that Tacit logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Add the message of a log record to the collected warnings."""
        self.messages.append(record.getMessage())

    def __enter__(self) -> Self:
        logging.getLogger("tacit").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("tacit").removeHandler(self)


def _compute_in(threads: int) -> None:
    """Set the number of threads that torch and the tokenizers use."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def _or_failed(do: Callable[[], T]) -> T | Failed:
    try:
        return do()
    except Exception as error:  # noqa: BLE001 - every error is reported to the driver
        return Failed.of(error)
