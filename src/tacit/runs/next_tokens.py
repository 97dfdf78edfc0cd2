"""What a local model would write: the likeliest next tokens after the prompts of a run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.engine.ask import Plan
from tacit.engine.blocks import digest_of
from tacit.english import several
from tacit.findings.numbers import percent
from tacit.models.base import PredictsTokens
from tacit.requests import Prompt, RankingPrompt

if TYPE_CHECKING:
    from tacit.engine.ask import Engine

TOKENS = 8
PROMPTS = 32
"""The number of prompts over which the probabilities are averaged."""


def next_tokens(engine: Engine, plan: Plan) -> dict[str, Any] | None:
    """Return the likeliest next tokens from the store; compute them if the plan needs the model."""
    prompts = _sample(plan)
    key = digest_of(engine.model.fingerprint, prompts)[:32]
    found: dict[str, Any] | None = engine.store.note(engine.model.fingerprint, key)
    if found is None and plan.blocks and prompts and isinstance(engine.model, PredictsTokens):
        likeliest = engine.model.next_tokens(prompts, TOKENS)
        tokens = [{"token": token, "probability": round(p, 6)} for token, p in likeliest]
        found = {"prompts": len(prompts), "tokens": tokens}
        engine.store.add_note(engine.model.description, key, found)
    return found


def next_tokens_of(summary: Mapping[str, Any], most: int = TOKENS) -> Iterator[str]:
    """Yield what a local model would write after the prompts, if this is known."""
    found = summary.get("next_tokens")
    if found:
        tokens = ", ".join(
            f"{json.dumps(one['token'], ensure_ascii=False)} {percent(one['probability'])}"
            for one in found["tokens"][:most]
        )
        mean = f"mean of {several(found['prompts'], 'prompt')}"
        yield f"Next token after the prompt ({mean}): {tokens}"


def _sample(plan: Plan) -> list[Prompt]:
    texts: dict[str, Prompt | RankingPrompt] = {}
    for one in plan.asked:
        if isinstance(one, Prompt | RankingPrompt) and one.text not in texts:
            texts[one.text] = one
    known = [one for one in texts.values() if not plan.skipped or one not in plan.skipped]
    some = random.Random(0).sample(known, min(PROMPTS, len(known)))  # noqa: S311 - no secret
    return [
        Prompt(one.text, one.answers[:1], one.separator)
        if isinstance(one, Prompt)
        else one.asking(one.vocabulary.words[:1])
        for one in some
    ]
