"""Ask a server's chat model by sampling several replies to each prompt."""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tacit.errors import ScoringError, UnreliableError
from tacit.models.base import IN_CHAT
from tacit.models.openai import checks
from tacit.models.openai.chat import MOST_FIRST_CALLS
from tacit.models.openai.checks import Finding
from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import DISCARDED
from tacit.models.openai.options import Thinking
from tacit.models.openai.roads import VOTES as ROAD
from tacit.models.openai.served import ServedModel
from tacit.models.openai.server import TEXTS
from tacit.models.openai.streaming import at_once
from tacit.models.openai.tokens import TOPS, agree
from tacit.models.openai.votes_server import (
    AGAIN,
    DRAWN_TEXTS,
    OPEN_ENDED,
    REFUSE,
    SINGLY,
    TELL,
    VotesServer,
)
from tacit.requests import Samples, SamplingPrompt
from tacit.requests.answer_parsing import ANSWER_TOKENS

log = logging.getLogger(__name__)

TOGETHER = 16
"""The maximum number of replies per request."""

DRAWN = 4
"""Replies to the open-ended prompt, which should differ."""

_UNDETECTED = "a change of its model cannot be detected"

MOST_CALLS = 12 + MOST_FIRST_CALLS + 2 * DRAWN + 3 + 2 * DRAWN_TEXTS * SINGLY * (1 + AGAIN)
"""As ``MOST_FIRST_CALLS``, of sampled replies."""

_SCORER = "server-votes-2"


def accepts_settings(server: VotesServer) -> Iterator[Finding]:
    """llama-cpp-python excludes unlikely words by default; OpenAI's models refuse settings."""
    try:
        server.drawn.append(server.accept_replies())
    except ScoringError as error:
        hint = "; it may not support turning reasoning off" if server.thinking == 0 else ""
        yield Finding(f"it does not answer chat requests{hint} ({error})", fatal=True)
    if not server.seeded:
        yield Finding("it accepts no seed, so its replies cannot be reproduced")
    if not server.uncut:
        yield Finding("it accepts neither top_k nor min_p, so it may never sample unlikely words")


def reasons_as_allowed(server: VotesServer) -> Iterator[Finding]:
    """Reasoning takes tokens that the user did not allow."""
    server.drawn += [server.brief(OPEN_ENDED, seed) for seed in range(1, DRAWN)]
    ended = server.unlimited()
    server.begun = ended.begun
    server.reasons = any(one.has_reasoning or one.silent for one in (ended, *server.drawn))
    if server.reasons and server.thinking is None:
        yield Finding(
            "it reasons before it answers: limit the reasoning with --thinking-tokens N, allow any "
            "length with --thinking-tokens all, or turn it off with --thinking-tokens 0",
            fatal=True,
        )
    if server.reasons and server.thinking == 0:
        yield Finding(
            "it reasons although --thinking-tokens is 0: allow it with --thinking-tokens N or all",
            fatal=True,
        )
    if not server.reasons:
        return
    # Replies that are cut after a few words of reasoning do not differ.
    server.drawn = [server.replies(OPEN_ENDED, seed, room=server.room)[0] for seed in range(DRAWN)]
    if all(one.silent for one in server.drawn):
        yield Finding(
            "it returns no answer before the server's own limit on the reply ends the reasoning: "
            "raise that limit, or set --thinking-tokens N"
            if server.thinking == "all"
            else f"it returns no answer within {server.thinking} reasoning tokens: allow more with "
            "--thinking-tokens N or all",
            fatal=True,
        )


def draws_at_random(server: VotesServer) -> Iterator[Finding]:
    """LiteLLM #894: a cache answers whatever the seed is; or the temperature is set to 0."""
    if len({one.whole for one in server.drawn}) == 1:
        yield Finding(
            "it returns the same reply every time, at temperature 1 and with different seeds, so "
            "its replies are not random samples: turn off its cache, or let it use the requested "
            "temperature",
            fatal=True,
        )


def returns_several(server: VotesServer) -> Iterator[Finding]:
    """Requests for several replies get copies (vLLM #10852) or one (llama-cpp-python #1906)."""
    try:
        some = server.replies(OPEN_ENDED, DRAWN, n=DRAWN, room=ANSWER_TOKENS)
    except RefusalError:
        some = []
    server.several = len(some) == DRAWN and len({one.whole for one in some}) > 1
    if len(some) != DRAWN:
        yield Finding("it returns one reply per request, however many are requested")
    elif not server.several:
        yield Finding("it returns copies of one reply when a request asks for several")


def samples_its_distribution(server: VotesServer) -> Iterator[Finding]:
    """Some APIs fix the temperature; caches and swapped requests show in first tokens."""
    if server.reasons or not _lists_tokens(server):
        yield from repeats_greedy_replies(server)
        return
    yield from checks.keeps_requests_apart(server)
    if not all(map(agree, filter(None, server.spread))):
        server.nexts.clear()
        yield from repeats_greedy_replies(server)
        return
    yield from checks.repeats_its_answers(server)
    yield from checks.reads_whole_prompts(server)
    server.temperature = server.estimate_temperature()
    if server.temperature and server.temperature.is_off(TELL):
        yield Finding(server.temperature.note)


def _lists_tokens(server: VotesServer) -> bool:
    """Return whether the server lists the likeliest first tokens of a reply."""
    try:
        server.accept(TOPS[1:], attempts=1)
        server.learn(TEXTS, concurrency=1)
    except ScoringError:
        server.nexts.clear()
    server.settle_top()
    return server.top > 1


def repeats_greedy_replies(server: VotesServer) -> Iterator[Finding]:
    """Without log-probabilities, replies at temperature 0 tell one model from another."""
    replies = server.greedy(TEXTS, 1)
    if len(replies) * 2 < len(TEXTS):
        yield Finding(f"it returns no replies at temperature 0, so {_UNDETECTED}")
        return
    server.greedy_replies = replies
    if server.same_greedy_replies(server.concurrency):
        return
    if server.same_greedy_replies(1):
        yield Finding(
            f"it returns other replies at temperature 0 with {server.concurrency} concurrent "
            "requests than with one at a time: it mixes up requests; use --concurrency 1",
            fatal=True,
        )
    server.greedy_replies = {}
    yield Finding(f"its replies at temperature 0 differ between repetitions, so {_UNDETECTED}")


CHECKS = (
    accepts_settings,
    checks.names_its_model,
    reasons_as_allowed,
    draws_at_random,
    returns_several,
    samples_its_distribution,
)
"""The checks before replies are sampled."""


class SampledModel(ServedModel[VotesServer]):
    checks = CHECKS
    supports = frozenset({SamplingPrompt})

    def __init__(
        self, server: VotesServer, store: Path | None = None, samples: int = 1, seed: int = 0
    ) -> None:
        self.samples, self._seed = samples, seed
        super().__init__(server, store)

    def _settings(self) -> dict[str, Any]:
        server = self._server
        return {
            "temperature": 1.0,
            "uncut": dict(server.uncut),
            "answer_tokens": ANSWER_TOKENS,
            "thinking": server.thinking,
            "begun": server.begun,
            "seed": self._seed,
            "scorer": _SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        server = self._server
        return (
            elicitation_method(self.samples, server.thinking),
            "its replies are random samples",
            {
                "roads": [ROAD.name],
                "samples": self.samples,
                "several_at_once": server.several,
                "temperature_seen": server.temperature and server.temperature.to_json(),
            },
        )

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        """See ``LanguageModel.cost``; the cost of a request is its number of replies."""
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        known = {
            (piece.text, number): sample
            for piece, samples in itertools.chain.from_iterable(self.stream(requests, math.inf))
            for number, sample in zip(piece.numbers, samples.replies, strict=True)
        }
        return [Samples(tuple(known[one.text, n] for n in one.numbers)) for one in requests]

    def recheck(self, answered: Sequence[Any], *, last: bool) -> None:  # noqa: ARG002 - see Rechecks
        """See ``Rechecks.recheck``; replies are not compared, because all samples differ."""
        self._watch.recheck_now(last=True)
        _check_replies(self._server)

    def _batches(self, requests: Sequence[SamplingPrompt]) -> Iterator[Sequence[SamplingPrompt]]:
        step = TOGETHER if self._server.several else 1
        for one in requests:
            for at in range(0, len(one.numbers), step):
                yield [SamplingPrompt(one.text, one.numbers[at : at + step])]

    def _answers(self, batch: Sequence[SamplingPrompt]) -> list[Samples]:
        return [self._sampled(request) for request in batch]

    def _sampled(self, request: SamplingPrompt) -> Samples:
        """Sample replies; replies missing from the server's response are requested one by one."""
        server, text, numbers = self._server, request.text, request.numbers
        ask = partial(server.replies, text, room=server.room)
        try:
            replies = ask(self._seed_of(text, numbers[0]), n=len(numbers))[: len(numbers)]
            for number in numbers[len(replies) :]:
                replies += ask(self._seed_of(text, number))[:1]
        except RefusalError as error:
            raise ScoringError(f"no reply to {text[:80]!r}: {error}") from error
        if len(replies) < len(numbers):
            raise ScoringError(f"{self.name} returned no reply to {text[:80]!r}")
        meant = server.thinking not in {None, 0}
        return Samples(tuple(one.sample(begun=server.begun, meant=meant) for one in replies))

    def _seed_of(self, text: str, number: int) -> int:
        """Return a 31-bit seed, computed from the base seed, a text and a reply's number."""
        content = f"{self._seed} {number} {text}".encode()
        return int.from_bytes(hashlib.sha256(content).digest()[:4]) >> 1


def elicitation_method(samples: int, thinking: Thinking = None) -> str:
    votes = f"votes of {samples} samples{IN_CHAT}"
    if not thinking:
        return votes
    most = "" if thinking == "all" else f" of at most {thinking} tokens"
    return f"{votes}, after thoughts{most}"


def _check_replies(server: VotesServer) -> None:
    """Check that sampled replies vary as in the preflight, and that greedy ones are the same."""
    if server.greedy_replies and not server.same_greedy_replies(server.concurrency):
        raise UnreliableError(
            f"{server.name} no longer returns the same replies at temperature 0 as in the "
            f"preflight: its model was replaced, or it no longer reads prompts whole. "
            f"{DISCARDED}"
        )
    if server.temperature is None or server.temperature.is_off(TELL):
        _check_draws(server)
        return
    now = server.estimate_temperature()
    if now is None or not now.is_off(TELL):
        return
    log.warning("%s: in a later check, %s", server.name, now.note)
    if now.is_off(REFUSE):
        raise UnreliableError(
            f"{server.name} no longer samples its replies as in the preflight: {now.note}. "
            f"{DISCARDED}"
        )


def _check_draws(server: VotesServer) -> None:
    seed = next(server.seeds)
    drawn = at_once(
        lambda at: server.replies(OPEN_ENDED, seed + at, room=server.room)[0].whole,
        range(3),
        server.concurrency,
    )
    if len(set(drawn)) == 1:
        raise UnreliableError(
            f"{server.name} now returns the same reply every time, so its replies are not "
            f"random samples. {DISCARDED}"
        )
