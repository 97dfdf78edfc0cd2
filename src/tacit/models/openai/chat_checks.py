"""Checks of a chat server: whether it reasons, and whether its replies are random samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.chat import OPEN_ENDED, OPENS, ChatReply, ChatServer
from tacit.models.openai.checks import (
    PAIRS,
    Finding,
    keeps_requests_apart,
    names_its_model,
    reads_whole_prompts,
    repeats_its_answers,
    returns_logprobs,
)
from tacit.models.openai.client import RefusalError
from tacit.models.openai.server import TEXTS, first_accepted
from tacit.models.openai.temperature import Temperature, counted, estimate, sensitivity, words_of
from tacit.models.openai.tokens import TOPS, Token, agree
from tacit.requests.answer_parsing import ANSWER_TOKENS

DRAWN = 4
"""Replies to the open-ended prompt, which should differ."""

DRAWN_TEXTS, AT_ONCE, SINGLY = 3, 24, 8
"""First tokens drawn per text: 24 if a request can return several replies, otherwise 8."""

AGAIN, LOOK_AGAIN, TELL, REFUSE = 2, 0.01, 0.1, 0.001
"""After a p-value below ``LOOK_AGAIN``, twice as many are drawn, and ``TELL`` warns of these."""

_UNDETECTED = "a change of its model cannot be detected"

MOST_FIRST_CALLS = len(TOPS) + 3 * len(TEXTS) + 4 * len(PAIRS) + 2
"""The maximum total number of requests of the preflight and the check after a run."""

MOST_CALLS = 12 + MOST_FIRST_CALLS + 2 * DRAWN + 3 + 2 * DRAWN_TEXTS * SINGLY * (1 + AGAIN)
"""As ``MOST_FIRST_CALLS``, for sampled replies."""


def does_not_reason(server: ChatServer) -> Iterator[Finding]:
    """The first token of a reply is then not the answer's."""
    opens = any((token.text or "").strip() == OPENS for token in server.nexts.values())
    if opens or server.unlimited().has_reasoning:
        yield Finding(
            "it reasons before it answers, so the first token of a reply does not belong to the "
            "answer: turn reasoning off with --thinking-tokens 0",
            fatal=True,
        )


def lists_first_tokens(server: ChatServer) -> Iterator[Finding]:
    """Some servers return the log-probability of the sampled token alone."""
    if not server.top:
        yield Finding("it lists no most probable tokens in a chat", fatal=True)


@dataclass
class VotesServer(ChatServer):
    """A chat server whose replies are sampled, and how it samples them."""

    several: bool = False
    """Whether one request can return several different replies."""
    begun: bool = False
    """Whether the template begins the reasoning, so that replies have a closing tag alone."""
    reasons: bool = False
    drawn: list[ChatReply] = field(default_factory=list)
    greedy_replies: dict[str, str] = field(default_factory=dict)
    """The replies at temperature 0, by text, if no log-probabilities tell models apart."""
    temperature: Temperature | None = None
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(1000, 1000))

    def same_greedy_replies(self, concurrency: int) -> bool:
        """Return whether the server still gives three in four of its replies at temperature 0."""
        now = self.greedy(list(self.greedy_replies), concurrency)
        return same_replies(self.greedy_replies, now)

    def greedy(self, texts: Sequence[str], concurrency: int) -> dict[str, str]:
        """Return the replies at temperature 0, without those that the server refuses."""

        def reply(text: str) -> str:
            try:
                return self.likeliest(text)
            except RefusalError:
                return ""

        replies = zip(texts, self.client.at_once(reply, texts, concurrency), strict=True)
        return {text: reply for text, reply in replies if reply.strip()}

    def estimate_temperature(self) -> Temperature | None:
        """Sample first tokens; sample again if a temperature of 1 is improbable."""
        try:
            first = self._drawn_tokens(1)
            if first is None or first.chance >= LOOK_AGAIN:
                return first
            return self._drawn_tokens(AGAIN)
        except RefusalError:
            return None  # the server refuses one-token replies, or so many replies at once

    def _drawn_tokens(self, times: int) -> Temperature | None:
        seed = next(self.seeds)
        size, requests = (AT_ONCE, times) if self.several else (1, SINGLY * times)
        words = {text: words_of(token) for text, token in self.nexts.items()}
        texts = [text for text in words if len(words[text]) > 1]
        texts = sorted(texts, key=lambda text: -sensitivity(words[text]))[:DRAWN_TEXTS]
        pieces = [(text, seed + at) for text in texts for at in range(requests)]
        replies = self.client.at_once(
            lambda piece: self.replies(*piece, n=size, room=1), pieces, self.concurrency
        )
        parsed: dict[str, list[str]] = {text: [] for text in texts}
        for (text, _), some in zip(pieces, replies, strict=True):
            parsed[text] += [one.text for one in some]
        drawn = [(list(words[text].values()), counted(words[text], parsed[text])) for text in texts]
        return estimate(drawn, second=times > 1)


def same_replies(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether at least half of the texts were answered again, and 75 % of these alike."""
    both = [text for text in then if text in now]
    same = sum(then[text] == now[text] for text in both)
    return bool(both) and 2 * len(both) >= len(then) and 4 * same >= 3 * len(both)


def accepts_settings(server: VotesServer) -> Iterator[Finding]:
    """llama-cpp-python excludes unlikely words by default; OpenAI's models refuse settings."""
    server.drawn.append(server.accept_replies())
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
    yield from keeps_requests_apart(server)
    if not all(map(agree, filter(None, server.spread))):
        server.nexts.clear()
        yield from repeats_greedy_replies(server)
        return
    yield from repeats_its_answers(server)
    yield from reads_whole_prompts(server)
    server.temperature = server.estimate_temperature()
    if server.temperature and server.temperature.is_off(TELL):
        yield Finding(server.temperature.note)


def _lists_tokens(server: VotesServer) -> bool:
    """Return whether the server lists the likeliest first tokens of a reply."""

    def ask(top: int) -> Token | None:
        server.requested = top
        return server.next_token(TEXTS[0], attempts=1)

    try:
        first_accepted(TOPS[1:], ask, server.name)
        server.learn(TEXTS, concurrency=1)
    except (ModelError, ScoringError):
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


FIRST_TOKENS = (
    returns_logprobs,
    names_its_model,
    does_not_reason,
    keeps_requests_apart,
    repeats_its_answers,
    reads_whole_prompts,
    lists_first_tokens,
)
"""The checks before answers are scored as first tokens of replies."""

VOTES = (
    accepts_settings,
    names_its_model,
    reasons_as_allowed,
    draws_at_random,
    returns_several,
    samples_its_distribution,
)
"""The checks before replies are sampled."""
