"""The ``Engine`` answers requests; it queries the model only for answers that are not cached."""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from tacit.engine.elicitation import answered, asked_of
from tacit.engine.plan import (
    Executor,
    Plan,
    cut,
    digest_of,
    group_of,
    in_parts,
    recorded,
    too_long,
)
from tacit.engine.rechecks import Rechecking
from tacit.engine.store import Store
from tacit.english import several
from tacit.errors import (
    PromptError,
    ScoringError,
    StoreError,
    TooLongError,
    UnreliableError,
    WorkError,
)
from tacit.models.base import IN_CHAT, CutsBlocks, LanguageModel, Streams, prepared
from tacit.requests import KINDS, TOO_LONG, Cached, Key, Request
from tacit.requests.block import Block, Part
from tacit.requests.white_space import doubled

log = logging.getLogger(__name__)


@contextmanager
def paused() -> Iterator[None]:
    """Disable the garbage collector during a ``with`` block that creates many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def frozen() -> Iterator[None]:
    """Exclude from garbage collection all objects that exist when a ``with`` block begins."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


BLOCK_TOKENS = 16384
_LEAST_TOKENS, _MOST_ON_CPU, _WORK = 256, 2048, 2**38
"""Limits of a block in tokens on a CPU, and the number of weights times tokens in about 5 s."""

PERIOD = 30.0
"""The number of seconds between two writes of streamed answers to the score store."""

SECONDS = 5.0
"""The number of seconds between two writes of the answers to blocks that are computed here."""


def block_tokens_of(model: Mapping[str, Any]) -> int:
    """Return the number of tokens in a block, given a model's description."""
    parameters = model.get("parameters")
    if model.get("device") != "cpu" or not parameters:
        return BLOCK_TOKENS
    return max(_LEAST_TOKENS, min(_MOST_ON_CPU, _WORK // int(parameters)))


@dataclass(frozen=True)
class Engine:
    """Answers requests with one model and caches the answers.

    A model that streams answers receives all uncached requests of one kind in one call, and the
    engine stores new answers every ``PERIOD`` seconds. A model that does not stream answers
    receives one block of requests per call.

    Args:
        model: The model.
        store: The store in which answers are cached.
        block_tokens: The approximate number of tokens in each block of requests; None to choose it
            by the model's size and device.
        executor: An object that computes the answers to blocks of requests, for example with Ray.
            If ``executor`` is None, the answers are computed in this process.
        strict: Whether to raise an error if a request is longer than the model's context window, or
            doubles white space before an answer. If False, a request that is too long is skipped,
            and its scores are missing; doubled white space is scored, with a warning.
        seconds: The time between two writes to the store, each of which contains the answers to
            all blocks that were computed since. The first block is stored at once.

    Examples:
        >>> import tempfile
        >>> from tacit import Engine, FakeModel, Prompt, Store
        >>> model = FakeModel({"The capital of France is": {"Paris": -0.1}})
        >>> engine = Engine(model, Store(tempfile.mkdtemp()))
        >>> (scores,) = engine.ask([Prompt("The capital of France is", ("Paris",))])
        >>> scores["Paris"].logprob
        -0.1
    """

    model: LanguageModel
    store: Store
    block_tokens: int | None = None
    executor: Executor | None = None
    strict: bool = False
    seconds: float = SECONDS

    @property
    def description(self) -> dict[str, Any]:
        """Information about the engine for a run's manifest, such as the engine's kind."""
        if self.executor:
            return dict(self.executor.description)
        torch = sys.modules.get("torch")
        return {"kind": "local", "threads": torch.get_num_threads() if torch else None}

    def ask(
        self,
        requests: Sequence[Request],
        plan: Plan | None = None,
        progress: Callable[[Part], None] | None = None,
    ) -> list[Any]:
        """Return one answer per request, in order; query the model only for uncached requests.

        Args:
            requests: The requests.
            plan: The plan that the method ``plan`` returned for ``requests``. If None, a plan is
                created.
            progress: Function that is called each time the answers to a block of requests have been
                stored. If the model streams answers, the function is called after each write of
                answers to the store.

        Returns:
            One answer per request. The answer to a ``Prompt`` is ``Scores``, or ``Votes`` if the
            model returns only sampled replies. The answer to a ``RankingPrompt`` is a ``Ranking``,
            and the answer to a ``SamplingPrompt`` is ``Samples``.

        Raises:
            ModelError: If the model does not support one of the requests.
            PromptError: If the model cannot answer one of the requests. When ``PromptError`` is
                raised, no request has yet been sent to the model.
            ScoringError: If the model failed. The answers that the model returned before the
                failure are in the store.
            StoreError: If the store cannot be read or written.
        """
        plan = plan or self.plan(requests)
        if self._execute(plan, progress):
            with suppress(KeyError):  # a segment was damaged after planning, and was set aside
                return self._gather(requests, plan)
        plan = self.plan(requests)
        self._execute(plan, None, again=True)
        try:
            return self._gather(requests, plan)
        except KeyError as error:
            raise StoreError(
                "the store no longer contains answers that were just written to it: check its "
                "disk, and run the same command again"
            ) from error

    @paused()
    def plan(self, requests: Sequence[Request], path: Path | None = None) -> Plan:
        """Check that the model can answer all requests, and split uncached requests into blocks.

        Unless ``strict`` is set, a request that is longer than the model's context window is listed
        in the plan's ``skipped`` and is not part of any block.

        Args:
            requests: The requests.
            path: The file to which ``Plan.record`` writes the blocks (groups of requests that are
                answered together). If the model and the requests are unchanged, blocks of requests
                that are recorded in the file are reused. Tacit ignores a recorded block of requests
                if the store already contains all answers to the block's requests.

        Raises:
            ModelError: If the model does not support one of the requests.
            PromptError: If the model cannot answer a request, or if ``strict`` is set and a request
                is too long or doubles white space.
        """
        asked = asked_of(self.model, requests)
        self._check_white_space(asked)
        by_class: dict[type, list[Any]] = {}
        for one in asked:
            by_class.setdefault(type(one), []).append(one)
        merged = [one for of, some in by_class.items() for one in KINDS[of].merge(some)]
        digest = digest_of(self.model.fingerprint, merged)
        whole = self.executor is not None or not isinstance(self.model, Streams)
        before = (recorded(path, digest, merged) if path and whole else None) or []
        cached = {of: self._cached(of) for of in by_class}
        parts = [
            self._planned(some, [block for block in before if block.of is of], cached[of])
            for of, some in by_class.items()
        ]
        blocks = tuple(block for part in parts for block in part.blocks)
        return Plan(
            asked,
            merged,
            blocks=blocks,
            distinct=sum(part.distinct for part in parts),
            stored=sum(part.stored for part in parts),
            digest=digest,
            skipped={one: why for part in parts for one, why in part.skipped.items()},
            whole=whole,
            cached={} if blocks else cached,
        )

    def _check_white_space(self, requests: Sequence[Request]) -> None:
        about = self.model.description
        # These put no separator between a text and its answer.
        if IN_CHAT in str(about.get("elicitation")) or about.get("kind") == "seq2seq":
            return
        if problem := doubled(requests):
            if self.strict:
                raise PromptError(problem)
            log.warning("%s: %s", self.model.name, problem)

    def _planned(
        self, requests: Sequence[Any], before: Sequence[Block], stored: Cached[Any, Any]
    ) -> _Planned:
        """Divide requests of one kind into blocks; reuse unfinished blocks in ``before``."""
        kind, cached = KINDS[type(requests[0])], stored.keys

        def planned(some: Sequence[Any], skipped: Mapping[Any, str]) -> _Planned:
            merged = kind.merge(some)
            lacking = [rest for one in merged if (rest := kind.without(one, cached))]
            todo = [b for b in before if any(kind.without(one, cached) for one in b.requests)]
            taken = {key for block in todo for one in block.requests for key in kind.keys(one)}
            rests = [rest for one in lacking if (rest := kind.without(one, taken))]
            blocks = [*todo, *self._cut(rests)]
            return _Planned(blocks, len(merged), len(merged) - len(lacking), skipped)

        try:
            return planned(requests, {})
        except TooLongError:
            if self.strict:
                raise
        # Check each request alone, so that skipping it does not depend on the others.
        rests = {one: rest for one in requests if (rest := kind.without(one, cached))}
        found = too_long(self.model.cost, list(dict.fromkeys(rests.values())))
        skipped = {one: found[rest] for one, rest in rests.items() if rest in found}
        return planned([one for one in requests if one not in skipped], skipped)

    def _cut(self, requests: Sequence[Any]) -> list[Block]:
        model = self.model
        tokens = self.block_tokens or block_tokens_of(model.description)
        own = model.blocks(requests, tokens) if requests and isinstance(model, CutsBlocks) else None
        return cut(requests, in_parts(model.cost, requests), tokens) if own is None else own

    def keep(self, requests: Sequence[Any]) -> PurePosixPath:
        """Query the model for requests of one kind in one call, and store the answers.

        Returns:
            The path of the score store's segment that contains the answers, relative to the root of
            the store.

        Raises:
            ScoringError: If the model failed, or it returned a value that is not a log-probability.
            StoreError: If the store cannot be written.
        """
        answers = self._answers(requests, partial(self.model.answer, requests))
        return self.store.append(self.model.description, requests, answers)

    def execute(self, plan: Plan) -> Generator[Part]:
        """Compute and store a plan's blocks in this process; yield each block after storing it.

        If the model streams answers, yield a ``Part`` after each write to the store. Each ``Part``
        lists the requests whose answers were written to the store.

        Args:
            plan: The plan.

        Raises:
            ScoringError: If the model failed.
            StoreError: If the store cannot be written.
        """
        if isinstance(self.model, Streams) and not plan.whole:
            for _, blocks in groupby(plan.blocks, key=lambda block: block.of):
                yield from self._stream(self.model, list(blocks))
            return
        yield from self._in_blocks(plan.blocks)

    def _execute(
        self, plan: Plan, progress: Callable[[Part], None] | None, *, again: bool = False
    ) -> bool:
        """Carry out a plan; return False if answers were set aside that must be asked again."""
        rechecks = Rechecking(self.model, self.store, plan.prompts, again=again)
        asking = closing(self.executor.execute(plan) if self.executor else self.execute(plan))
        try:
            with frozen(), asking as done:
                for part in done:
                    rechecks.stored(part.ended)
                    if progress:
                        progress(part)
            rechecks.check(last=True)
        except UnreliableError:
            rechecks.withdraw()
            raise
        with suppress(WorkError):  # only a cache: files are hashed, and models checked, again
            self.store.hashes.save()
        return rechecks.sound

    def _in_blocks(self, blocks: Sequence[Block]) -> Generator[Part]:
        """Compute blocks, while threads prepare the next block and store earlier blocks."""
        with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(1) as behind:
            writer = _Writer(self, behind)
            # In this thread, because a model may be loaded now, which an interrupt must end.
            answer = prepared(self.model, blocks[0]) if blocks else list
            try:
                for block, following in zip_longest(blocks, blocks[1:]):
                    ready = ahead.submit(prepared, self.model, following) if following else None
                    writer.add(block, self._answers(block.requests, answer))
                    yield from writer.stored()
                    answer = ready.result() if ready else list
                writer.write()
                yield from writer.stored(wait=True)
            finally:
                writer.write()
                list(writer.stored(wait=True))  # raises if they could not be stored

    def _stream(self, model: Streams, blocks: Sequence[Block]) -> Generator[Part]:
        """Stream the model's answers to all requests in ``blocks``, and store the answers."""
        kind = KINDS[blocks[0].of]
        left: dict[Key, _Left] = {}
        for block in blocks:
            for request, tokens in zip(block.requests, block.shares, strict=True):
                left[group_of(request)] = _Left(len(kind.keys(request)), tokens)
        asked = [request for block in blocks for request in block.requests]
        with closing(model.stream(asked, PERIOD)) as parts:
            for part in parts:
                requests = tuple(request for request, _ in part)
                answers = self._checked(requests, [answer for _, answer in part])
                self.store.append(self.model.description, requests, answers)
                done = [left[group_of(one)].less(len(kind.keys(one))) for one in requests]
                tokens = sum(cost for _, cost in done)
                yield Part(requests, tokens, sum(ended for ended, _ in done))

    def _answers(self, requests: Sequence[Any], answer: Callable[[], list[Any]]) -> Sequence[Any]:
        """Compute and check the model's answers to requests."""
        return self._checked(requests, answer())

    def _checked(self, requests: Sequence[Any], answers: Sequence[Any]) -> Sequence[Any]:
        if len(answers) != len(requests):
            found = several(len(answers), "answer")
            asked = several(len(requests), "request")
            raise ScoringError(f"{self.model.name} returned {found} to {asked}")
        for request, answer in zip(requests, answers, strict=True):
            wrong = KINDS[type(request)].check(request, answer)
            if wrong:
                raise ScoringError(f"{self.model.name} {wrong}")
        return answers

    def _cached(self, of: type) -> Cached[Any, Any]:
        """Return the cached answers of the model to requests of one class."""
        return KINDS[of].cached(self.store.read(self.model.fingerprint, of))

    def stored(self, plan: Plan) -> int:
        """Return how many of a plan's requests have all their answers in the store by now."""
        cached = {of: self._cached(of).keys for of in {type(one) for one in plan.merged}}
        return sum(KINDS[type(one)].without(one, cached[type(one)]) is None for one in plan.merged)

    @paused()
    def _gather(self, requests: Sequence[Request], plan: Plan) -> list[Any]:
        """Read the answers to all requests from the store."""
        cached = plan.cached or {of: self._cached(of) for of in {type(one) for one in plan.asked}}
        return [
            KINDS[type(one)].missing(one, TOO_LONG)
            if plan.skipped and asked in plan.skipped
            else answered(one, cached[type(asked)].answer(asked))
            for one, asked in zip(requests, plan.asked, strict=True)
        ]


@dataclass(frozen=True)
class _Planned:
    """The part of a ``Plan`` for the requests of one kind: blocks, counts and skipped requests."""

    blocks: Sequence[Block]
    distinct: int
    stored: int
    skipped: Mapping[Any, str]


class _Writer:
    """Stores the answers to blocks in a thread, about every ``Engine.seconds``."""

    def __init__(self, engine: Engine, thread: ThreadPoolExecutor) -> None:
        self._engine, self._thread = engine, thread
        self._done: list[tuple[Block, Sequence[Any]]] = []
        self._storing: list[tuple[list[Block], Future[PurePosixPath]]] = []
        self._written = -engine.seconds  # so that the first block is stored at once

    def add(self, block: Block, answers: Sequence[Any]) -> None:
        """Add the answers to a block, and store all that were added if it is time."""
        if self._done and self._done[0][0].of is not block.of:
            self.write()
        self._done.append((block, answers))
        if time.monotonic() - self._written >= self._engine.seconds:
            self.write()

    def write(self) -> None:
        """Store all answers that were added."""
        blocks = [block for block, _ in self._done]
        if blocks:
            requests = [one for block in blocks for one in block.requests]
            answers = [one for _, part in self._done for one in part]
            store, about = self._engine.store, self._engine.model.description
            stored = self._thread.submit(store.append, about, requests, answers)
            self._storing.append((blocks, stored))
        self._done, self._written = [], time.monotonic()

    def stored(self, *, wait: bool = False) -> Iterator[Part]:
        """Yield the blocks that have been stored since the last call."""
        while self._storing and (wait or len(self._storing) > 1 or self._storing[0][1].done()):
            blocks, stored = self._storing.pop(0)
            stored.result()
            yield from (block.whole for block in blocks)


@dataclass
class _Left:
    """The number and token cost of a request's parts that remain to be computed."""

    parts: int
    tokens: int

    def less(self, parts: int) -> tuple[bool, int]:
        """Remove some parts; return whether none is left, and the removed parts' tokens."""
        tokens = self.tokens * parts // max(1, self.parts)
        self.parts, self.tokens = self.parts - parts, self.tokens - tokens
        return self.parts == 0, tokens
