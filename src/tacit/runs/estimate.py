"""Estimate a run's number of requests and its duration, from a plan and a short trial."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.models.base import Decides, LanguageModel
from tacit.models.openai.options import ServerOptions
from tacit.requests import Request
from tacit.requests.block import Block

if TYPE_CHECKING:
    from tacit.engine.ask import Engine


_BYTES_PER_TOKEN = 4
_AROUND = 8
"""Approximate number of tokens that a chat template adds to a user message."""


@dataclass(frozen=True)
class Cost:
    """The maximum cost of querying a chat server, if no answer is cached; printed as JSON."""

    distinct: int
    calls: int
    prompt_tokens: int
    answer_tokens: int | None

    @classmethod
    def of(cls, requests: Iterable[Request], options: ServerOptions) -> Cost:
        """Compute the maximum cost of sending requests to a server."""
        from tacit.engine.rechecks import AGAIN, RATE
        from tacit.models.openai.chat import ROOM
        from tacit.models.openai.chat_checks import MOST_CALLS, MOST_FIRST_CALLS
        from tacit.models.openai.server import TEXTS
        from tacit.requests.answer_parsing import ANSWER_TOKENS

        texts = {one.text for one in requests}
        again = 0 if options.samples else min(len(texts), AGAIN + len(texts) // RATE)
        each, tries = (
            options.samples or 1,
            MOST_CALLS if options.samples else MOST_FIRST_CALLS + again,
        )
        read = sum(_tokens(text) for text in texts) * each + tries * _tokens("x" * 40)
        calls = len(texts) * each + tries
        if options.samples is None:
            longer = again + len(TEXTS)  # of two tokens
            return cls(len(texts), calls, read, calls + longer + ROOM)
        thought = options.thinking or 0
        written = None if thought == "all" else calls * (ANSWER_TOKENS + int(thought)) + ROOM
        return cls(len(texts), calls, read, written)

    @property
    def sentence(self) -> str:
        """A phrase that describes the cost."""
        written = (
            "an unlimited number of answer tokens"
            if self.answer_tokens is None
            else f"at most {several(self.answer_tokens, 'answer token')}"
        )
        return (
            f"{several(self.distinct, 'distinct prompt')}: at most {self.calls:,} calls, about "
            f"{self.prompt_tokens:,} prompt tokens and {written} (less if answers are cached or "
            "if a call returns several replies)"
        )


def _tokens(text: str) -> int:
    return _AROUND + len(text.encode()) // _BYTES_PER_TOKEN


_TRIAL = 16


def estimate(
    engine: Engine, requests: Sequence[Request], blocks: Path | None = None
) -> dict[str, Any]:
    """Compute the output of ``--dry-run``; a few requests are sent, but no answer is stored."""
    plan, model = engine.plan(requests, blocks), engine.model
    parts = groupby(plan.blocks, key=lambda block: block.of)
    seconds = sum(_seconds(model, list(part)) for _, part in parts)
    workers = engine.executor.size if engine.executor else 1
    return {
        "prompts": len(requests),
        "distinct": plan.distinct,
        "stored": plan.stored,
        "skipped": len(plan.skipped),
        "to_ask": plan.prompts,
        **({"requests": model.calls(plan.prompts)} if isinstance(model, Decides) else {}),
        "tokens": plan.tokens,
        "seconds": round(seconds / workers, 1),
    }


def _seconds(model: LanguageModel, blocks: Sequence[Block]) -> float:
    """Estimate the duration of requests of one kind by sending a few of them as a trial."""
    planned = [request for block in blocks for request in block.requests]
    trial = planned[:: max(1, len(planned) // _TRIAL)][:_TRIAL]
    model.answer(trial[:1])  # warm up: the first pass includes one-time costs
    begun = time.monotonic()
    model.answer(trial)
    seconds = time.monotonic() - begun
    return seconds * sum(block.tokens for block in blocks) / sum(model.cost(trial))
