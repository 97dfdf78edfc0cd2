"""What a run would ask, and about how long it would take: a plan, and a short trial."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tacit.english import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tacit.engine.ask import Engine
    from tacit.engine.plan import Block
    from tacit.models.base import LanguageModel
    from tacit.models.openai.options import ServerOptions
    from tacit.requests import Request


_BYTES_PER_TOKEN = 4
_AROUND = 8
"""Tokens that a template puts around what the user says, about."""


@dataclass(frozen=True)
class Cost:
    """What a chat costs at most; what the store holds is not asked again.

    Args:
        texts: How many distinct texts are asked.
        calls: How many calls that are, one reply each, those that try the server included.
        prompt_tokens: Tokens that the server reads, about.
        answer_tokens: Tokens that it writes, at most; None where thoughts may run. With a longest
            thought, one reply that tries the server is not counted: it may run to its end.
    """

    texts: int
    calls: int
    prompt_tokens: int
    answer_tokens: int | None

    @classmethod
    def of(cls, requests: Iterable[Request], options: ServerOptions) -> Cost:
        """The cost of some requests."""
        from tacit.models.openai.answer_parsing import ANSWER_TOKENS
        from tacit.models.openai.chat import ROOM
        from tacit.models.openai.chat_preflight import MOST_CALLS
        from tacit.models.openai.first_tokens import MOST_CALLS as FIRST_CALLS

        texts = {one.text for one in requests}
        each, tries = options.samples or 1, MOST_CALLS if options.samples else FIRST_CALLS
        read = sum(_tokens(text) for text in texts) * each + tries * _tokens("x" * 40)
        calls = len(texts) * each + tries
        if options.samples is None:
            return cls(len(texts), calls, read, calls + ROOM)
        thought = options.thinking or 0
        written = None if thought == "all" else calls * (ANSWER_TOKENS + int(thought)) + ROOM
        return cls(len(texts), calls, read, written)

    @property
    def sentence(self) -> str:
        """The cost in a sentence."""
        written = (
            "as many answer tokens as it thinks for"
            if self.answer_tokens is None
            else f"{several(self.answer_tokens, 'answer token')}"
        )
        return (
            f"{several(self.texts, 'distinct prompt')}: at most {self.calls:,} calls, about "
            f"{self.prompt_tokens:,} prompt tokens and at most {written} (less what the store "
            "holds, and fewer calls where one brings several replies)"
        )

    def to_json(self) -> dict[str, Any]:
        """What ``--dry-run --json`` tells."""
        return {
            "distinct": self.texts,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "answer_tokens": self.answer_tokens,
        }


def chats_of(models: Sequence[str], options: ServerOptions | None) -> list[str]:
    """Which of the models are asked in a server's chat."""
    from tacit.models.openai.options import is_address

    chats = options is not None and options.api == "chat"
    return [name for name in models if chats and is_address(name)]


def _tokens(text: str) -> int:
    return _AROUND + len(text.encode()) // _BYTES_PER_TOKEN


_TRIAL = 16


def estimate(
    engine: Engine, requests: Sequence[Request], blocks: Path | None = None
) -> dict[str, Any]:
    """What ``--dry-run`` shows; asks a few of the requests, and keeps no answer.

    Args:
        engine: Whom to ask, with the store that may hold some answers already.
        requests: What would be asked.
        blocks: Where a run's blocks are recorded.

    Returns:
        ``prompts``, ``distinct``, ``stored``, ``skipped`` (longer than the model's window),
        ``to_ask``, ``tokens`` of these, and ``seconds`` as a short trial makes them, shared out
        among the engine's workers (0 when there is nothing to ask).
    """
    plan = engine.plan(requests, blocks)
    parts = groupby(plan.blocks, key=lambda block: block.kind.folder)
    seconds = sum(_seconds(engine.model, list(part)) for _, part in parts)
    workers = engine.executor.size if engine.executor else 1
    return {
        "prompts": len(requests),
        "distinct": plan.distinct,
        "stored": plan.stored,
        "skipped": len(plan.skipped),
        "to_ask": plan.prompts,
        "tokens": plan.tokens,
        "seconds": round(seconds / workers, 1),
    }


def _seconds(model: LanguageModel, blocks: Sequence[Block]) -> float:
    """How long blocks of one kind take, by a few of their requests."""
    planned = [request for block in blocks for request in block.requests]
    trial = planned[:: max(1, len(planned) // _TRIAL)][:_TRIAL]
    model.answer(trial[:1])  # the first pass also pays for what happens once
    begun = time.monotonic()
    model.answer(trial)
    seconds = time.monotonic() - begun
    return seconds * sum(block.tokens for block in blocks) / sum(model.cost(trial))
