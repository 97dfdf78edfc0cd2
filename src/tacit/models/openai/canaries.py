"""By what a server's model is known again: nobody sees its weights, so some answers are kept.

They stand in the description of the model, which the store keeps beside the scores. At each start
the same is asked again; where it is answered otherwise, the server has another model by that name,
or another precision, and its scores are another model's.
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
"""A ``text``, a ``token`` or its ``id`` (neither: all of the text's own), and the ``logprob``.

Of a model that gives no log-probabilities, a ``text`` and its ``reply``.
"""

_OF_EACH = 2


def canaries_of(seen: Seen) -> list[Canary]:
    """What a server said of each text: of the likeliest next tokens, and in its echo."""
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
    """Whether a server says now what it said then, but for rounding."""
    try:
        apart = [abs(_now(canary, seen) - canary["logprob"]) for canary in canaries]
    except (LookupError, TypeError, OverflowError):
        return False  # nothing that was written here
    return bool(apart) and agree(apart)


def _now(canary: Canary, seen: Seen) -> float:
    """What the server says now; not a number where it says nothing of it."""
    if canary["token"] is None and canary["id"] is None:
        return seen.echoes.get(canary["text"], math.nan)
    token = seen.next_tokens.get(canary["text"])
    found = token and find(token.top, canary["token"], canary["id"])
    return math.nan if found is None or found.logprob is None else found.logprob


def fingerprint_of(
    identity: Mapping[str, Any], seen: Seen, kept: Path | None
) -> tuple[str, list[Canary]]:
    """The fingerprint under which a server's scores are cached, and its canaries.

    Args:
        identity: What its scores depend on, as far as it can be seen.
        seen: What it said now.
        kept: The store, where descriptions of models lie; None to know no server again.

    Returns:
        Those of a server in the store that is the same, else new ones.
    """
    return recognised(identity, canaries_of(seen), kept, lambda known: same_answers(known, seen))


def recognised(
    identity: Mapping[str, Any],
    new: list[Canary],
    kept: Path | None,
    same: Callable[[Sequence[Canary]], bool],
) -> tuple[str, list[Canary]]:
    """As ``fingerprint_of``, with canaries of any kind.

    Args:
        identity: What a model's answers depend on, as far as it can be seen.
        new: The canaries of now.
        kept: The store, where descriptions of models lie; None to know no server again.
        same: Whether canaries of then are answered so now.
    """
    for known in _described(kept) if kept else ():
        canaries = known.get("canaries")
        if known.get("identity") == identity and canaries and same(canaries):
            return str(known["fingerprint"]), list(canaries)
    content = json.dumps([identity, new], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"server {content}".encode()).hexdigest(), new


def _described(store: Path) -> list[dict[str, Any]]:
    """The descriptions of servers in a store, the latest first."""
    found = []
    for file in (*store.glob("scores/*/model.json"), *store.glob("votes/*/model.json")):
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            found.append((file.stat().st_mtime_ns, str(file), known))
        except (OSError, ValueError, RecursionError):
            continue  # then it is not known again, and asked anew
    found.sort(key=lambda each: each[:2], reverse=True)
    return [
        known
        for *_, known in found
        if isinstance(known, dict) and known.get("kind") == "server" and "fingerprint" in known
    ]
