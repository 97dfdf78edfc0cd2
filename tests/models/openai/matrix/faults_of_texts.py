"""Faults of what a server reads: it loses, changes or adds something to a text."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import (
    COMPLETIONS,
    ECHO,
    SCORED,
    Fault,
    Hidden,
    on_text,
)
from tests.models.openai.matrix.language import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Server

TEMPLATE = (
    "a chat's template may add to a text as its model wants it; who sees no other rendering has "
    "nothing to compare with"
)
MODEL = "it is as if another model were served, which answers all questions alike"

UNKNOWN = "without a tokenizer nobody knows whether it is the model's own way"


def _ids(text: str) -> list[int]:
    return list(tokenizer().encode(text).ids)


def _decoded(ids: list[int]) -> str:
    return str(tokenizer().decode(ids, skip_special_tokens=False))


def _last(text: str, most: int = 20) -> str:
    return _decoded(_ids(text)[-most:])


def _first(text: str, most: int = 40) -> str:
    return _decoded(_ids(text)[:most])


def _middle_out(text: str) -> str:
    ids = _ids(text)
    return text if len(ids) <= 32 else _decoded([*ids[:16], *ids[-16:]])


def _recounted(change: Callable[[str], str]) -> Callable[[], Respond]:
    """Changes each text, and counts the tokens of the text as it was."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.about(change(asked.text)))
        extra = len(_ids(asked.text)) - len(_ids(change(asked.text)))
        usage = answer["usage"]
        return {**answer, "usage": {**usage, "prompt_tokens": usage["prompt_tokens"] + extra}}

    return lambda: respond


def _only(change: Callable[[str], str], *, echo: bool) -> Callable[[], Respond]:
    """Changes the texts of echoes alone, or all others alone."""

    def respond(asked: Asked, server: Server) -> Answer:
        meant = bool(asked.body.get("echo")) == echo
        return server.honest.answer(asked.about(change(asked.text)) if meant else asked.body)

    return lambda: respond


def _without_short(change: Callable[[str], str], most: int) -> Callable[[str], str]:
    """A change of texts that are longer than so many tokens."""
    return lambda text: change(text) if len(_ids(text)) > most else text


_PREFIX = "You are a helpful assistant.\n"
_TWICE = "<|user|>\n{}\n<|assistant|>\n"
_added = (Hidden(TEMPLATE, ("chat", "votes"), ("first",)),)
_unseen = (Hidden(MODEL, ("next+tokenizer",), ("first",)), *_added)

FAULTS = [
    Fault("trims trailing white space", on_text(str.rstrip)),
    Fault("trims trailing white space, counts as it was", _recounted(str.rstrip)),
    Fault("trims for next tokens, not for echoes", _only(str.rstrip, echo=False), ECHO),
    Fault("trims for echoes, not for next tokens", _only(str.rstrip, echo=True), ECHO),
    Fault("trims leading white space", on_text(str.lstrip)),
    Fault("collapses double spaces", on_text(lambda t: re.sub("  +", " ", t))),
    Fault("turns line ends into spaces", on_text(lambda t: t.replace("\n", " "))),
    Fault("reads the first line only", on_text(lambda t: t.split("\n")[0])),
    Fault("reads up to an empty line", on_text(lambda t: t.split("\n\n")[0])),
    Fault("lower-cases", on_text(str.lower)),
    Fault("lower-cases, counts as it was", _recounted(str.lower)),
    Fault(
        "normalises Unicode (NFKC)",
        on_text(lambda t: unicodedata.normalize("NFKC", t)),
    ),
    Fault(
        "drops what is not ASCII",
        on_text(lambda t: t.encode("ascii", "ignore").decode()),
    ),
    # Different texts stay different, and in a chat nobody knows how many tokens they are.
    Fault("escapes HTML", on_text(html.escape), hidden=_added),
    Fault("keeps the last 20 tokens", on_text(_last)),
    Fault("keeps the last 20 tokens, counts all", _recounted(_last)),
    Fault("keeps the last 40 tokens", on_text(lambda t: _last(t, 40))),
    Fault("keeps the last 40 tokens, counts all", _recounted(lambda t: _last(t, 40))),
    Fault("keeps the first 40 tokens", on_text(_first)),
    Fault("keeps the first 40 tokens, counts all", _recounted(_first)),
    Fault("cuts the middle out", on_text(_middle_out)),
    Fault("cuts the middle out, counts all", _recounted(_middle_out)),
    Fault(
        "keeps the last 20 tokens of next tokens' texts, not of echoes",
        _only(_last, echo=False),
        ECHO,
    ),
    Fault(
        "lower-cases texts of over 30 tokens",
        _recounted(_without_short(str.lower, 30)),
        SCORED,
    ),
    Fault("drops the last character", on_text(lambda t: t[:-1])),
    Fault("adds a line end", on_text(lambda t: t + "\n"), hidden=_added),
    Fault(
        "adds a line end, counts as it was",
        _recounted(lambda t: t + "\n"),
        hidden=_unseen,
    ),
    Fault("adds a prefix silently", on_text(lambda t: _PREFIX + t), hidden=_added),
    Fault(
        "adds a prefix silently, counts as it was",
        _recounted(lambda t: _PREFIX + t),
        hidden=_unseen,
    ),
    Fault(
        "adds a system prompt to the chat",
        on_text(lambda t: _PREFIX + t),
        ("chat", "votes"),
        hidden=_added,
    ),
    Fault(
        "applies a chat's template (twice, in the chat)",
        on_text(_TWICE.format),
        hidden=_added,
    ),
    Fault(
        "applies a chat's template to next tokens alone",
        _only(_TWICE.format, echo=False),
        ECHO,
    ),
    Fault(
        "puts a BOS before texts",
        on_text(lambda t: "<|endoftext|>" + t),
        COMPLETIONS,
        hidden=(Hidden(UNKNOWN, ("echo",), ("first",)),),
    ),
    Fault(
        "puts a BOS before texts, counts none",
        _recounted(lambda t: "<|endoftext|>" + t),
        COMPLETIONS,
        hidden=_unseen,
    ),
    Fault(
        "puts a BOS before next tokens' texts, not before echoes",
        _only(lambda t: "<|endoftext|>" + t, echo=False),
        ECHO,
    ),
]
