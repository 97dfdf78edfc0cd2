"""A worker of the Ray engine: one model in a process of its own, which writes to the store itself.

What goes wrong comes back as a value, since not every exception can be sent from one process to
another.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self, TypeVar

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
from tacit.models.base import LanguageModel, SharesPrefixes
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.requests import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Loader = Callable[[FileHashes], LanguageModel]
"""Loads the model; it is sent to every worker."""

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
    """What a worker is made for.

    Args:
        load: Loads its model.
        store: Where it writes: a folder that is the same on every machine, or an address.
        threads: In how many threads it computes.
        gpus: Its share of GPUs.
        version: The version of Tacit that made the plan.
    """

    load: Loader
    store: str
    threads: int
    gpus: float
    version: str = VERSION


@dataclass(frozen=True)
class Loaded:
    """A worker whose model is loaded.

    Args:
        name: The model's name.
        fingerprint: The model's fingerprint.
        description: The model's description.
        shares_prefixes: Whether its prompts are best asked in the order of their texts.
        supports: The classes of requests that it answers.
        warnings: What was said while it was loaded.
        host: The machine's name.
    """

    name: str
    fingerprint: str
    description: Mapping[str, Any]
    shares_prefixes: bool
    supports: frozenset[type]
    warnings: tuple[str, ...]
    host: str


@dataclass(frozen=True)
class Stored:
    """A block that was stored.

    Args:
        segment: Where, as seen from the store's root.
        host: The machine's name.
    """

    segment: str
    host: str


@dataclass(frozen=True)
class Failed:
    """What went wrong in a worker.

    Args:
        kind: The name of the exception's class.
        message: What it says, with the machine's name where it is not Tacit's own.
        is_final: Whether another worker would fail alike.
        is_ours: Whether it is an error of Tacit's, after which the worker is still sound.
    """

    kind: str
    message: str
    is_final: bool
    is_ours: bool

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """What an exception says."""
        # A model that failed by what a library, or its GPU, raised may do well elsewhere.
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
        """The exception, to be raised where the run is told from."""
        return _TOLD[self.kind](self.message)


class Worker:
    """Holds a model and asks it the blocks that it is given.

    Args:
        order: What it is made for.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._engine: Engine | None = None
        self._shared: dict[str, Mapping[type, Mapping[str, Any]]] = {}

    def load(self) -> Loaded | Failed:
        """Loads the model."""
        return _or_failed(self._load)

    def call(self, method: str, arguments: Sequence[object]) -> object:
        """What a method of the model returns."""
        return _or_failed(lambda: getattr(self._asked.model, method)(*arguments))

    def work(
        self, digest: str, shared: Callable[[], Any], of: type, rows: Sequence[Any]
    ) -> Stored | Failed:
        """Asks a block and stores what is answered.

        Args:
            digest: Of the plan; what its rows share is fetched once.
            shared: Fetches what rows refer to, by the requests' class.
            of: The class of the block's requests.
            rows: The block's requests, as their kind writes them.
        """
        return _or_failed(lambda: self._work(digest, shared, of, rows))

    def ping(self) -> str:
        """Shows that the process is there, also while it computes; Ray's name of its node."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def _load(self) -> Loaded:
        order, host = self._order, platform.node()
        if order.version != VERSION:
            raise RequestError(
                f"Tacit is {VERSION} on {host} and {order.version} where the run was "
                "started: install the same on every node"
            )
        _compute_in(order.threads)
        if not order.gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # they are others'
        store = Store(order.store)
        with _Listening() as heard:
            model = order.load(store.hashes)
        _compute_in(order.threads)
        if order.gpus and model.description.get("device") == "cpu":
            raise ModelError(
                f"{model.name}: the worker on {host} has a GPU by Ray's count, and torch finds "
                "none there: install torch with CUDA, or give --gpus-per-worker 0"
            )
        self._engine = Engine(model, store)
        return Loaded(
            name=model.name,
            fingerprint=model.fingerprint,
            description=dict(model.description),
            shares_prefixes=isinstance(model, SharesPrefixes) and model.shares_prefixes,
            supports=frozenset(model.supports),
            warnings=tuple(heard.messages),
            host=host,
        )

    def _work(
        self, digest: str, shared: Callable[[], Any], of: type, rows: Sequence[Any]
    ) -> Stored:
        if digest not in self._shared:
            self._shared = {digest: shared()}
        kind, known = KINDS[of], self._shared[digest][of]
        segment = self._asked.keep([kind.request(row, known) for row in rows])
        return Stored(str(segment), platform.node())

    @property
    def _asked(self) -> Engine:
        if self._engine is None:
            raise WorkError("this worker has no model yet")
        return self._engine


class _Listening(logging.Handler):
    """Keeps what Tacit warns of, for whoever sits at the other end."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps the message."""
        self.messages.append(record.getMessage())

    def __enter__(self) -> Self:
        logging.getLogger("tacit").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("tacit").removeHandler(self)


def _compute_in(threads: int) -> None:
    """Has torch, loaded or not yet, and the tokenizers compute in so many threads."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def _or_failed(do: Callable[[], T]) -> T | Failed:
    try:
        return do()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told where the run is
        return Failed.of(error)
