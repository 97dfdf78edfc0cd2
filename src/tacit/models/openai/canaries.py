"""Canaries: stored answers by which a server's model is recognised, as its weights are not visible.

The canaries are part of the model's description, which the store saves with the scores. At each
start the same prompts are sent again. If the answers differ, the server has another model under
this name, or another precision, and its scores are stored as those of another model.
"""

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
"""A ``text``, a ``token`` or its ``id``, and the ``logprob``.

Without ``token`` and ``id``, ``logprob`` is the sum over the text's own tokens. For a model
without log-probabilities: a ``text`` and its ``reply``.
"""

_OF_EACH = 2


def canaries_of(seen: Seen) -> list[Canary]:
    """Return the canaries of a server: the likeliest next tokens and the echo of each text."""
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
    """Return whether a server's answers match the canaries, up to rounding."""
    try:
        apart = [abs(_now(canary, seen) - canary["logprob"]) for canary in canaries]
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries
    return bool(apart) and agree(apart)


def _now(canary: Canary, seen: Seen) -> float:
    """Return the server's current log-probability for a canary; NaN if the server returns none."""
    if canary["token"] is None and canary["id"] is None:
        return seen.echoes.get(canary["text"], math.nan)
    token = seen.next_tokens.get(canary["text"])
    found = token and find(token.top, canary["token"], canary["id"])
    return math.nan if found is None or found.logprob is None else found.logprob


def fingerprint_of(
    identity: Mapping[str, Any], seen: Seen, kept: Path | None
) -> tuple[str, list[Canary]]:
    """Return the fingerprint under which a server's scores are cached, and its canaries.

    Args:
        identity: The visible settings that the scores depend on.
        seen: The server's current answers.
        kept: The store's folder with descriptions of models; None to recognise no server.

    Returns:
        The values of a matching server in the store, or else new values.
    """
    return recognised(identity, canaries_of(seen), kept, lambda known: same_answers(known, seen))


def recognised(
    identity: Mapping[str, Any],
    new: list[Canary],
    kept: Path | None,
    same: Callable[[Sequence[Canary]], bool],
) -> tuple[str, list[Canary]]:
    """As ``fingerprint_of``, for canaries of any kind.

    Args:
        identity: The visible settings that a model's answers depend on.
        new: The current canaries.
        kept: The store's folder with descriptions of models; None to recognise no server.
        same: Returns whether the current answers match stored canaries.
    """
    for known in _described(kept) if kept else ():
        canaries = known.get("canaries")
        if known.get("identity") == identity and canaries and same(canaries):
            return str(known["fingerprint"]), list(canaries)
    content = json.dumps([identity, new], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"server {content}".encode()).hexdigest(), new


def _described(store: Path) -> list[dict[str, Any]]:
    """Return the descriptions of servers in a store, the latest first."""
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
