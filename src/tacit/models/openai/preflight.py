"""Preflight of a completions server: a test of the server's features before scoring."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.errors import ModelError, ScoringError
from tacit.models.openai import server_habits
from tacit.models.openai.echo import find_echo
from tacit.models.openai.monitoring import AT_A_LOOK, QUIET, Watched, echo_of
from tacit.models.openai.schema import WrongRepliesError, are_rescaled
from tacit.models.openai.text_pairs import compare_pairs, problems_and_notes, refusal
from tacit.models.openai.token_lists import (
    ENOUGH,
    LARGEST,
    TOPS,
    agree,
    identifies_token,
    likeliest,
    returned,
)
from tacit.models.openai.tokenizer import MOST_BEFORE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tacit.models.openai.echo import Echo
    from tacit.models.openai.questions import Questions
    from tacit.models.openai.text_pairs import Differences
    from tacit.models.openai.token_lists import Reply, Token
    from tacit.models.openai.tokenizer import TokenizerFile

TEXTS = (
    "The sun rises in the",
    "Question: Is ice colder than steam?\nAnswer:",
    "One, two, three, four,",
    "A bird has wings, a beak and",
    "True or false? A stone can swim.",
    "In the morning she drank a cup of",
    "The opposite of hot is",
    "My brother's name is",
    "Paris is the capital of",
    "She said: \"I don't know",
    "A bear is an animal that has",
    "We went to the shop to buy some",
)
"""The first prompts of every preflight.

Tacit stores a server's answers to ``TEXTS`` as canaries, which show in later runs whether the
server's model has changed.
"""

log = logging.getLogger(__name__)

_TRIES = 5


@dataclass(frozen=True)
class Seen:
    """A server's answers to the texts of the preflight."""

    next_tokens: dict[str, Token] = field(default_factory=dict)
    echoes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Abilities:
    """The server features that, according to the preflight, work correctly."""

    questions: Questions
    top: int
    echo: bool
    before: int | None
    spaced: bool
    refused: tuple[str, ...]
    seen: Seen
    watched: tuple[Watched, ...] = ()
    telling: int = 0

    @property
    def passed(self) -> str:
        """A sentence that lists the features that passed the preflight."""
        found = [f"log-probabilities of next tokens ({most_probable(self.top)})"] * bool(self.top)
        found += ["log-probabilities of a prompt's own tokens (echo)"] if self.echo else []
        lacks = "" if self.echo else ", no usable echo"
        where = f"{self.questions.model} at {self.questions.client.address}"
        return f"{where} passed the preflight: {' and '.join(found)}{lacks}"


def most_probable(top: int) -> str:
    """Return words such as "the 20 most probable", for a message about a number of tokens."""
    return f"the {top:,} most probable" if top > 1 else "the most probable"


def preflight(
    questions: Questions, tokenizer: TokenizerFile | None, concurrency: int = 1
) -> Abilities:
    """Run the preflight: test a completions server's features before scoring."""
    where = f"{questions.model} at {questions.client.address}"
    asked, replies = _next_tokens(questions, where, with_ids=tokenizer is not None)
    if not any(reply.tokens for reply in replies.values()):
        raise ModelError(f"{where} cannot be used: it returns no log-probabilities")
    counted = _check_tokens(questions, where, replies, tokenizer)
    _check_spelling(where, replies, tokenizer)
    nexts = {text: reply.tokens[0] for text, reply in replies.items() if reply.tokens}
    spaced = any((one.text or "").startswith(" ") for each in nexts.values() for one in each.top)
    if are_rescaled(list(nexts.values())):
        raise ModelError(
            f"{where} cannot be used: the probabilities of the most probable tokens that it "
            "returns always sum to 1, so it truncates and rescales its distribution: let it "
            "return log-probabilities from before sampling (no top_k, top_p or min_p)"
        )
    noise = _noise(asked, where, nexts, tokenizer, spaced, concurrency)
    top = returned(list(nexts.values()))
    differences, notes = _differences(asked, where, nexts, tokenizer, (noise, top, concurrency))
    refused = [of_noise(noise), *notes] if noise > QUIET else notes
    warn(where, refused)
    if not top:
        refused.append("it returns no log-probabilities of the most probable next tokens")
    long = differences.long
    echo = find_echo(asked, tokenizer, {**nexts, **long}, spaced=spaced, long=long)
    refused += echo.refused
    if (echo.cuts or echo.odd) and not echo.right:
        beside = "; ".join(echo.refused)
        used = "Tacit uses its next-token log-probabilities, which may be the incorrect ones"
        warn(where, [f"{beside}. {used}"])
    cuts = tokenizer is not None or echo.cuts
    if not cuts:
        refused.append(
            "it does not return the tokens of a prompt: pass its tokenizer with --tokenizer PATH"
        )
    if not echo.right and not (top and cuts):
        raise ModelError(f"{where} cannot be used: {'; '.join(refused)}")
    before = counted if echo.before is None else echo.before
    special = _of_special_tokens(counted, echo.before, tokenizer)
    warn(where, special)
    refused += special
    asked.habits.settle(tokenizer, noise, top)
    miscounted = _miscounted(asked, echo) if tokenizer is None else []
    warn(where, miscounted)
    refused += miscounted
    sums = {text: total for text, total in echo.sums.items() if text in nexts}
    return Abilities(
        echo.questions,
        top,
        echo.right,
        before,
        spaced,
        tuple(refused),
        Seen({text: likeliest(token, top) for text, token in nexts.items()}, sums),
        *_watched(differences, nexts, echo, top),
    )


def _differences(
    asked: Questions,
    where: str,
    nexts: dict[str, Token],
    tokenizer: TokenizerFile | None,
    about: tuple[float, int, int],
) -> tuple[Differences, list[str]]:
    """Check whether answers to similar texts differ; return the comparison and warnings."""
    noise, top, concurrency = about

    def is_same(one: str, other: str) -> bool:
        return tokenizer is not None and tokenizer.cut(one).tokens == tokenizer.cut(other).tokens

    differences = compare_pairs(
        lambda texts: asked.next_tokens(texts, concurrency), nexts, is_same, noise, top or asked.top
    )
    wrong, notes = problems_and_notes(differences)
    if wrong:
        hint = (
            ""
            if tokenizer
            else "; if its tokenizer encodes these texts identically, pass it with --tokenizer"
        )
        raise ModelError(f"{where} cannot be used: {refusal(wrong, hint)}")
    drawn = {**nexts, **differences.drawn}
    return differences, notes + plausibility(drawn, asked.habits.names - {asked.model})


def _miscounted(asked: Questions, echo: Echo) -> list[str]:
    """Return a warning if the server's token counts do not match the tokens in its echo."""
    beside = {
        counted - found.before - len(found.cut.tokens)
        for text, found in echo.texts.items()
        if (counted := asked.habits.counted(text)) is not None
    }
    if beside <= {0}:
        return []
    shown = ", ".join(f"{more:+d}" for more in sorted(beside))
    return [
        f"its count of a prompt's tokens differs from the number of tokens in its echo ({shown})"
    ]


def _of_special_tokens(
    counted: int | None, echoed: int | None, tokenizer: TokenizerFile | None
) -> list[str]:
    """Return warnings if a server puts an unexpected number of special tokens before texts."""
    notes = []
    before = counted if echoed is None else echoed
    if tokenizer is not None and before is not None and before != tokenizer.before:
        notes.append(
            f"it puts {several(before, 'special token')} before a text, but {tokenizer.path} puts "
            f"{tokenizer.before}, as a model in this process does"
        )
    if counted is not None and echoed is not None and counted != echoed:
        notes.append(
            f"it counts {several(counted, 'special token')} in a prompt, but returns {echoed}"
        )
    return notes


def _watched(
    differences: Differences, nexts: dict[str, Token], echo: Echo, top: int
) -> tuple[tuple[Watched, ...], int]:
    """Return preflight answers to check again during a run, and a number n."""
    following = [
        Watched("next", text, likeliest(token, top))
        for text, token in {**differences.nexts, **nexts}.items()
        if top
    ]
    echoes = [Watched("echo", text, echo_of(found)) for text, found in echo.texts.items()][::-1]
    telling = differences.telling if top else 0
    both = zip_longest(following[:AT_A_LOOK], echoes[:AT_A_LOOK])
    first = [one for pair in both for one in pair if one] + following[AT_A_LOOK:telling]
    return (*first, *following[telling:], *echoes[AT_A_LOOK:]), len(first)


def of_noise(noise: float) -> str:
    """Return the warning about a server whose answers to the same text differ slightly."""
    return f"log-probabilities of the same text differ by up to {noise:.2g} nats between requests"


def mixed(texts: Sequence[str]) -> list[str]:
    """Sort texts by hash, so that requests are not repeated in their original order."""
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())


def plausibility(nexts: Mapping[str, Token], names: Collection[str]) -> list[str]:
    """Return warnings about implausible log-probabilities and unexpected model names."""
    notes = []
    if names:
        shown = ", ".join(map(repr, sorted(names)))
        notes.append(f"its replies name another model than the requested one: {shown}")
    return notes + server_habits.notes_on(list(nexts.values()))


def mixes_up(where: str, concurrency: int, largest: float) -> str:
    """Return the message about a server that mixes up concurrent requests."""
    return (
        f"{where} cannot be used with {concurrency} concurrent requests: log-probabilities of the "
        f"same prompts then differ by up to {largest:.3g} nats, but do not with one request at a "
        "time. It mixes up requests: use --concurrency 1"
    )


def warn(where: str, notes: Sequence[str]) -> None:
    """Log each note about a server as a warning."""
    for note in notes:
        log.warning("%s: %s", where, note)


def _noise(
    asked: Questions,
    where: str,
    nexts: dict[str, Token],
    tokenizer: TokenizerFile | None,
    spaced: bool,  # noqa: FBT001 - as in Abilities
    concurrency: int,
) -> float:
    """Return the largest log-probability difference (nats) between repeated requests."""

    def differences(texts: Sequence[str], again: Sequence[Token | None]) -> list[float]:
        apart: list[float] = []
        for text, token in zip(texts, again, strict=True):
            given = [] if token is None else _given(token)
            alone = [
                one
                for one in given
                if (
                    tokenizer.names(one, spaced=spaced) if tokenizer else identifies_token(one.text)
                )
            ]
            apart += _apart(_given(nexts[text]), alone)
        return apart

    texts = mixed(list(nexts)[:ENOUGH])
    asked = asked.but(more=1)  # as when prompts are asked again during the run
    apart = differences(texts, asked.next_tokens(texts, concurrency))
    if not apart or agree(apart):
        return max(apart, default=0.0)
    singly = differences(texts, asked.next_tokens(texts, 1))
    if singly and agree(singly):
        raise ModelError(mixes_up(where, concurrency, max(apart)))
    raise ModelError(
        f"{where} cannot be used: log-probabilities of the same prompt differ by up to "
        f"{max(apart):.3g} nats between two requests (rounding explains {LARGEST:g} nats at most)"
    )


def _next_tokens(
    questions: Questions, where: str, *, with_ids: bool
) -> tuple[Questions, dict[str, Reply]]:
    """Find settings that the server accepts, and request a reply to each of ``TEXTS``."""
    refusal: ScoringError | None = None
    for by_id in (True, False) if with_ids else (False,):
        for top in TOPS:
            asked = questions.but(top=top, by_id=by_id)
            try:
                asked.next_token(TEXTS[0], attempts=_TRIES)
            except WrongRepliesError as error:
                raise ModelError(f"{where} cannot be used: {error}") from error
            except ScoringError as error:
                refusal = error
            else:
                return asked, {text: asked.next_token(text) for text in TEXTS}
    raise ModelError(
        f"{where} cannot be used: it does not complete a text when log-probabilities are requested "
        f"({refusal})"
    ) from refusal


def _apart(first: Sequence[Token], again: Sequence[Token]) -> list[float]:
    """Return absolute log-probability differences (nats) of tokens that two answers share."""
    before = {(one.text, one.number): one.logprob for one in first}
    pairs = [(one.logprob, before.get((one.text, one.number))) for one in again]
    return [abs(one - other) for one, other in pairs if one is not None and other is not None]


def _given(token: Token) -> list[Token]:
    """Return a token of a reply, and the most probable tokens at the token's position."""
    return [token, *token.top]


def _check_tokens(
    questions: Questions, where: str, replies: dict[str, Reply], tokenizer: TokenizerFile | None
) -> int | None:
    """Return the number of special tokens that a server puts before texts; None if unknown."""
    if tokenizer is None:
        return None
    for reply in replies.values():
        for one in [one for token in reply.tokens[:1] for one in _given(token)]:
            if not _may_be(one, tokenizer):
                written = questions.client.hide(str(one.text))
                raise ModelError(
                    f"{where} returns the token {written!r}, which differs from {tokenizer.path}: "
                    "use the tokenizer of the served model"
                )
    counted = {
        reply.counted - len(tokenizer.cut(text).tokens)
        for text, reply in replies.items()
        if reply.counted is not None
    }
    if not counted:
        return None
    if len(counted) > 1 or not 0 <= min(counted) <= MOST_BEFORE:
        differences = ", ".join(f"{more:+d}" for more in sorted(counted))
        raise ModelError(
            f"{where} tokenizes texts differently than {tokenizer.path} (its token counts differ "
            f"by {differences}): use the tokenizer of the served model"
        )
    return counted.pop()


def _check_spelling(where: str, replies: dict[str, Reply], tokenizer: TokenizerFile | None) -> None:
    """Reject a server whose reported tokens do not spell the text that it generated."""
    wrong, compared = [], 0
    for reply in replies.values():
        token = reply.tokens[0] if len(reply.tokens) == 1 else None
        if token is None or not identifies_token(reply.text.strip()):
            continue
        named = token.text
        if token.number is not None and tokenizer is not None:
            named = tokenizer.spelled(token.number)
        if not identifies_token((named or "").strip()):
            continue
        compared += 1
        if (named or "").strip() != reply.text.strip():
            wrong.append((reply.text, named))
    if len(wrong) * 2 > compared:
        text, named = (repr(one) for one in wrong[0])
        raise ModelError(
            f"{where} cannot be used: for {len(wrong)} of {compared} texts, the generated text "
            f"differs from the token that it reports (for example, {text} and {named}), so its "
            "log-probabilities belong to other tokens"
        )


def _may_be(token: Token, tokenizer: TokenizerFile) -> bool:
    """Return whether a token that the server returned can be in the tokenizer's vocabulary."""
    if token.text is None:
        return True
    if token.number is None:
        return tokenizer.knows(token.text)
    return tokenizer.is_written(token.number, replace(token, number=None))
