"""What a run notes beside its results: next tokens, how decisions depend, missing answers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engine.blocks import digest_of
from tacit.english import several
from tacit.findings.numbers import percent, score
from tacit.models.base import Decides, PredictsTokens
from tacit.requests import Decision, Prompt, RankingPrompt, Request

if TYPE_CHECKING:
    from tacit.engine.ask import Engine, Plan

T = TypeVar("T", bound=Request)

TOKENS = 8
PROMPTS = 32
"""The number of prompts over which the probabilities of next tokens are averaged."""

DECISIONS = 400
"""The most questions of which a batch and a sample are asked; no server takes larger batches."""

LARGEST = 0.02
"""The largest mean change of a probability that needs no caution."""

_WAYS = {
    "alone": "if a question is asked alone",
    "order": "in another order of the questions",
    "options": "if the options are reversed",
}


def next_tokens(engine: Engine, plan: Plan) -> dict[str, Any] | None:
    """Return the likeliest tokens that a local model would write after the prompts of a run."""
    texts: dict[str, Prompt | RankingPrompt] = {}
    for one in plan.asked:
        if isinstance(one, Prompt | RankingPrompt) and one.text not in texts:
            texts[one.text] = one
    prompts = [
        Prompt(one.text, one.answers[:1], one.separator)
        if isinstance(one, Prompt)
        else one.asking(one.vocabulary.words[:1])
        for one in _sample(texts.values(), plan, PROMPTS)
    ]

    def measured() -> dict[str, Any] | None:
        if not isinstance(engine.model, PredictsTokens):
            return None
        likeliest = engine.model.next_tokens(prompts, TOKENS)
        tokens = [{"token": token, "probability": round(p, 6)} for token, p in likeliest]
        return {"prompts": len(prompts), "tokens": tokens}

    return _noted(engine, plan, prompts, measured)


def dependence(engine: Engine, plan: Plan) -> dict[str, Any] | None:
    """Return how much decisions depend on the other questions of a request and their order."""
    decisions = [one for one in dict.fromkeys(plan.asked) if isinstance(one, Decision)]
    some = _sample(decisions, plan, DECISIONS)

    def measured() -> dict[str, Any] | None:
        return engine.model.dependence(some) if isinstance(engine.model, Decides) else None

    return _noted(engine, plan, some, measured)


def _sample(asked: Iterable[T], plan: Plan, most: int) -> list[T]:
    known = [one for one in asked if not plan.skipped or one not in plan.skipped]
    return random.Random(0).sample(known, min(most, len(known)))  # noqa: S311 - no secret


def _noted(
    engine: Engine,
    plan: Plan,
    asked: Sequence[Request],
    measured: Callable[[], dict[str, Any] | None],
) -> dict[str, Any] | None:
    """Return a note from the store; measure and store it if the plan needs the model."""
    if not asked:
        return None
    key = digest_of(engine.model.fingerprint, asked)[:32]
    note: dict[str, Any] | None = engine.store.note(engine.model.fingerprint, key)
    if note is None and plan.blocks and (note := measured()) is not None:
        engine.store.add_note(engine.model.description, key, note)
    return note


def notes(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield what is known of the next tokens and of dependence, and what is missing."""
    yield from next_tokens_of(summary)
    if changed := summary.get("dependence"):
        changes = ", ".join(f"{score(mean)} {when}" for mean, when in _changes(changed))
        sample = several(changed["questions"], "question")
        yield f"Mean change of a probability ({sample} asked again): {changes}"
    yield from missing(summary, listed=listed)


def next_tokens_of(summary: Mapping[str, Any], most: int = TOKENS) -> Iterator[str]:
    """Yield what a local model would write after the prompts, if this is known."""
    if next_tokens := summary.get("next_tokens"):
        tokens = ", ".join(
            f"{json.dumps(one['token'], ensure_ascii=False)} {percent(one['probability'])}"
            for one in next_tokens["tokens"][:most]
        )
        mean = f"mean of {several(next_tokens['prompts'], 'prompt')}"
        yield f"Next token after the prompt ({mean}): {tokens}"


def caution(summary: Mapping[str, Any]) -> str | None:
    """Return a caution if decisions depend on how they are asked."""
    most, when = max(_changes(summary.get("dependence") or {}), default=(0.0, ""))
    return f"Caution: probabilities change by {score(most)} {when}." if most > LARGEST else None


def _changes(dependence: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Return the mean change of each way that was measured, and the way in words."""
    return [(dependence[way]["mean"], when) for way, when in _WAYS.items() if dependence.get(way)]


def missing(summary: Mapping[str, Any], *, listed: bool = True) -> Iterator[str]:
    """Yield what is missing: skipped prompts, answers without a score, unparsed replies."""
    if skipped := summary.get("skipped"):
        where = " (listed in findings/skipped.parquet)" if listed else ""
        yield (
            f"{several(skipped, 'prompt is', 'prompts are')} longer than the model's context "
            f"window and therefore skipped{where}; the answers to skipped prompts are missing"
        )
    for reason, count in (summary.get("unscored") or {}).items():
        yield f"{several(count, 'answer has', 'answers have')} no score: {reason}"
    if (votes := summary.get("votes")) and votes["unparsed"]:
        cut = several(votes["truncated"], "reply was", "replies were")
        yield (
            f"{votes['unparsed']:,} of {several(votes['replies'], 'reply', 'replies')} could not "
            "be parsed as an answer and are not counted"
            + (f" ({cut} cut off during reasoning)" if votes["truncated"] else "")
        )
