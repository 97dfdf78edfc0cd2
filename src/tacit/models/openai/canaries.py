"""Canaries: stored answers with which a change of a server's model is detected."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from tacit.models.openai.token_lists import agree, find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tacit.models.openai.preflight import Seen

Canary = dict[str, Any]
"""A server's stored answer to a prompt, with which later answers are compared.

``text`` is the prompt, ``token`` is a next token that the server listed, ``id`` is the token's id,
and ``logprob`` is the token's log-probability.

If ``token`` and ``id`` are None, ``logprob`` belongs to the prompt itself: it is the summed
log-probability of the tokens of ``text``. If replies are sampled, a canary contains the prompt
``text`` and the model's ``reply`` at temperature 0.
"""

_OF_EACH = 2


def canaries_of(seen: Seen) -> list[Canary]:
    """Create canaries (answers that reveal changes of the model) from a server's answers."""
    canaries: list[Canary] = []
    for text, token in seen.next_tokens.items():
        known = [(one, one.logprob) for one in token.top if one.logprob is not None]
        for one, logprob in sorted(known, key=lambda pair: -pair[1])[:_OF_EACH]:
            canaries.append({"text": text, "token": one.text, "id": one.number, "logprob": logprob})
    canaries += [
        {"text": text, "token": None, "id": None, "logprob": logprob}
        for text, logprob in seen.echoes.items()
    ]
    return canaries


def same_answers(canaries: Sequence[Canary], seen: Seen) -> bool:
    """Return whether a server's answers match its stored answers (canaries)."""
    try:
        apart = [abs(_now(canary, seen) - canary["logprob"]) for canary in canaries]
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries
    return bool(apart) and agree(apart)


def _now(canary: Canary, seen: Seen) -> float:
    """Return the server's current log-probability for a canary (a stored answer)."""
    if canary["token"] is None and canary["id"] is None:
        return seen.echoes.get(canary["text"], math.nan)
    token = seen.next_tokens.get(canary["text"])
    found = token and find(token.top, canary["token"], canary["id"])
    return math.nan if found is None or found.logprob is None else found.logprob


def fingerprint_of(
    identity: Mapping[str, Any], seen: Seen, kept: Path | None
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint (cache key) and canaries (answers that reveal changes)."""
    return recognised(identity, canaries_of(seen), kept, lambda known: same_answers(known, seen))


def recognised(
    identity: Mapping[str, Any],
    new: list[Canary],
    kept: Path | None,
    same: Callable[[Sequence[Canary]], bool],
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint and canaries (test answers), stored or new ones."""
    for known in _described(kept) if kept else ():
        canaries = known.get("canaries")
        if known.get("identity") == identity and canaries and same(canaries):
            return str(known["fingerprint"]), list(canaries)
    content = json.dumps([identity, new], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"server {content}".encode()).hexdigest(), new


def _described(store: Path) -> list[dict[str, Any]]:
    """Return the descriptions of servers in a score store, starting with the newest one."""
    found = []
    for file in (*store.glob("scores/*/model.json"), *store.glob("votes/*/model.json")):
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            found.append((file.stat().st_mtime_ns, str(file), known))
        except (OSError, ValueError, RecursionError):
            continue  # this server is then not recognised
    found.sort(key=lambda each: each[:2], reverse=True)
    return [
        known
        for *_, known in found
        if isinstance(known, dict) and known.get("kind") == "server" and "fingerprint" in known
    ]
