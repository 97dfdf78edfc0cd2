"""The ``Engine`` answers requests; it queries the model only for answers that are not cached.

Requests are merged, compared with the store, and cut into blocks (a ``Plan``); an executor computes
and stores the blocks; all answers are then read from the store.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from tacit.engine.blocks import cut, digest_of, in_parts, record, recorded, too_long
from tacit.engine.local import SECONDS, Executor, LocalExecutor
from tacit.engine.rechecks import Rechecking
from tacit.engine.store import Store
from tacit.english import several
from tacit.errors import (
    ModelError,
    PromptError,
    StoreError,
    TooLongError,
    WorkError,
)
from tacit.models.base import (
    IN_CHAT,
    CutsBlocks,
    LanguageModel,
    Rechecks,
    SamplesReplies,
    Streams,
)
from tacit.requests import (
    KINDS,
    TOO_LONG,
    Decision,
    Key,
    Kind,
    Prompt,
    RankingPrompt,
    Request,
    Samples,
    SamplingPrompt,
)
from tacit.requests.answer_parsing import votes_of
from tacit.requests.kind import Block, Part
from tacit.requests.scoring import both_readings
from tacit.requests.vocabulary import spaced

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


@dataclass(frozen=True, slots=True)
class Plan:
    """A list of requests, and the blocks in which the uncached requests are computed."""

    fingerprint: str
    asked: Sequence[Request]
    merged: Sequence[Request]
    blocks: Sequence[Block]
    distinct: int
    stored: int
    skipped: Mapping[Request, str] = field(default_factory=dict)
    whole: bool = True
    cached: Mapping[type, Mapping[Key, Any]] = field(default_factory=dict, repr=False)

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
        return dict(self._executor.description)

    @property
    def _executor(self) -> Executor:
        return self.executor or LocalExecutor(self.model, self.store, self.seconds)

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
        asked = self._supported(requests)
        if problem := doubled(asked):
            self._report_doubled(problem)
        by_class: dict[type, list[Any]] = {}
        for one in asked:
            by_class.setdefault(type(one), []).append(one)
        merged = {of: KINDS[of].merge(some) for of, some in by_class.items()}
        every = list(chain.from_iterable(merged.values()))
        whole = self.executor is not None or not isinstance(self.model, Streams)
        before: list[Block] = []
        if path and whole and path.is_file():
            before = recorded(path, digest_of(self.model.fingerprint, every), every)
        blocks, skipped, cached = list[Block](), dict[Any, str](), dict[type, Mapping[Key, Any]]()
        distinct = stored = 0
        for of, some in by_class.items():
            cached[of] = self._cached(of)
            part = self._planned(KINDS[of], some, merged[of], before, cached[of])
            blocks += part.blocks
            skipped |= part.skipped
            distinct, stored = distinct + part.distinct, stored + part.stored
        return Plan(
            self.model.fingerprint,
            asked,
            every,
            blocks=tuple(blocks),
            distinct=distinct,
            stored=stored,
            skipped=skipped,
            whole=whole,
            cached={} if blocks else cached,
        )

    def _supported(self, requests: Sequence[Request]) -> Sequence[Request]:
        """Return the requests; prompts become what a model that only replies or decides answers."""
        model = self.model
        unsupported = set(map(type, requests)) - model.supports
        if not unsupported:
            return requests
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

    def _report_doubled(self, problem: str) -> None:
        about = self.model.description
        # These put no separator between a text and its answer.
        if IN_CHAT in str(about.get("elicitation")) or about.get("kind") == "seq2seq":
            return
        if self.strict:
            raise PromptError(problem)
        log.warning("%s: %s", self.model.name, problem)

    def _planned(
        self,
        kind: Kind[Any, Any],
        requests: Sequence[Any],
        merged: Sequence[Any],
        before: Sequence[Block],
        values: Mapping[Key, Any],
    ) -> _Planned:
        """Divide requests of one kind into blocks; reuse unfinished blocks in ``before``."""
        cached = kind.final(values)
        todo = [
            block
            for block in before
            if KINDS[block.of] is kind and any(kind.without(one, cached) for one in block.requests)
        ]
        taken = {key for block in todo for one in block.requests for key in kind.keys(one)}
        lacking = [rest for one in merged if (rest := kind.without(one, cached))]
        rests = [rest for one in lacking if (rest := kind.without(one, taken))]
        try:
            blocks = self._cut(rests)
        except TooLongError:
            if self.strict:
                raise
            # Check each request alone, so that skipping it does not depend on the others.
            alone = {one: rest for one in requests if (rest := kind.without(one, cached))}
            found = too_long(self.model.cost, list(dict.fromkeys(alone.values())))
            if not found:
                raise
            skipped = {one: found[rest] for one, rest in alone.items() if rest in found}
            kept = [one for one in requests if one not in skipped]
            part = self._planned(kind, kept, kind.merge(kept), before, values)
            return replace(part, skipped=skipped)
        return _Planned([*todo, *blocks], len(merged), len(merged) - len(lacking))

    def _cut(self, requests: Sequence[Any]) -> list[Block]:
        """Cut requests into blocks: by the model, which encodes them, or else by their cost."""
        if not requests:
            return []
        model, tokens = self.model, self.block_tokens or BLOCK_TOKENS
        about = model.description
        if not self.block_tokens and about.get("device") == "cpu" and about.get("parameters"):
            tokens = max(_LEAST_TOKENS, min(_MOST_ON_CPU, _WORK // int(about["parameters"])))
        own = model.blocks(requests, tokens) if isinstance(model, CutsBlocks) else None
        return cut(requests, in_parts(model.cost, requests), tokens) if own is None else own

    def _execute(self, plan: Plan, progress: Callable[[Part], None] | None, *, again: bool) -> bool:
        """Store a plan's answers; return False if some were set aside that must be asked again."""
        parts, rechecks = self._executor.execute(plan.blocks), None
        if isinstance(self.model, Rechecks):
            rechecks = Rechecking(self.model, self.store, plan.prompts, again=again)
            parts = rechecks.rechecked(parts)
        with frozen(), closing(parts):
            for part in parts:
                if progress:
                    progress(part)
        with suppress(WorkError):  # only a cache: files are hashed, and models checked, again
            self.store.hashes.save()
        return rechecks is None or rechecks.sound

    def _cached(self, of: type) -> Mapping[Key, Any]:
        """Return the cached answers of the model to requests of one class."""
        return KINDS[of].cached(self.store.read(self.model.fingerprint, of))

    def stored(self, plan: Plan) -> int:
        """Return how many of a plan's requests have all their answers in the store by now."""
        kinds = {of: KINDS[of] for of in set(map(type, plan.merged))}
        cached = {of: kind.final(self._cached(of)) for of, kind in kinds.items()}
        return sum(kinds[type(one)].without(one, cached[type(one)]) is None for one in plan.merged)

    @paused()
    def _gather(self, requests: Sequence[Request], plan: Plan) -> list[Any]:
        """Read the answers to all requests from the store."""
        cached = plan.cached or {of: self._cached(of) for of in set(map(type, plan.asked))}
        answers = []
        for one, asked in zip(requests, plan.asked, strict=True):
            kind = KINDS[type(asked)]
            if plan.skipped and asked in plan.skipped:
                answer = kind.missing(asked, TOO_LONG)
            else:
                answer = kind.answer(asked, cached[type(asked)])
            if isinstance(answer, Samples) and isinstance(one, Prompt):
                answer = votes_of(answer.replies, one.answers)
            answers.append(answer)
        return answers


@dataclass(frozen=True)
class _Planned:
    """The part of a ``Plan`` for the requests of one kind: blocks, counts and skipped requests."""

    blocks: Sequence[Block]
    distinct: int
    stored: int
    skipped: Mapping[Any, str] = field(default_factory=dict)


def doubled(requests: Sequence[Request]) -> str | None:
    """Return how many prompts double white space, with an example of both readings, or None."""
    found = []
    for one in requests:
        if isinstance(one, Prompt):
            both = both_readings(one, one.answers)
        elif isinstance(one, RankingPrompt):
            both = both_readings(one.asking(one.vocabulary.words[:1]), spaced(one.vocabulary))
        else:
            continue
        if both:
            found.append(both)
    if not found:
        return None
    scored, written = (repr(text[-_SHOWN:]) for text in found[0])
    return (
        f"{several(len(found), 'prompt doubles', 'prompts double')} the white space around an "
        f"answer, which is scored as in {scored}. If {written} is meant, remove white space from "
        'the text or the answer, or give the separator "" (tacit score --separator "")'
    )
