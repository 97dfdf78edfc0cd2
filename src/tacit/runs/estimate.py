"""Estimate a run's number of requests and its duration, from a plan and a short trial."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.models.base import Decides, LanguageModel
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.served import ServedModel
from tacit.requests import Request
from tacit.requests.kind import Block

if TYPE_CHECKING:
    from tacit.engine.ask import Engine


_BYTES_PER_TOKEN = 4
_AROUND = 8
"""Approximate number of tokens that a chat template adds to a user message."""


@dataclass(frozen=True)
class Cost:
    """The maximum cost of querying a chat server, if no answer is cached; printed as JSON.

    ``in_a_row`` is the number of calls that wait for one another.
    """

    distinct: int
    calls: int
    in_a_row: int
    prompt_tokens: int
    answer_tokens: int | None
    dollars: float | None = None

    @classmethod
    def of(cls, requests: Iterable[Request], options: ServerOptions) -> Cost:
        """Compute the maximum cost of sending requests to a server."""
        from tacit.engine.rechecks import AGAIN, RATE
        from tacit.models.openai.chat import MOST_FIRST_CALLS, ROOM
        from tacit.models.openai.sampling import MOST_CALLS
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
            written: int | None = calls + longer + ROOM
        else:
            thought = options.thinking or 0
            written = None if thought == "all" else calls * (ANSWER_TOKENS + int(thought)) + ROOM
        in_a_row = math.ceil(calls / options.concurrency)
        dollars = options.dollars(read, written)
        return cls(len(texts), calls, in_a_row, read, written, dollars)

    @property
    def sentence(self) -> str:
        """A phrase that describes the cost."""
        written = (
            "an unlimited number of answer tokens"
            if self.answer_tokens is None
            else f"at most {several(self.answer_tokens, 'answer token')}"
        )
        return (
            f"{several(self.distinct, 'distinct prompt')}: at most {self.calls:,} calls "
            f"({self.in_a_row:,} in a row), about "
            f"{self.prompt_tokens:,} prompt tokens and {written}{priced(self.dollars)} (less if "
            "answers are cached or if a call returns several replies)"
        )


def _tokens(text: str) -> int:
    return _AROUND + len(text.encode()) // _BYTES_PER_TOKEN


_TRIAL = 16


def estimate(
    engine: Engine,
    requests: Sequence[Request],
    blocks: Path | None = None,
    options: ServerOptions | None = None,
) -> dict[str, Any]:
    """Compute the output of ``--dry-run``; a few requests are sent, but no answer is stored.

    ``options`` has the prices of a server, whose own counts in the trial are scaled up.
    """
    plan, model = engine.plan(requests, blocks), engine.model
    whole: Counter[str] = Counter()
    for _, part in groupby(plan.blocks, key=lambda block: block.of):
        whole.update(_trial(model, list(part)))
    workers = engine.executor.size if engine.executor else 1
    estimated = {
        "prompts": len(requests),
        "distinct": plan.distinct,
        "stored": plan.stored,
        "skipped": len(plan.skipped),
        "to_ask": plan.prompts,
        "tokens": plan.tokens,
        "seconds": round(whole["seconds"] / workers, 1),
    }
    if not isinstance(model, ServedModel):
        return estimated
    asked = model.calls(plan.prompts) if isinstance(model, Decides) else round(whole["requests"])
    read = round(whole["prompt_tokens"]) or plan.tokens
    written = round(whole["answer_tokens"]) or asked
    dollars = (options or ServerOptions()).dollars(read, written)
    about = {"requests": asked, "prompt_tokens": read, "answer_tokens": written}
    return estimated | about | {"dollars": dollars}


def priced(dollars: float | None) -> str:
    """Return the words for a cost; empty if it is not known."""
    return "" if dollars is None else f", ${dollars:,.2f}" if dollars >= 1 else f", ${dollars:.4f}"


def _trial(model: LanguageModel, blocks: Sequence[Block]) -> Mapping[str, Any]:
    """Estimate time and traffic of requests of one kind by sending a few of them as a trial."""
    planned = [request for block in blocks for request in block.requests]
    trial = planned[:: max(1, len(planned) // _TRIAL)][:_TRIAL]
    model.answer(trial[:1])  # warm up: the first pass includes one-time costs
    before = Counter(model.traffic) if isinstance(model, ServedModel) else Counter()
    begun = time.monotonic()
    model.answer(trial)
    by_tokens = sum(block.tokens for block in blocks) / sum(model.cost(trial))
    seconds = (time.monotonic() - begun) * by_tokens
    if not isinstance(model, ServedModel):
        return {"seconds": seconds}
    sent, by_prompts = model.traffic - before, len(planned) / len(trial)
    return {
        "seconds": seconds,
        "requests": sent["requests"] * by_prompts,
        "prompt_tokens": sent["prompt_tokens"] * by_tokens,
        "answer_tokens": sent["answer_tokens"] * by_prompts,
    }
