"""The Ray engine: it plans requests like the local engine, but workers compute the answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine.ask import Engine
from tacit.engine.ray.cluster import connect, nodes, share_out
from tacit.engine.ray.executor import RayExecutor
from tacit.engine.ray.worker import Loader, Order
from tacit.engine.storage import is_address
from tacit.engine.store import Store
from tacit.errors import RequestError
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tacit.models.registry import DEMOS
from tacit.requests import Vocabulary
from tacit.requests.kind import Block

if TYPE_CHECKING:
    from tacit.engine.options import EngineOptions

log = logging.getLogger(__name__)


class RayModel:
    """A ``LanguageModel`` that forwards each method call to a worker process."""

    def __init__(self, executor: RayExecutor) -> None:
        loaded = executor.first()
        self._executor = executor
        self.name, self.fingerprint = loaded.name, loaded.fingerprint
        self.supports, self._cuts = loaded.supports, loaded.cuts_blocks
        self.description: dict[str, Any] = dict(loaded.description)

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """See ``LanguageModel.cost``."""
        costs: list[int] = self._executor.call("cost", requests)
        return costs

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """See ``LanguageModel.answer``. The answers are not stored."""
        answers: list[Any] = self._executor.call("answer", requests)
        return answers

    def blocks(self, requests: Sequence[Any], tokens: int) -> list[Block] | None:
        """See ``CutsBlocks.blocks``."""
        blocks: list[Block] | None = None
        if self._cuts:
            blocks = self._executor.call("blocks", requests, tokens)
        return blocks

    def prepare(self, block: Block) -> Callable[[], list[Any]]:
        """See ``CutsBlocks.prepare``."""
        return partial(self.answer, block.requests)

    def whole_words(self) -> Vocabulary:
        """See ``HasWords.whole_words``."""
        words: Vocabulary = self._executor.call("whole_words")
        return words


def ray_engine(
    load: Loader, store: Store, options: EngineOptions, block_tokens: int | None = None
) -> Engine:
    """Start an engine with one or more workers, each of which loads the model."""
    connect(options)
    share = share_out(options, nodes())
    room = share.room(nodes())
    if room < share.workers:
        log.warning(
            "the cluster has room for only %d of %d workers (%s each)",
            room,
            share.workers,
            share.shown,
        )
    order = Order(load, _everywhere(store.root), share.threads, share.gpus)
    executor = RayExecutor(order, share)
    return Engine(RayModel(executor), store, block_tokens, executor, strict=options.strict)


def load_engine(name: str, loading: LoadOptions, store: Store, options: EngineOptions) -> Engine:
    """Start a Ray engine whose workers load a model by its name, with ``load_model``."""
    device = loading.device
    if device not in {"auto", "cpu", "cuda"}:
        raise RequestError(
            f"--device is {device}, but with --engine ray, Ray assigns the GPUs: use auto, cuda or "
            "cpu"
        )
    if device == "cpu":
        if options.gpus_per_worker:
            raise RequestError(
                "--gpus-per-worker and --device cpu exclude each other: use only one of them"
            )
        options = replace(options, gpus_per_worker=0)
    if device == "cuda" and options.gpus_per_worker is None:
        options = replace(options, gpus_per_worker=1)
    if loading.adapter is not None:
        loading = replace(loading, adapter=loading.adapter.absolute())
    load = partial(load_model, _absolute(name), loading, called=name)
    return ray_engine(load, store, options)


def _absolute(name: str) -> str:
    """Return the absolute path of a model's folder or file; return any other name unchanged."""
    path = Path(name).expanduser()
    return str(path.absolute()) if name not in DEMOS and path.exists() else name


def _everywhere(root: Path | str) -> str:
    """Return the store's address, or the absolute path of a store in a local folder."""
    return root if is_address(root) else str(Path(root).absolute())
