"""Compute a plan's blocks in this process, and store the answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, ClassVar, Protocol

from tacit.engine.store import Store
from tacit.english import several
from tacit.errors import ScoringError
from tacit.models.base import CutsBlocks, LanguageModel, Streams
from tacit.requests import KINDS
from tacit.requests.kind import Block, Part

PERIOD = 30.0
"""The number of seconds between two writes of streamed answers to the score store."""

SECONDS = 5.0
"""The number of seconds between two writes of the answers to blocks."""


class Executor(Protocol):
    """Computes and stores one model's answers to blocks of requests."""

    @property
    def description(self) -> Mapping[str, Any]:
        """The executor's description for the manifest, with values that JSON can represent."""
        ...

    @property
    def size(self) -> int:
        """The number of blocks that are computed at the same time."""
        ...

    def execute(self, blocks: Sequence[Block]) -> Generator[Part]:
        """Compute all blocks in any order; yield each block after its answers are stored."""
        ...


@dataclass(frozen=True)
class LocalExecutor:
    """An executor without workers; see ``Executor``."""

    model: LanguageModel
    store: Store
    seconds: float = SECONDS

    size: ClassVar[int] = 1

    @property
    def description(self) -> dict[str, Any]:
        """The engine's kind, and the number of threads with which torch computes."""
        torch = sys.modules.get("torch")
        return {"kind": "local", "threads": torch.get_num_threads() if torch else None}

    def execute(self, blocks: Sequence[Block]) -> Generator[Part]:
        """Compute and store blocks; yield what is stored after each write."""
        for _, of in groupby(blocks, key=attrgetter("of")):
            blocks = list(of)
            if isinstance(self.model, Streams):
                yield from self._stream(self.model, blocks)
            else:
                yield from self._in_blocks(blocks)

    def keep(self, requests: Sequence[Any], answers: Sequence[Any]) -> PurePosixPath:
        """Store answers of a stream or a worker to requests of one kind; return the segment's path.

        Raises:
            ScoringError: If the model returned a value that is not a log-probability.
            StoreError: If the store cannot be written.
        """
        self._check(requests, answers)
        return self.store.append(self.model.description, requests, answers)

    def _check(self, requests: Sequence[Any], answers: Sequence[Any]) -> None:
        if len(answers) != len(requests):
            found = several(len(answers), "answer")
            asked = several(len(requests), "request")
            raise ScoringError(f"{self.model.name} returned {found} to {asked}")
        check = KINDS[type(requests[0])].check
        for request, answer in zip(requests, answers, strict=True):
            if wrong := check(request, answer):
                raise ScoringError(f"{self.model.name} {wrong}")

    def _in_blocks(self, blocks: Sequence[Block]) -> Generator[Part]:
        """Compute blocks, while threads prepare the next block and store earlier blocks."""
        with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(1) as behind:
            writer = _Writer(self, behind)
            # In this thread, because a model may be loaded now, which an interrupt must end.
            answer = self._prepared(blocks[0])
            try:
                for block, following in zip_longest(blocks, blocks[1:]):
                    ready = ahead.submit(self._prepared, following) if following else None
                    writer.add(block, self._answers(block, answer))
                    yield from writer.stored()
                    answer = ready.result() if ready else list
                writer.write()
                yield from writer.stored(wait=True)
            finally:
                writer.write()
                list(writer.stored(wait=True))  # raises if they could not be stored

    def _prepared(self, block: Block) -> Callable[[], list[Any]]:
        """Prepare a block if the model can; return a function that returns the answers."""
        if isinstance(self.model, CutsBlocks):
            return self.model.prepare(block)
        return partial(self.model.answer, block.requests)

    def _answers(self, block: Block, answer: Callable[[], list[Any]]) -> list[Any]:
        answers = answer()
        self._check(block.requests, answers)
        return answers

    def _stream(self, model: Streams, blocks: Sequence[Block]) -> Generator[Part]:
        """Stream the model's answers to all requests in ``blocks``, and store the answers."""
        kind = KINDS[blocks[0].of]
        requests = [request for block in blocks for request in block.requests]
        left = {kind.key(one): len(kind.keys(one)) for one in requests}
        tokens, parts, done = sum(block.tokens for block in blocks), sum(left.values()), 0
        with closing(model.stream(requests, PERIOD)) as pairs:
            for some in pairs:
                answered = tuple(request for request, _ in some)
                self.keep(answered, [answer for _, answer in some])
                before, ended = done, 0
                for one in answered:
                    new = len(kind.keys(one))
                    done += new
                    left[kind.key(one)] -= new
                    ended += not left[kind.key(one)]
                yield Part(answered, tokens * done // parts - tokens * before // parts, ended)


class _Writer:
    """Stores the answers to blocks in a thread, about every ``seconds`` of the executor."""

    def __init__(self, executor: LocalExecutor, thread: ThreadPoolExecutor) -> None:
        self._executor, self._thread = executor, thread
        self._blocks: list[Block] = []
        self._answers: list[Any] = []
        self._storing: list[tuple[list[Block], Future[PurePosixPath]]] = []
        self._written = -executor.seconds  # so that the first block is stored at once

    def add(self, block: Block, answers: Sequence[Any]) -> None:
        """Add the answers to a block, and store all that were added if it is time."""
        self._blocks.append(block)
        self._answers += answers
        if time.monotonic() - self._written >= self._executor.seconds:
            self.write()

    def write(self) -> None:
        """Store all answers that were added."""
        if self._blocks:
            requests = [one for block in self._blocks for one in block.requests]
            store, about = self._executor.store, self._executor.model.description
            stored = self._thread.submit(store.append, about, requests, self._answers)
            self._storing.append((self._blocks, stored))
        self._blocks, self._answers, self._written = [], [], time.monotonic()

    def stored(self, *, wait: bool = False) -> Iterator[Part]:
        """Yield the blocks that have been stored since the last call."""
        while self._storing and (wait or len(self._storing) > 1 or self._storing[0][1].done()):
            blocks, stored = self._storing.pop(0)
            stored.result()
            for block in blocks:
                yield Part(block.requests, block.tokens, len(block.requests))
