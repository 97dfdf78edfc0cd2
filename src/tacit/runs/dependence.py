"""How much a model's decisions depend on the other questions of a request, and on their order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.engine.ask import Plan
from tacit.engine.blocks import digest_of
from tacit.english import several
from tacit.findings.numbers import score
from tacit.models.base import Decides
from tacit.requests import Decision

if TYPE_CHECKING:
    from tacit.engine.ask import Engine

MOST = 400
"""The most questions of which a batch and a sample are asked; no server takes larger batches."""

LARGEST = 0.02
"""The largest mean change of a probability that needs no caution."""

_WAYS = {
    "alone": "if a question is asked alone",
    "order": "in another order of the questions",
    "options": "if the options are reversed",
}


def dependence(engine: Engine, plan: Plan) -> dict[str, Any] | None:
    """Return the dependence from the store; measure it if the plan needs the model."""
    decisions = [one for one in dict.fromkeys(plan.asked) if isinstance(one, Decision)]
    known = [one for one in decisions if one not in plan.skipped]
    some = random.Random(0).sample(known, min(MOST, len(known)))  # noqa: S311 - no secret
    if not some:
        return None
    key = digest_of(engine.model.fingerprint, some)[:32]
    found: dict[str, Any] | None = engine.store.note(engine.model.fingerprint, key)
    if found is None and plan.blocks and isinstance(engine.model, Decides):
        found = engine.model.dependence(some)
        engine.store.add_note(engine.model.description, key, found)
    return found


def dependence_of(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how much decisions changed when they were asked in other ways, if this is known."""
    if found := summary.get("dependence"):
        changes = ", ".join(f"{score(mean)} {when}" for mean, when in _changes(found))
        sample = several(found["questions"], "question")
        yield f"Mean change of a probability ({sample} asked again): {changes}"


def caution(summary: Mapping[str, Any]) -> str | None:
    """Return a caution if decisions depend on how they are asked."""
    most, when = max(_changes(summary.get("dependence") or {}), default=(0.0, ""))
    return f"Caution: probabilities change by {score(most)} {when}." if most > LARGEST else None


def _changes(found: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Return the mean change of each way that was measured, and the way in words."""
    return [(found[way]["mean"], when) for way, when in _WAYS.items() if found.get(way)]
