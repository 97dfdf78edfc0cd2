"""Compute a plan's blocks in this process, and store the answers."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
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
        model, new = self.model, list[tuple[Block, list[Any]]]()
        prepare = model.prepare if isinstance(model, CutsBlocks) else self._unprepared
        storing = deque[Future[list[Part]]]()
        due = time.monotonic()  # so that the first block is stored at once
        with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(1) as behind:
            # In this thread, because a model may be loaded now, which an interrupt must end.
            compute = prepare(blocks[0])
            try:
                for block, following in zip_longest(blocks, blocks[1:]):
                    ready = ahead.submit(prepare, following) if following else None
                    answers = compute()
                    self._check(block.requests, answers)
                    new.append((block, answers))
                    if not ready or time.monotonic() >= due:
                        storing.append(behind.submit(self._store, model.description, new))
                        new, due = [], time.monotonic() + self.seconds
                    while storing and (not ready or len(storing) > 1 or storing[0].done()):
                        yield from storing.popleft().result()
                    if ready:
                        compute = ready.result()
            finally:
                if new:
                    storing.append(behind.submit(self._store, model.description, new))
                for each in storing:
                    each.result()  # raises if they could not be stored

    def _unprepared(self, block: Block) -> Callable[[], list[Any]]:
        return partial(self.model.answer, block.requests)

    def _store(
        self, about: Mapping[str, Any], new: Sequence[tuple[Block, list[Any]]]
    ) -> list[Part]:
        """Store the answers to blocks as one segment."""
        requests = [one for block, _ in new for one in block.requests]
        self.store.append(about, requests, [one for _, answers in new for one in answers])
        return [Part(block.requests, block.tokens, len(block.requests)) for block, _ in new]

    def _stream(self, model: Streams, blocks: Sequence[Block]) -> Generator[Part]:
        """Stream the model's answers to all requests in ``blocks``, and store the answers."""
        kind = KINDS[blocks[0].of]
        requests = [request for block in blocks for request in block.requests]
        left = {kind.key(one): len(kind.parts_of(one)) for one in requests}
        tokens, parts, done = sum(block.tokens for block in blocks), sum(left.values()), 0
        with closing(model.stream(requests, PERIOD)) as pairs:
            for some in pairs:
                answered = tuple(request for request, _ in some)
                self.keep(answered, [answer for _, answer in some])
                before, ended = done, 0
                for one in answered:
                    new = len(kind.parts_of(one))
                    done += new
                    left[kind.key(one)] -= new
                    ended += not left[kind.key(one)]
                yield Part(answered, tokens * done // parts - tokens * before // parts, ended)
