"""Checks of the preflight of named tokens: their values are those of next tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain

from tacit.errors import ScoringError
from tacit.models.openai.checks import Finding
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.named import NamedTokens, differences
from tacit.models.openai.named_routes import ROUTES, Ids, Values
from tacit.models.openai.roads import NAMED
from tacit.models.openai.server import COMPARED, TEXTS, TRIES
from tacit.models.openai.tokenizer import MOST_BEFORE, TokenizerFile
from tacit.models.openai.tokens import LARGEST, Token, agree, largest, least_listed

OUTSIDE = 40
"""The number of tokens that are named although they are improbable."""


def names_tokens(server: CompletionsServer) -> Iterator[Finding]:
    """Values after sampling, of other tokens, or of a prompt that was cut: vLLM and SGLang."""
    tokenizer = server.tokenizer
    if tokenizer is None or not server.top or not server.may(NAMED):
        return
    for route in ROUTES:
        named = NamedTokens(server, tokenizer, route)
        try:
            if not _answers(named):
                continue
            yield from _tokenized(named)
            problem = _problem(named)
        except ScoringError:
            continue
        if problem is None:
            server.named, server.before = named, len(named.start)
            return
        yield problem


def _answers(named: NamedTokens) -> bool:
    """Return whether a server returns as many tokens as the route may name, whatever they are."""
    ids = spread(named.tokenizer, named.route.most)
    with named.server.client.limited(TRIES):
        return bool(named.ask([[named.position(TEXTS[0], ids)]]))


def spread(tokenizer: TokenizerFile, most: int) -> Ids:
    """Return different tokens of a vocabulary, first two that are written alike, if any are."""
    alike: dict[str, list[int]] = {}
    for number in tokenizer.numbers:
        alike.setdefault(tokenizer.spelled(number), []).append(number)
    twins = next((some[:2] for some in alike.values() if len(some) > 1), [])
    drawn = sorted(tokenizer.numbers, key=lambda one: hashlib.sha256(b"%d" % one).digest())
    return tuple(dict.fromkeys([*twins, *drawn]))[:most]


def _tokenized(named: NamedTokens) -> Iterator[Finding]:
    """Learn the special tokens before texts; the user may have given another model's tokenizer."""
    tokenizer = named.tokenizer
    try:
        theirs = named.route.tokenized(TEXTS, named.send)
    except ScoringError:
        # The values, which are compared next, tell whether these are right.
        named.start = tokenizer.start if any(named.server.habits.extra()) else ()
        return
    own = [tokenizer.cut(text).tokens for text in TEXTS]
    starts = {ids[: max(0, len(ids) - len(cut))] for ids, cut in zip(theirs, own, strict=True)}
    start = min(starts, default=())
    if len(starts) > 1 or theirs != [(*start, *cut) for cut in own] or len(start) > MOST_BEFORE:
        yield Finding(
            f"it tokenizes texts differently than {tokenizer.path}: use the tokenizer of the "
            "served model",
            fatal=True,
        )
    named.start = start


def _problem(named: NamedTokens) -> Finding | None:
    """Compare named tokens with next tokens, at two temperatures; None if they agree."""
    outside = spread(named.tokenizer, OUTSIDE)
    texts = list(named.server.nexts)
    listed = {text: _listed(named, text) for text in texts}
    for text, values in listed.items():
        ids = dict.fromkeys([*list(values)[:COMPARED], *outside])
        named.known[text] = named.position(text, tuple(ids))
    half = len(texts) // 2
    for some, temperature in ((texts[:half], 1.0), (texts[half:], 2.0)):
        positions = [named.known[text] for text in some]
        answers = named.ask(named.route.requests(positions), temperature)
        named.values |= {text: answers[named.known[text].before] for text in some}
    apart = {text: _apart(listed[text], named.values[text]) for text in texts}
    if not all(apart.values()):
        return _unused("the tokens that it lists cannot be told apart")
    if not agree(list(chain.from_iterable(apart.values()))):
        worst = max(texts, key=lambda text: largest(apart[text]))
        return _unused(
            f"after {worst[-40:]!r}, the log-probabilities of named tokens differ by up to "
            f"{largest(apart[worst]):.3g} nats from those of next tokens"
        )
    return next(filter(None, (_outside(named, text, listed[text]) for text in texts)), None)


def _apart(listed: Values, values: Values) -> list[float]:
    return differences({one: value for one, value in listed.items() if one in values}, values)


def _outside(named: NamedTokens, text: str, listed: Values) -> Finding | None:
    """Check the values of tokens that a server does not list by itself."""
    token, values = named.server.nexts[text], named.values[text]
    unknown = [one.logprob for one in token.top if _number(named, one) is None and one.logprob]
    most = max(least_listed(token), *unknown) if unknown else least_listed(token)
    others = {number: value for number, value in values.items() if number not in listed}
    known = {number: value for number, value in others.items() if value is not None}
    if 2 * len(known) < len(others):
        return _unused("it returns no log-probabilities of improbable tokens that are named")
    above = [value for number, value in known.items() if _is_unlisted(named, token, number)]
    if 2 * len(set(known.values())) < len(known) or max(above, default=most) > most + LARGEST:
        return _unused(
            f"after {text[-40:]!r}, the log-probabilities of named tokens do not fit those of the "
            "most probable tokens"
        )
    return None


def _is_unlisted(named: NamedTokens, token: Token, number: int) -> bool:
    """Return whether a server surely would have listed a token that is probable enough."""
    by_id = any(one.number is not None for one in token.top)
    return by_id or named.tokenizer.key(number, spaced=named.server.spaced) is not None


def _unused(problem: str) -> Finding:
    return Finding(f"{problem}, so named tokens are not used")


def _listed(named: NamedTokens, text: str) -> dict[int, float]:
    """Return the log-probabilities that a server listed after a text, by the ids of the tokens."""
    pairs = [(_number(named, one), one.logprob) for one in named.server.nexts[text].top]
    return {number: value for number, value in pairs if number is not None and value is not None}


def _number(named: NamedTokens, token: Token) -> int | None:
    return named.tokenizer.number_of(token, spaced=named.server.spaced)
