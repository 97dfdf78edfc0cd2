"""The ``Engine`` answers requests; it queries the model only for answers that are not cached.

Requests are merged, compared with the store, and cut into blocks (a ``Plan``); an executor computes
and stores the blocks; all answers are then read from the store.
"""

from __future__ import annotations

import gc
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from tacit.engine.blocks import cut, digest_of, in_parts, record, recorded, too_long
from tacit.engine.local import SECONDS, Executor, LocalExecutor
from tacit.engine.rechecks import Rechecking
from tacit.engine.store import Store
from tacit.english import several
from tacit.errors import ModelError, PromptError, StoreError, TooLongError, WorkError
from tacit.models.base import IN_CHAT, CutsBlocks, LanguageModel, Rechecks, SamplesReplies, Streams
from tacit.requests import (
    KINDS,
    TOO_LONG,
    Decision,
    Key,
    Kind,
    Prompt,
    Request,
    Samples,
    SamplingPrompt,
)
from tacit.requests.answer_parsing import votes_of
from tacit.requests.kind import Block, Part, StoredValues

log = logging.getLogger(__name__)


@contextmanager
def without_gc() -> Iterator[None]:
    """Disable the garbage collector during a ``with`` block that creates many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Plan:
    """A list of requests, and the blocks in which the uncached requests are computed.

    ``asked`` are the requests as the model supports them, and ``merged`` those without repetition.
    ``whole`` is whether the blocks may be recorded and reused. ``cached`` has the stored answers,
    unless there are blocks to compute.
    """

    fingerprint: str
    asked: Sequence[Request]
    merged: Sequence[Request]
    blocks: Sequence[Block]
    distinct: int
    stored: int
    skipped: Mapping[Request, str] = field(default_factory=dict)
    whole: bool = True
    cached: Mapping[type, StoredValues] = field(default_factory=dict, repr=False)

    @property
    def prompts(self) -> int:
        """The number of requests that must be computed."""
        return sum(len(block.requests) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """The total number of tokens in all requests of the plan's blocks."""
        return sum(block.tokens for block in self.blocks)

    def record(self, path: Path) -> None:
        """Write the plan's blocks of requests to a file."""
        if self.whole:
            record(path, digest_of(self.fingerprint, self.merged), self.merged, self.blocks)


BLOCK_TOKENS = 16384
_LEAST_TOKENS, _MOST_ON_CPU, _WORK = 256, 2048, 2**38
"""Limits of a block in tokens on a CPU, and the number of weights times tokens in about 5 s."""

_SHOWN = 40
"""The number of characters of a prompt that a message about its white space shows."""


@dataclass(frozen=True)
class Engine:
    """Answers requests with one model and caches the answers.

    A model that streams answers receives all uncached requests of one kind in one call, and the
    engine stores new answers every 30 seconds. Any other model receives one block of requests at a
    time; a model of ``CutsBlocks`` encodes them when they are planned.

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
        return dict((self.executor or LocalExecutor(self.model, self.store)).description)

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
        for again in (False, True):
            plan = plan or self.plan(requests)
            if self._execute(plan, progress, again=again):
                with suppress(KeyError):  # a segment was damaged after planning, and was set aside
                    return self._gather(requests, plan)
            plan = progress = None
        raise StoreError(
            "the store no longer contains answers that were just written to it: check its disk, "
            "and run the same command again"
        )

    @without_gc()
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
        unsupported = set(map(type, requests)) - self.model.supports
        asked = self._converted(requests, unsupported) if unsupported else requests
        by_class: dict[type, list[Any]] = defaultdict(list)
        for one in asked:
            by_class[type(one)].append(one)
        merged, doubled = dict[type, list[Any]](), list[tuple[str, str]]()
        for of, some in by_class.items():
            merged[of] = KINDS[of].merge(some)
            doubled += filter(None, map(KINDS[of].both_readings, some))
        if doubled:
            self._report_doubled(doubled)
        every = list(chain.from_iterable(merged.values()))
        whole = self.executor is not None or not isinstance(self.model, Streams)
        before: list[Block] = []
        if path and whole and path.is_file():
            before = recorded(path, digest_of(self.model.fingerprint, every), every)
        cached, blocks, skipped = dict[type, StoredValues](), list[Block](), dict[Any, str]()
        distinct, missing = 0, 0
        for of, some in by_class.items():
            kind, own = KINDS[of], merged[of]
            cached[of] = kind.by_key(self.store.read(self.model.fingerprint, of, final=True))
            lacking = kind.lacking(own, cached[of])
            try:
                blocks += self._blocks(kind, lacking, before, cached[of])
            except TooLongError as error:
                long = self._too_long(error, kind, some, cached[of])
                skipped |= long
                own = kind.merge(one for one in some if one not in long)
                lacking = kind.lacking(own, cached[of])
                blocks += self._blocks(kind, lacking, before, cached[of])
            distinct, missing = distinct + len(own), missing + len(lacking)
        return Plan(
            self.model.fingerprint,
            asked,
            every,
            blocks=tuple(blocks),
            distinct=distinct,
            stored=distinct - missing,
            skipped=skipped,
            whole=whole,
            cached={} if blocks else cached,
        )

    def _converted(self, requests: Sequence[Request], unsupported: set[type]) -> Sequence[Request]:
        """Convert prompts to requests that a model answers which only replies or decides."""
        model = self.model
        if unsupported == {Prompt} and Decision in model.supports:
            return [Decision.of(one) if isinstance(one, Prompt) else one for one in requests]
        if unsupported == {Prompt} and isinstance(model, SamplesReplies):
            numbers = tuple(range(model.samples))
            return [
                SamplingPrompt(one.text, numbers) if isinstance(one, Prompt) else one
                for one in requests
            ]
        lacking = " and ".join(sorted(KINDS[one].unsupported for one in unsupported))
        raise ModelError(f"{model.name} {lacking}")

    def _report_doubled(self, found: Sequence[tuple[str, str]]) -> None:
        about = self.model.description
        # These put no separator between a text and its answer.
        if IN_CHAT in str(about.get("elicitation")) or about.get("kind") == "seq2seq":
            return
        scored, written = (repr(text[-_SHOWN:]) for text in found[0])
        problem = (
            f"{several(len(found), 'prompt doubles', 'prompts double')} the white space around an "
            f"answer, which is scored as in {scored}. If {written} is meant, remove white space "
            'from the text or the answer, or give the separator "" (tacit score --separator "")'
        )
        if self.strict:
            raise PromptError(problem)
        log.warning("%s: %s", self.model.name, problem)

    def _too_long(
        self,
        error: TooLongError,
        kind: Kind[Any, Any],
        requests: Sequence[Any],
        cached: StoredValues,
    ) -> dict[Any, str]:
        """Return the requests that must be skipped, and why; raise the error if none may be."""
        if self.strict:
            raise error
        # Check each request alone, so that skipping it does not depend on the others.
        alone = {one: rest for one in requests for rest in kind.lacking([one], cached)}
        found = too_long(self.model.cost, list(dict.fromkeys(alone.values())))
        if not found:
            raise error
        return {one: found[rest] for one, rest in alone.items() if rest in found}

    def _blocks(
        self,
        kind: Kind[Any, Any],
        requests: Sequence[Any],
        before: Sequence[Block],
        cached: StoredValues,
    ) -> list[Block]:
        """Divide uncached requests of one kind into blocks; reuse unfinished blocks in ``before``.

        The model, which encodes them, cuts the requests into blocks, or else their cost does.
        """
        blocks: list[Block] = []
        taken: dict[Key, set[Any]] = defaultdict(set)
        for block in before:
            if KINDS[block.of] is kind and kind.lacking(block.requests, cached):
                blocks.append(block)
                for one in block.requests:
                    taken[kind.key(one)].update(kind.parts_of(one))
        rest = kind.lacking(requests, taken)
        if not rest:
            return blocks
        model, tokens = self.model, self.block_tokens or BLOCK_TOKENS
        about = model.description
        if not self.block_tokens and about.get("device") == "cpu" and about.get("parameters"):
            tokens = max(_LEAST_TOKENS, min(_MOST_ON_CPU, _WORK // int(about["parameters"])))
        own = model.blocks(rest, tokens) if isinstance(model, CutsBlocks) else None
        return blocks + (cut(rest, in_parts(model.cost, rest), tokens) if own is None else own)

    def _execute(self, plan: Plan, progress: Callable[[Part], None] | None, *, again: bool) -> bool:
        """Store a plan's answers; return False if some were set aside that must be asked again."""
        executor = self.executor or LocalExecutor(self.model, self.store, self.seconds)
        parts, rechecks = executor.execute(plan.blocks), None
        if isinstance(self.model, Rechecks):
            rechecks = Rechecking(self.model, self.store, plan.prompts, again=again)
            parts = rechecks.rechecked(parts)
        was_frozen = gc.get_freeze_count()
        gc.freeze()  # so that garbage collection does not go through the plan again and again
        try:
            with closing(parts):
                for part in parts:
                    if progress:
                        progress(part)
        finally:
            if not was_frozen:
                gc.unfreeze()
        with suppress(WorkError):  # only a cache: files are hashed, and models checked, again
            self.store.hashes.save()
        return rechecks is None or rechecks.sound

    def stored(self, plan: Plan) -> int:
        """Return how many of a plan's requests have all their answers in the store by now."""
        left = 0
        for of in set(map(type, plan.merged)):
            kind, own = KINDS[of], [one for one in plan.merged if type(one) is of]
            cached = kind.by_key(self.store.read(self.model.fingerprint, of, final=True))
            left += len(kind.lacking(own, cached))
        return len(plan.merged) - left

    @without_gc()
    def _gather(self, requests: Sequence[Request], plan: Plan) -> list[Any]:
        """Read the answers to all requests from the store."""
        cached, answers = dict(plan.cached), []
        for one, asked in zip(requests, plan.asked, strict=True):
            kind, of = KINDS[type(asked)], type(asked)
            if of not in cached:
                cached[of] = kind.by_key(self.store.read(self.model.fingerprint, of))
            if plan.skipped and asked in plan.skipped:
                answer = kind.missing(asked, TOO_LONG)
            else:
                answer = kind.answer(asked, cached[of])
            if isinstance(answer, Samples) and isinstance(one, Prompt):
                answer = votes_of(answer.replies, one.answers)
            answers.append(answer)
        return answers
