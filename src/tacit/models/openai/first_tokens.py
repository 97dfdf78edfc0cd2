"""Score answers of a chat server by the log-probabilities of a reply's first token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError, ScoringError
from tacit.models.base import FIRST, IN_CHAT
from tacit.models.openai import chat
from tacit.models.openai.canaries import fingerprint_of
from tacit.models.openai.chat import OPENS
from tacit.models.openai.monitoring import QUIET, ScoringServer, Watch, Watched
from tacit.models.openai.preflight import (
    TEXTS,
    Seen,
    mixed,
    mixes_up,
    most_probable,
    of_noise,
    plausibility,
    warn,
)
from tacit.models.openai.schema import WrongRepliesError, are_rescaled
from tacit.models.openai.text_pairs import (
    MOST_TEXTS,
    compare_pairs,
    least_listed,
    problems_and_notes,
    refusal,
)
from tacit.models.openai.token_lists import ENOUGH, LARGEST, TOPS, agree, find, likeliest, returned
from tacit.requests import OUTSIDE_FIRST, UNSAID_FIRST, AnswerScore, Prompt, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.models.openai.chat import Talk
    from tacit.models.openai.text_pairs import Differences
    from tacit.models.openai.token_lists import Token

SCORER = "server-chat-1"

MOST_CALLS = len(TOPS) + 2 * len(TEXTS) + ENOUGH + 3 * MOST_TEXTS + chat.MOST_CALLS
"""The maximum total number of requests in the preflight and the check after a run."""

_TRIES = 5
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Beginnings:
    """The result of a server's preflight for scoring answers as first tokens of replies."""

    talk: Talk
    top: int
    padded: bool
    seen: Seen
    differences: Differences
    notes: tuple[str, ...] = ()


def try_beginnings(talk: Talk, concurrency: int = 1) -> Beginnings:
    """Check how many log-probabilities a chat server returns and if they are reproducible."""
    where = f"{talk.model} at {talk.client.address}"
    asked = _asked(talk, where)
    firsts = {text: asked.first_token(text).first for text in TEXTS}
    there = {text: token for text, token in firsts.items() if token is not None and token.top}
    if not there:
        raise ModelError(
            f"{where} returns no log-probabilities in a chat: use vote shares instead, with "
            "--samples N"
        )
    opens = any((token.text or "").strip() == OPENS for token in there.values())
    if opens or chat.ended(asked.but(seeded=False)).has_reasoning:
        raise ModelError(
            f"{where} reasons before it answers, so the first token of a reply does not belong to "
            "the answer: turn reasoning off with --thinking-tokens 0, or use vote shares, with "
            "--samples N"
        )
    if are_rescaled(list(there.values())):
        raise ModelError(
            f"{where} cannot be used: the probabilities of the most probable first tokens that it "
            "returns always sum to 1, so it truncates and rescales its distribution; let it "
            "return log-probabilities from before sampling, or use vote shares, with --samples N"
        )
    noise = _noise(asked, where, there, concurrency)
    top = returned(list(there.values()))
    differences = compare_pairs(
        lambda texts: asked.first_tokens(texts, concurrency),
        there,
        lambda *_: False,
        noise,
        top or asked.top,
    )
    wrong, notes = problems_and_notes(differences, trims=True)
    if wrong:
        raise ModelError(f"{where} cannot be used: {refusal(wrong, '')}")
    if noise > QUIET:
        notes.insert(0, of_noise(noise))
    if not top:
        raise ModelError(
            f"{where} returns only the log-probability of the token that it sampled: use vote "
            "shares instead, with --samples N"
        )
    notes += plausibility({**there, **differences.drawn}, asked.habits.names - {asked.model})
    asked.habits.settle(noise=noise, top=top)
    warn(where, notes)
    seen = Seen({text: likeliest(token, top) for text, token in there.items()})
    pads = _pads(list(there.values()))
    return Beginnings(asked.but(top=top), top, pads, seen, differences, tuple(notes))


def _noise(asked: Talk, where: str, there: Mapping[str, Token], concurrency: int) -> float:
    """Return the largest log-probability difference (nats) between repeated requests."""
    texts = mixed(list(there)[:ENOUGH])
    asked = asked.but(more=1)  # as when prompts are asked again during the run
    again = zip(texts, asked.first_tokens(texts, concurrency), strict=True)
    apart = [each for text, token in again if token for each in _apart(there[text], token)]
    if apart and agree(apart):
        return max(apart)
    alone = zip(texts, asked.first_tokens(texts, 1), strict=True)
    singly = [each for text, token in alone if token for each in _apart(there[text], token)]
    largest = max(apart, default=float("inf"))
    if singly and agree(singly):
        raise ModelError(mixes_up(where, concurrency, largest))
    raise ModelError(
        f"{where} cannot be used: log-probabilities of the same prompt differ by up to "
        f"{largest:.3g} nats between two requests (rounding explains {LARGEST:g} nats at most); "
        "use vote shares instead, with --samples N"
    )


def _pads(tokens: Sequence[Token]) -> bool:
    """Return whether every word among the listed tokens begins with a space."""
    texts = [one.text or "" for token in tokens for one in token.top]
    words = [text for text in texts if text.lstrip(" ")[:1].isalpha()]
    return bool(words) and all(word.startswith(" ") for word in words)


def _asked(talk: Talk, where: str) -> Talk:
    """Return the chat settings ``talk`` with the largest ``top`` that the server accepts."""
    refusal: ScoringError | None = None
    for top in TOPS:
        asked = talk.but(top=top)
        try:
            asked.first_token(TEXTS[0], attempts=_TRIES)
        except WrongRepliesError as error:
            raise ModelError(
                f"{where} cannot be used: {error}; use vote shares instead, with --samples N"
            ) from error
        except ScoringError as error:
            refusal = error
        else:
            return asked
    raise ModelError(
        f"{where} returns no log-probabilities in a chat ({refusal}): use vote shares instead, "
        "with --samples N"
    ) from refusal


def _apart(first: Token, again: Token) -> list[float]:
    """Return absolute log-probability differences (nats) of tokens that two answers share."""
    pairs = [(one.logprob, find(again.top, one.text, None)) for one in first.top]
    return [
        abs(value - other.logprob)
        for value, other in pairs
        if value is not None and other is not None and other.logprob is not None
    ]


def watch_of(
    differences: Differences, firsts: Mapping[str, Token], talk: Talk, concurrency: int
) -> Watch:
    """Return a monitor (``Watch``) of the first tokens of a chat model's replies."""

    def ask(some: Sequence[Watched]) -> list[Token | None]:
        found = talk.first_tokens([each.text for each in some], concurrency)
        return [None if token is None else likeliest(token, talk.top) for token in found]

    known = {**differences.nexts, **firsts}
    return Watch(
        [Watched("next", text, likeliest(token, talk.top)) for text, token in known.items()],
        ask,
        f"{talk.model} at {talk.client.address}",
        differences.telling,
        talk.habits,
    )


class FirstTokensModel(ScoringServer):
    """A chat model that scores each answer as the first token of a reply."""

    def __init__(self, beginnings: Beginnings, concurrency: int, kept: Path | None = None) -> None:
        self._talk, self._top = beginnings.talk, beginnings.top
        self._space = " " if beginnings.padded else ""
        self._identity = {
            "address": self._talk.client.address,
            "served_model": self._talk.model,
            "first_tokens": self._top,
            "first_space": self._space,
            "thinking": self._talk.thinking,
            "scorer": SCORER,
        }
        self.name = f"{self._talk.model} at {self._talk.client.address}"
        self.fingerprint, self._canaries = fingerprint_of(self._identity, beginnings.seen, kept)
        self._notes = beginnings.notes
        watch = watch_of(
            beginnings.differences,
            beginnings.seen.next_tokens,
            self._talk,
            concurrency,
        )
        super().__init__(self._talk.client, watch, concurrency)

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind, fingerprint, settings and elicitation method."""
        return {
            "name": self.name,
            "kind": "server",
            "fingerprint": self.fingerprint,
            "identity": self._identity,
            "elicitation": FIRST + IN_CHAT,
            "preflight": (
                f"{self._talk.passed}: log-probabilities of first tokens of replies "
                f"({most_probable(self._top)})"
            ),
            "refused": list(self._notes),
            "concurrency": self._concurrency,
            "canaries": self._canaries,
        }

    def cost(self, requests: Sequence[Prompt]) -> list[int]:
        """See ``LanguageModel.cost``; four bytes of a prompt count as about one token."""
        return [2 + len(prompt.text.encode()) // _BYTES_PER_TOKEN for prompt in requests]

    def _score(self, prompt: Prompt, more: int = 0) -> tuple[Scores, float]:
        """See ``ScoringServer``."""
        try:
            first = self._talk.but(more=more).first_token(prompt.text).first
        except ScoringError as error:
            raise type(error)(f"{prompt.shown} could not be scored: {error}") from error
        place = first and likeliest(first, self._top)
        top = place.top if place else ()
        found = [find(top, self._space + answer, None) for answer in prompt.answers]
        values = [None if one is None else one.logprob for one in found]
        why = OUTSIDE_FIRST if top else UNSAID_FIRST
        scores = Scores(
            tuple(
                AnswerScore(answer, None, 0, missing=why)
                if value is None
                else AnswerScore(answer, value, 1)
                for answer, value in zip(prompt.answers, values, strict=True)
            )
        )
        return scores, least_listed(place) if place else -math.inf
