"""Checks of a completions server's echo: the log-probabilities of a prompt's own tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tacit.english import several
from tacit.errors import ScoringError
from tacit.models.openai.checks import LONG, Finding
from tacit.models.openai.client import RefusalError
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.roads import NEXT_TOKENS
from tacit.models.openai.tokenizer import MOST_BEFORE, align, cut_by_texts
from tacit.models.openai.tokens import TYPICAL, Token, agree, identifies_token

_SHORT = 10.0
"""Default timeout in seconds of the first echo request, which asks for zero generated tokens.

Some servers that are asked for zero tokens generate tokens until their memory is full.
"""

_TRIES = 2
_ENOUGH = 8
"""The number of texts on which the echo is compared with the next tokens."""

_OWN = 2
"""The number of texts whose echo is also compared with the echo of a longer text."""

_CANDIDATES = 3


def echoes_correctly(server: CompletionsServer) -> Iterator[Finding]:
    """llama-cpp-python shifts its echo; llama.cpp #27174, vLLM #5334 and #42245 return others'."""
    if server.named:
        return
    problems: list[Finding] = []
    counted = server.before
    for generated in (0, 1):
        server.generated, server.before = generated, None
        try:
            problem = _problem(server)
        except ScoringError as error:
            problem = Finding(f"it returns no echo: {error}")
        if problem is None:
            return
        problems += [problem] * (problem not in problems)
        if server.echoes:
            break  # generating a token would not correct the log-probabilities
    spells = bool(server.echoes)
    server.before = server.before if spells else counted
    server.echoes.clear()
    yield from problems
    if server.tokenizer is None and not spells:
        yield Finding(
            "to know the tokens of a prompt, pass its tokenizer with --tokenizer PATH",
            fatal=True,
        )
    if not server.top:
        yield Finding(
            "it returns no log-probabilities of the most probable next tokens", fatal=True
        )


def _problem(server: CompletionsServer) -> Finding | None:
    """Return what is wrong with a request for the prompt's tokens; None if nothing is."""
    short = math.inf if server.generated else server.client.limit or _SHORT
    first = next(iter(server.nexts))
    with server.client.limited(_TRIES, short):
        tokens = server.echo(first)
    echo = align(tokens, first, server.tokenizer)
    if echo is None:
        return _unaligned(server, tokens, first)
    if not server.generated and len(tokens) > echo.end:
        return Finding("it generates tokens although it is asked for none")
    server.before = echo.before
    server.echoes[first] = echo
    return _compared(server)


def _unaligned(server: CompletionsServer, tokens: Sequence[Token], text: str) -> Finding:
    theirs = cut_by_texts(tokens, text)
    if server.tokenizer is not None and theirs is not None:
        listed = ", ".join(map(repr, theirs[1].tokens))
        return Finding(
            f"it tokenizes {text!r} as {len(theirs[1].tokens)} tokens ({listed}), but "
            f"{server.tokenizer.path} gives other tokens: use the tokenizer of the served model",
            fatal=True,
        )
    if len(tokens) <= MOST_BEFORE + 1:
        return Finding("it returns no tokens of the prompt")
    return Finding("the tokens of its echo differ from the prompt's")


@dataclass(frozen=True)
class _Pair:
    """A token's log-probabilities in nats, as a generated and as an echoed token."""

    text: str
    more: str
    following: float
    echoed: float
    drift: Sequence[float]

    @property
    def apart(self) -> float:
        return abs(self.following - self.echoed)


def _compared(server: CompletionsServer) -> Finding | None:
    """Compare echoes with next tokens, and with the echoes of longer texts."""
    first, *others = server.nexts
    if LONG in server.nexts:
        echo = server.aligned(LONG)
        if echo is None:
            return Finding(
                "it echoes short texts correctly, but returns other tokens for a text of "
                f"{len(LONG.split())} words, so it does not read prompts whole",
                fatal=True,
            )
        server.echoes[LONG] = echo
    pairs: list[_Pair] = []
    for text in dict.fromkeys([*server.echoes, first, *others]):
        if len(pairs) == _ENOUGH:
            break
        if len(server.echoes) < _OWN and (own := server.aligned(text)):
            server.echoes[text] = own
        pairs += _pair(server, text)
    if len(pairs) < _ENOUGH:
        return Finding(
            f"its echo could be compared with its next tokens on only "
            f"{several(len(pairs), 'text')}; {_ENOUGH} are required"
        )
    if not agree([pair.apart for pair in pairs]):
        return Finding(_worst_example(pairs, server))
    drift = [each for pair in pairs for each in pair.drift]
    if drift and not agree(drift):
        return Finding(
            "its echo is incorrect: the same token has another log-probability in the echo of a "
            "longer text"
        )
    return None


def _pair(server: CompletionsServer, text: str) -> list[_Pair]:
    """Echo a text with one of its likeliest next tokens; empty if these tokens merge."""
    for more, following in _candidates(server, server.nexts[text])[:_CANDIDATES]:
        try:
            whole = server.aligned(text + more)
        except RefusalError:
            continue  # the text is too long
        if whole is None or whole.logprobs[-1] is None:
            continue
        echoed, own = whole.logprobs[-1], server.echoes.get(text)
        if own is None and server.tokenizer is None and not abs(following - echoed) <= TYPICAL:
            own = server.aligned(text)
        tokens = own.cut.tokens if own else whole.cut.tokens[:-1]
        if server.tokenizer is not None:
            tokens = server.tokenizer.cut(text).tokens
        if whole.cut.tokens[:-1] == tokens:
            drift = own.differences(whole) if own else ()
            return [_Pair(text, more, following, echoed, drift)]
    return []


def _candidates(server: CompletionsServer, token: Token) -> list[tuple[str, float]]:
    """Return texts and log-probabilities (nats) of possible next tokens, likeliest first."""
    listed = {one.text or one.number: one for one in (token, *token.top)}.values()
    behind = [(_written(server, one), one.logprob) for one in listed]
    texts = [(more, logprob) for more, logprob in behind if more and logprob is not None]
    return sorted(texts, key=lambda pair: -pair[1])


def _written(server: CompletionsServer, token: Token) -> str | None:
    """Return the characters that a token appends to the prompt; None if unknown."""
    if server.tokenizer is None:
        return token.text if identifies_token(token.text) else None
    number = server.tokenizer.number_of(token, spaced=server.spaced)
    spelled = "" if number is None else server.tokenizer.spelled(number)
    return spelled if identifies_token(spelled) else None


def _worst_example(pairs: Sequence[_Pair], server: CompletionsServer) -> str:
    worst = max(pairs, key=lambda pair: math.inf if math.isnan(pair.apart) else pair.apart)
    wrong = sum(not pair.apart <= TYPICAL for pair in pairs)
    more = server.client.hide(worst.more)
    instead = (
        ". Tacit uses its next-token log-probabilities, which may be the incorrect ones"
        if server.may(NEXT_TOKENS)
        else ""
    )
    return (
        f"its echo is incorrect: after {worst.text!r}, the token {more!r} has "
        f"{worst.following:.3f} nats as the next token and {worst.echoed:.3f} nats in the echo; "
        f"{wrong} of {len(pairs)} such tokens differ by more than {TYPICAL:g} nats{instead}"
    )


def adds_the_usual_tokens(server: CompletionsServer) -> Iterator[Finding]:
    """llama.cpp #7107, llama-cpp-python #1501: a BOS is missing, or there are two."""
    tokenizer, before = server.tokenizer, server.before
    if tokenizer is not None and before is not None and before != tokenizer.before:
        yield Finding(
            f"it puts {several(before, 'special token')} before a text, but {tokenizer.path} puts "
            f"{tokenizer.before}, as a model in this process does"
        )
    counted = {
        number - len(echo.cut.tokens)
        for text, echo in server.echoes.items()
        for number in server.habits.counted(text)
    }
    if before is not None and not counted <= {before}:
        shown = ", ".join(f"{number:+d}" for number in sorted(counted))
        yield Finding(
            f"its count of a prompt's tokens ({shown} to the text's) does not fit its echo, which "
            f"begins with {several(before, 'special token')}"
        )
