"""By what a server's model is recognised: stored answers that reveal a change (canaries)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.models.openai.tokens import Token, agree, find

Canary = dict[str, Any]
"""A server's stored answer to a prompt, with which later answers are compared.

``text`` is the prompt, ``token`` is a next token that the server listed, ``id`` is the token's id,
and ``logprob`` is the token's log-probability. If ``token`` and ``id`` are None, ``logprob`` is the
summed log-probability of the tokens of ``text``. If a canary was sampled, it contains the prompt
``text`` and the model's ``reply`` at temperature 0.
"""

_OF_EACH = 2


def canaries_of(nexts: Mapping[str, Token], echoes: Mapping[str, float]) -> list[Canary]:
    """Create canaries from next tokens and from the log-probabilities of whole texts."""
    tokens = [
        {"text": text, "token": one.text, "id": one.number, "logprob": one.logprob}
        for text, token in nexts.items()
        for one in [one for one in token.top if one.logprob is not None][:_OF_EACH]
    ]
    return tokens + [
        {"text": text, "token": None, "id": None, "logprob": logprob}
        for text, logprob in echoes.items()
    ]


def same_answers(
    canaries: Sequence[Canary], nexts: Mapping[str, Token], echoes: Mapping[str, float]
) -> bool:
    """Return whether a server's answers match its stored answers."""

    def now(canary: Canary) -> float:
        if canary["token"] is None and canary["id"] is None:
            return echoes.get(canary["text"], math.nan)
        token = nexts.get(canary["text"])
        found = token and find(token.top, canary["token"], canary["id"])
        return math.nan if found is None or found.logprob is None else found.logprob

    try:
        apart = [abs(now(canary) - canary["logprob"]) for canary in canaries]
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries
    return bool(apart) and agree(apart)


def recognised(
    identity: Mapping[str, Any],
    new: list[Canary],
    store: Path | None,
    same: Callable[[Sequence[Canary]], bool],
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint and canaries, stored or new ones."""
    for known in _described(store) if store else ():
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
