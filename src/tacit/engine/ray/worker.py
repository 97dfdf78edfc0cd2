"""A worker of the Ray engine: a process that loads a model and writes answers to the store."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from logging.handlers import BufferingHandler
from typing import Any, Literal, TypeVar

from tacit.engine.local import LocalExecutor
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

_PLAIN = (
    TooLongError,
    PromptError,
    ModelError,
    RequestError,
    ScoringError,
    NetworkError,
    StoreError,
    WorkError,
)
"""The errors that can be sent between processes, because they are created from a message."""


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
    """A worker's report of an error, which is not raised, because not every error can be sent."""

    error: TacitError
    is_final: bool = False
    worker: Literal["fine", "broken", "lost"] = "fine"
    """The state of the worker's process: a library's error may have broken it or its GPU."""

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Convert an exception to a ``Failed`` object."""
        own = isinstance(error, TacitError)
        by_library = error.__cause__ is not None and not isinstance(error.__cause__, TacitError)
        if own and not (isinstance(error, ScoringError) and by_library):
            plain = next(kind for kind in _PLAIN if isinstance(error, kind))
            is_final = issubclass(plain, RequestError | ScoringError | NetworkError)
            return cls(plain(str(error)), is_final)
        message = str(error) if own else f"{type(error).__name__}: {error}"
        return cls(ScoringError(f"{message} (on {platform.node()})"), worker="broken")


class Worker:
    """An actor that loads a model and answers blocks of requests."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._executor: LocalExecutor | None = None

    def ready(self) -> None:
        """Return as soon as the worker's process has started."""

    def end(self) -> None:
        """End the worker's process, which Ray then starts again."""
        os._exit(1)

    def load(self) -> Loaded | Failed:
        """Load the model, unless this process has loaded it."""
        return _or_failed(self._load)

    def call(self, method: str, arguments: Sequence[object]) -> object:
        """Call a method of the model and return the result."""
        return self._using(lambda own: getattr(own.model, method)(*arguments))

    def work(self, requests: Sequence[Any]) -> Stored | Failed:
        """Compute the answers to a block of requests and store the answers."""

        def answer(own: LocalExecutor) -> Stored:
            segment = own.keep(requests, own.model.answer(requests))
            return Stored(str(segment), platform.node())

        return self._using(answer)

    def _using(self, do: Callable[[LocalExecutor], T]) -> T | Failed:
        own = self._executor
        if own is None:
            return Failed(ScoringError("its worker was restarted"), worker="lost")
        return _or_failed(lambda: do(own))

    def _load(self) -> Loaded:
        order, host = self._order, platform.node()
        if order.version != VERSION:
            raise RequestError(
                f"Tacit is version {VERSION} on {host}, but version {order.version} on the machine "
                "that started the run: install the same version on every node"
            )
        warnings: tuple[str, ...] = ()
        if self._executor is None:
            _compute_in(order.threads)
            if not order.gpus:
                os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the GPUs belong to other workers
            store = Store(order.store)
            heard = BufferingHandler(1000)
            heard.setLevel(logging.WARNING)
            logging.getLogger("tacit").addHandler(heard)
            try:
                loaded = order.load(store.hashes)
            finally:
                logging.getLogger("tacit").removeHandler(heard)
            warnings = tuple(record.getMessage() for record in heard.buffer)
            _compute_in(order.threads)
            self._executor = LocalExecutor(loaded, store)
        model = self._executor.model
        if order.gpus and model.description.get("device") == "cpu":
            raise ModelError(
                f"{model.name}: according to Ray, the worker on {host} has a GPU, but torch finds "
                "none: install torch with CUDA, or pass --gpus-per-worker 0"
            )
        return Loaded(
            name=model.name,
            fingerprint=model.fingerprint,
            description=dict(model.description),
            cuts_blocks=isinstance(model, CutsBlocks),
            supports=frozenset(model.supports),
            warnings=warnings,
            host=host,
        )


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
