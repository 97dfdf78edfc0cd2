"""Canaries: stored answers with which a change of a server's model is detected.

Canaries (a server's answers to a few fixed prompts) are part of the model's description, which the
score store saves with the scores. Each time Tacit connects to a server, it sends the prompts of the
canaries again and compares the new answers with the stored answers. If the server's answers have
changed, the server runs a different model under the same name, or the same model with a different
precision. Scores of a server whose answers have changed are cached as the scores of a different
model.
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
    """Return whether a server's answers match its stored answers (canaries).

    Differences that may be rounding errors are ignored.
    """
    try:
        apart = [abs(_now(canary, seen) - canary["logprob"]) for canary in canaries]
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries
    return bool(apart) and agree(apart)


def _now(canary: Canary, seen: Seen) -> float:
    """Return the server's current log-probability for a canary (a stored answer).

    The result is NaN if the server's current answer contains no log-probability for the canary.
    """
    if canary["token"] is None and canary["id"] is None:
        return seen.echoes.get(canary["text"], math.nan)
    token = seen.next_tokens.get(canary["text"])
    found = token and find(token.top, canary["token"], canary["id"])
    return math.nan if found is None or found.logprob is None else found.logprob


def fingerprint_of(
    identity: Mapping[str, Any], seen: Seen, kept: Path | None
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint (cache key) and canaries (answers that reveal changes).

    Args:
        identity: The server settings that Tacit can see and that affect the scores.
        seen: The server's current answers to the texts of the preflight.
        kept: The folder of the score store, which contains the descriptions of known servers; None
            to treat every server as new.

    Returns:
        A fingerprint and canaries (prompts with answers that identify the server). The fingerprint
        and the canaries come from the score store if the server matches a known server, and are new
        otherwise.
    """
    return recognised(identity, canaries_of(seen), kept, lambda known: same_answers(known, seen))


def recognised(
    identity: Mapping[str, Any],
    new: list[Canary],
    kept: Path | None,
    same: Callable[[Sequence[Canary]], bool],
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint and canaries (test answers), stored or new ones.

    If the server gives the same answers as a server that the score store describes, the stored
    fingerprint and canaries are returned. Otherwise, the server is new, and so are its fingerprint
    and canaries.

    Args:
        identity: The server settings that Tacit can see and that affect the answers.
        new: The canaries (prompts with answers that identify a server), computed from the server's
            current answers.
        kept: The folder of the score store, which contains the descriptions of known servers; None
            to treat every server as new.
        same: A function that returns whether the server's current answers match stored canaries.
    """
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
