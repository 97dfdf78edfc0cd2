"""Checks of a chat server: whether it reasons, and whether its replies are random samples."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.errors import ScoringError
from tacit.models.openai.chat import (
    AGAIN,
    DRAWN_TEXTS,
    OPEN_ENDED,
    OPENS,
    SINGLY,
    TELL,
    ChatServer,
    VotesServer,
)
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
from tacit.models.openai.server import TEXTS
from tacit.models.openai.tokens import TOPS, agree
from tacit.requests.answer_parsing import ANSWER_TOKENS

DRAWN = 4
"""Replies to the open-ended prompt, which should differ."""

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
