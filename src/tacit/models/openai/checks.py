"""Checks of the preflight: each is a generator of findings about a server, and stands alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import RefusalError
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.server import TEXTS, Server
from tacit.models.openai.tokenizer import MOST_BEFORE
from tacit.models.openai.tokens import LARGEST, agree, are_logits, are_rescaled, largest

log = logging.getLogger(__name__)

QUIET = 1e-3
"""The largest change of a log-probability, in nats, that causes no warning."""

_SAME = 1e-6


@dataclass(frozen=True)
class Finding:
    """Something that a check found wrong or missing, in a sentence about the server ("it …")."""

    text: str
    fatal: bool = False


class PreflightError(ModelError):
    """A server answers, and cannot be used in the way that was tested."""


Check = Callable[[Any], Iterator[Finding]]
"""A function of a ``Server``, or of a class derived from it."""


def preflight(server: Server, checks: Sequence[Check], hint: str = "") -> tuple[str, ...]:
    """Run the checks in order; return what is wrong or missing but can be worked around."""
    notes: list[str] = []
    for finding in chain.from_iterable(check(server) for check in checks):
        if finding.fatal:
            reasons = "; ".join([*notes, finding.text])
            raise PreflightError(f"{server.name} cannot be used: {reasons}{hint}")
        notes.append(finding.text)
    for note in notes:
        log.warning("%s: %s", server.name, note)
    server.habits.settle()
    return tuple(notes)


def returns_logprobs(server: Server) -> Iterator[Finding]:
    """llama.cpp #11346 returns null; vLLM #9453 returns values after top_p or top_k."""
    try:
        server.accept()
    except ScoringError as error:
        yield Finding(f"it returns no log-probabilities ({error})", fatal=True)
    server.learn(TEXTS, concurrency=1)
    if not server.nexts:
        yield Finding("it returns no log-probabilities", fatal=True)
    elif are_rescaled(list(server.nexts.values())):
        yield Finding(
            "the probabilities of the most probable tokens that it returns always sum to 1, so it "
            "truncates and rescales its distribution: let it return log-probabilities from before "
            "sampling (no top_k, top_p or min_p)",
            fatal=True,
        )
    elif are_logits(list(server.nexts.values())):
        yield Finding(
            "the most probable tokens that it returns are less probable than tokens are on "
            "average, so its values are no log-probabilities: turn on log-probabilities instead of "
            "logits",
            fatal=True,
        )
    server.settle_top()


def names_its_model(server: Server) -> Iterator[Finding]:
    """LiteLLM #25503: a fallback model answers."""
    if names := server.habits.models - {server.model}:
        shown = ", ".join(map(repr, sorted(names)))
        yield Finding(f"its replies name another model than the requested one: {shown}")


def keeps_requests_apart(server: Server) -> Iterator[Finding]:
    """Answers of other requests: vLLM #9910, #13408, llama.cpp #10072, mlx-lm #965."""
    together, alone = server.spread
    if alone and agree(alone):
        yield Finding(
            f"with {server.concurrency} concurrent requests, log-probabilities of the same prompts "
            f"differ by up to {largest(together):.3g} nats, but not with one request at a time. "
            "It mixes up requests: use --concurrency 1",
            fatal=True,
        )


def repeats_its_answers(server: Server) -> Iterator[Finding]:
    """Rounding depends on what is computed together: vLLM #7779 and #11778."""
    together, _ = server.spread
    server.noise = largest(together)
    if together and not agree(together):
        yield Finding(
            f"log-probabilities of the same prompt differ by up to {server.noise:.3g} nats between "
            f"two requests (rounding explains {LARGEST:g} nats at most)",
            fatal=True,
        )
    if server.noise > QUIET:
        yield Finding(
            f"log-probabilities of the same text differ by up to {server.noise:.2g} nats between "
            "requests"
        )


_LONG = (
    "{first} old harbour lay quiet in the early light, and only a few gulls walked along the wall. "
    "Two men in blue coats mended their nets beside a green boat, and a dog slept in the shade of "
    "a cart. Behind them a narrow street climbed to the square, where a {middle} had opened her "
    "door and the smell of bread hung over the stones. A bell rang seven times. Nobody hurried, "
    "for the day would be long and warm, and the boats would not be back before the evening tide. "
    "What the first man told the second about the {last} was that it is"
)
_WORDS = {"first": "The", "middle": "baker", "last": "sea"}
LONG = _LONG.format(**_WORDS)
_ENDS = {
    "white space at the end of a text": (TEXTS[0], f"{TEXTS[0]} "),
    "white space at the beginning of a text": (TEXTS[0], f" {TEXTS[0]}"),
}
PAIRS = _ENDS | {
    "two spaces instead of one": (TEXTS[0], TEXTS[0].replace("sun ", "sun  ")),
    "a line break instead of a space": (TEXTS[2], TEXTS[2].replace("three, ", "three,\n")),
    "capital letters": (TEXTS[6], TEXTS[6].replace("Paris", "paris")),
    "the first word of a long text": (LONG, _LONG.format(**{**_WORDS, "first": "Our"})),
    "a word in the middle of a long text": (LONG, _LONG.format(**{**_WORDS, "middle": "miner"})),
    "a word near the end of a long text": (LONG, _LONG.format(**{**_WORDS, "last": "sky"})),
}
"""Pairs of texts that differ in one detail, which a faulty server may ignore."""


def reads_whole_prompts(server: Server) -> Iterator[Finding]:
    """Ollama #3839 and #17889 truncate prompts, templates trim them, caches take them for equal."""
    pairs = dict(PAIRS)
    try:
        server.learn(text for pair in pairs.values() for text in pair)
    except RefusalError as error:
        pairs = {differ: pair for differ, pair in pairs.items() if LONG not in pair}
        server.learn(text for pair in pairs.values() for text in pair)
        yield Finding(
            f"it accepts no text of {len(LONG.split())} words, so whether it reads long texts "
            f"whole was not tested ({error})"
        )
    alike = [differ for differ, pair in pairs.items() if _are_alike(server, *pair)]
    for differ in alike:
        if server.trims and differ in _ENDS:
            yield Finding(f"it drops {differ}")
    wrong = [differ for differ in alike if not (server.trims and differ in _ENDS)]
    if wrong:
        yield Finding(
            "it returns the same log-probabilities for texts that differ in "
            f"{', '.join(wrong)}: it, or a proxy in front of it, changes prompts, truncates them "
            "or answers from a cache",
            fatal=True,
        )


def _are_alike(server: Server, one: str, other: str) -> bool:
    """Return whether the server answers two texts as if they were the same."""
    tokenizer = server.tokenizer
    if tokenizer is not None and tokenizer.cut(one).tokens == tokenizer.cut(other).tokens:
        return False
    if not {one, other} <= set(server.nexts):
        return False
    apart = server.changes(one, server.nexts[other])
    return bool(apart) and all(each <= max(_SAME, 2 * server.noise) for each in apart)


def fits_the_tokenizer(server: CompletionsServer) -> Iterator[Finding]:
    """The user gave another model's tokenizer."""
    tokenizer = server.tokenizer
    if tokenizer is None or server.named:
        return
    for token in server.nexts.values():
        for one in (token, *token.top):
            if not tokenizer.may_contain(one):
                yield Finding(
                    f"it returns the token {server.client.hide(str(one.text))!r}, which differs "
                    f"from {tokenizer.path}: use the tokenizer of the served model",
                    fatal=True,
                )
    extra = server.habits.extra()
    if len(extra) > 1 or not extra <= set(range(MOST_BEFORE + 1)):
        differences = ", ".join(f"{more:+d}" for more in sorted(extra))
        yield Finding(
            f"it tokenizes texts differently than {tokenizer.path} (its token counts differ by "
            f"{differences}): use the tokenizer of the served model",
            fatal=True,
        )
    server.before = min(extra, default=None)
