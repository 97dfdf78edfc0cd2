"""By what a server's model is recognised: stored answers that reveal a change (canaries)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.models.openai.server import Server
from tacit.models.openai.tokens import agree, find
from tacit.requests import KINDS

Canary = dict[str, Any]
"""A server's stored answer to a prompt, with which later answers are compared.

``text`` is the prompt, ``token`` is a next token that the server listed, ``id`` is the token's id,
and ``logprob`` is the token's log-probability. If ``token`` and ``id`` are None, ``logprob`` is the
summed log-probability of the tokens of ``text``. A server without log-probabilities has canaries
with the prompt ``text`` and the model's ``reply`` at temperature 0.
"""

_OF_EACH = 2


def recognised(
    identity: Mapping[str, Any], server: Server, store: Path | None
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint and canaries: stored ones, if it still gives these answers."""
    for known in _described(store) if store else ():
        canaries = known.get("canaries")
        if known.get("identity") == identity and canaries and _still_gives(server, canaries):
            return str(known["fingerprint"]), list(canaries)
    new = _canaries_of(server)
    content = json.dumps([identity, new], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"server {content}".encode()).hexdigest(), new


def _canaries_of(server: Server) -> list[Canary]:
    tokens = [
        {"text": text, "token": one.text, "id": one.number, "logprob": one.logprob}
        for text, token in server.nexts.items()
        for one in [one for one in token.top if one.logprob is not None][:_OF_EACH]
    ]
    echoes = [
        {"text": text, "token": None, "id": None, "logprob": echo.total}
        for text, echo in server.echoes.items()
    ]
    replies = [{"text": text, "reply": reply} for text, reply in server.greedy_replies.items()]
    return [*tokens, *echoes, *replies]


def _still_gives(server: Server, canaries: Sequence[Canary]) -> bool:
    """Return whether a server's answers in the preflight match stored ones."""

    def logprob(canary: Canary) -> float:
        if canary["token"] is None and canary["id"] is None:
            echo = server.echoes.get(canary["text"])
            return math.nan if echo is None else echo.total
        token = server.nexts.get(canary["text"])
        found = token and find(token.top, canary["token"], canary["id"])
        return math.nan if found is None or found.logprob is None else found.logprob

    try:
        if server.greedy_replies:
            then = {canary["text"]: canary["reply"] for canary in canaries}
            return same_replies(then, server.greedy_replies)
        return agree([abs(logprob(canary) - canary["logprob"]) for canary in canaries])
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries


def same_replies(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether at least half of the texts were answered again, and 75 % of these alike."""
    both = [text for text in then if text in now]
    same = sum(then[text] == now[text] for text in both)
    return bool(both) and 2 * len(both) >= len(then) and 4 * same >= 3 * len(both)


def _described(store: Path) -> list[dict[str, Any]]:
    """Return the descriptions of servers in a score store, starting with the newest one."""
    found = []
    folders = sorted(kind.folder for kind in KINDS.values())
    for file in (file for folder in folders for file in store.glob(f"{folder}/*/model.json")):
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
