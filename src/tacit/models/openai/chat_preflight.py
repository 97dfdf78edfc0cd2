"""Preflight of a server's chat API, run before replies are sampled and counted."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import ModelError, UnreliableError
from tacit.models.openai import chat, vote_checks
from tacit.models.openai.chat import LIMITS
from tacit.models.openai.client import RefusalError
from tacit.models.openai.first_tokens import watch_of
from tacit.models.openai.monitoring import EVERY, QUIET
from tacit.models.openai.preflight import TEXTS, warn
from tacit.models.openai.text_pairs import MOST_TEXTS, compare_pairs, problems_and_notes, refusal
from tacit.models.openai.token_lists import returned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.models.openai.canaries import Canary
    from tacit.models.openai.chat import ChatReply, Talk
    from tacit.models.openai.monitoring import Watch
    from tacit.models.openai.vote_checks import Inspection, Temperature

OPEN_ENDED = (
    "Write the first sentence of a story about an invented place.",
    "Describe an imaginary animal in one sentence.",
)
"""Prompts for which two independent replies are almost never identical."""

UNCUT: tuple[dict[str, float], ...] = (
    {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "repetition_penalty": 1.0},
    {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
)
"""Settings that make servers sample from the full distribution, without penalties.

Servers differ in the names of sampling settings (such as ``repetition_penalty``), and in the value
of ``top_k`` that allows all tokens (0 or -1). Tacit tries the dictionaries in ``UNCUT`` in turn and
uses the first dictionary whose settings the server accepts.
"""

DRAWN = 4
MOST_CALLS = len(LIMITS) * 2 + len(UNCUT) + len(TEXTS) + 2 * DRAWN * len(OPEN_ENDED) + 2
MOST_CALLS += chat.MOST_CALLS + 3 * len(TEXTS) + 2 * MOST_TEXTS + vote_checks.MOST_CALLS + 3
"""The maximum number of calls of the preflight and of the check at the end of a run."""


@dataclass(frozen=True)
class Sampler:
    """The result of a chat server's preflight, which describes how replies are sampled."""

    talk: Talk
    several: bool
    begun: bool
    canaries: tuple[Canary, ...]
    refused: tuple[str, ...]
    temperature: Temperature | None = None
    watch: Watch | None = None
    redraw: Callable[[int], Inspection | None] | None = None


def try_sampling(talk: Talk, concurrency: int = 1) -> Sampler:
    """Run the preflight of a server's chat API."""
    where = f"{talk.model} at {talk.client.address}"
    # A few words are enough to tell whether two replies differ.
    brief, refused, first = _asked(talk.but(thinking=0 if talk.thinking == 0 else None), where)
    settled = brief.but(thinking=talk.thinking)
    drawn = _drawn(brief, first)
    ended = chat.ended(settled)
    _check_reasoning(talk, where, ended, drawn)
    if talk.thinking and any(one.silent for some in drawn for one in some):
        # The reasoning is hidden, so replies cut after a few words are empty and cannot differ.
        brief, drawn = settled, _drawn(settled)
        _check_ends(talk, where, drawn)
    if all(len({one.whole for one in some}) == 1 for some in drawn):
        raise ModelError(
            f"{where} returns the same reply every time, at temperature 1 and with different "
            "seeds, so its replies are not random samples: turn off its cache, or let it use the "
            "requested temperature"
        )
    if not brief.seeded:
        refused.append("it accepts no seed, so its replies cannot be reproduced")
    several = _gives_several(brief, refused)
    canaries = _canaries(brief, refused)
    temperature = watch = redraw = None
    if not any(one.has_reasoning for one in (ended, *(said for some in drawn for said in some))):
        temperature, watch, redraw = _read_alike(
            brief, where, concurrency, refused, several=several
        )
    if watch is None:
        canaries = _repeated(brief, canaries, refused, where, concurrency)
    settled.habits.settle()
    begun = chat.begun(ended)
    return Sampler(settled, several, begun, canaries, tuple(refused), temperature, watch, redraw)


def _read_alike(
    talk: Talk, where: str, concurrency: int, refused: list[str], *, several: bool
) -> tuple[Temperature | None, Watch | None, Callable[[int], Inspection | None] | None]:
    """Estimate the sampling temperature, and prepare checks to repeat during a run."""
    firsts = vote_checks.first_tokens(talk, concurrency)
    if not firsts or returned(list(firsts.values())) <= 1:
        return None, None, None
    top = talk.but(top=returned(list(firsts.values())))
    differences = compare_pairs(
        lambda texts: top.first_tokens(texts, concurrency), firsts, lambda *_: False, QUIET, top.top
    )
    wrong, notes = problems_and_notes(differences, trims=True)
    if wrong:
        raise ModelError(f"{where} cannot be used for vote shares: {refusal(wrong, '')}")

    known = {**firsts, **differences.drawn}
    drawing = vote_checks.Drawing(talk, known, concurrency, several=several)
    look = drawing.inspect(1000)
    if look is not None and look.is_off:
        notes.append(look.note)
    warn(where, notes)
    refused += notes
    again = drawing.inspect if look is not None and not look.is_off else None
    temperature = None if look is None else look.temperature
    return temperature, watch_of(differences, {}, top, concurrency), again


def _drawn(talk: Talk, first: ChatReply | None = None) -> list[list[ChatReply]]:
    """Sample several replies to each open-ended prompt, with different seeds."""
    known = [] if first is None else [first]
    pieces = [(text, 1 + at) for text in OPEN_ENDED for at in range(DRAWN)]
    said = known + [talk.replies(*piece)[0] for piece in pieces[len(known) :]]
    return [said[at : at + DRAWN] for at in range(0, len(said), DRAWN)]


def _asked(talk: Talk, where: str) -> tuple[Talk, list[str], ChatReply | None]:
    """Return request settings that the server accepts, warnings, and a first reply."""
    usual = talk.but(uncut=UNCUT[0])
    try:
        return usual, [], usual.replies(OPEN_ENDED[0], seed=1)[0]
    except RefusalError:
        return *_uncut(_settled(talk, where)), None


def _settled(talk: Talk, where: str) -> Talk:
    """Return requests with a token-limit field and a seed setting that the server accepts."""
    refusal: RefusalError | None = None
    for seeded in (True, False):
        for limit in LIMITS:
            asked = talk.but(limit=limit, seeded=seeded)
            try:
                asked.replies(OPEN_ENDED[0], seed=0)
            except RefusalError as error:
                refusal = error
            else:
                return asked
    hint = "; it may not support turning reasoning off" if talk.thinking == 0 else ""
    raise ModelError(f"{where} does not answer chat requests ({refusal}){hint}") from refusal


def _uncut(talk: Talk) -> tuple[Talk, list[str]]:
    """Use the first settings in ``UNCUT`` that the server accepts; warn if there are none."""
    for uncut in UNCUT:
        asked = talk.but(uncut=uncut)
        try:
            asked.replies(OPEN_ENDED[0], seed=0)
        except RefusalError:
            continue
        return asked, []
    return talk, ["it accepts neither top_k nor min_p, so it may never sample unlikely words"]


def _check_reasoning(
    talk: Talk, where: str, ended: ChatReply, drawn: Sequence[Sequence[ChatReply]]
) -> None:
    """Reject a model that reasons, unless the user has allowed reasoning."""
    short = [one for some in drawn for one in some]
    if not any(one.has_reasoning or one.silent for one in (ended, *short)):
        return
    if talk.thinking is None:
        raise ModelError(
            f"{where} reasons before it answers: limit the reasoning with --thinking-tokens N, "
            "allow any length with --thinking-tokens all, or turn it off with --thinking-tokens 0"
        )
    if talk.thinking == 0:
        raise ModelError(
            f"{where} reasons although --thinking-tokens is 0: allow it with --thinking-tokens N "
            "or all"
        )


def _check_ends(talk: Talk, where: str, drawn: Sequence[Sequence[ChatReply]]) -> None:
    """Reject a model whose replies contain only hidden reasoning, cut off by a token limit."""
    if not all(one.silent for some in drawn for one in some):
        return
    if talk.thinking == "all":
        raise ModelError(
            f"{where} returns no answer before the server's own limit on the reply ends the "
            "reasoning: raise that limit, or set --thinking-tokens N"
        )
    raise ModelError(
        f"{where} returns no answer within {talk.thinking} reasoning tokens: allow more with "
        "--thinking-tokens N or all"
    )


def _gives_several(talk: Talk, refused: list[str]) -> bool:
    """Return whether one request returns several replies; add any problem to ``refused``."""
    try:
        some = talk.replies(OPEN_ENDED[0], seed=1 + DRAWN, several=DRAWN)
    except RefusalError:
        some = []
    if len(some) != DRAWN:
        refused.append("it returns one reply per request, however many are requested")
        return False
    if len({one.whole for one in some}) == 1:
        refused.append("it returns copies of one reply when a request asks for several")
        return False
    return True


def _canaries(talk: Talk, refused: list[str]) -> tuple[Canary, ...]:
    """Return the model's replies to the texts in ``TEXTS`` at temperature 0."""
    found = _likeliest(talk, TEXTS, 1)
    if len(found) * 2 >= len(TEXTS):
        return tuple(found)
    refused.append(
        "it returns no replies at temperature 0, so a change of its model cannot be detected"
    )
    return ()


def _repeated(
    talk: Talk, canaries: tuple[Canary, ...], refused: list[str], where: str, concurrency: int
) -> tuple[Canary, ...]:
    """Return the replies at temperature 0; empty if the server does not reproduce them."""
    texts = [canary["text"] for canary in canaries]
    if not texts or same_replies(canaries, _likeliest(talk, texts, concurrency)):
        return canaries
    if same_replies(canaries, _likeliest(talk, texts, 1)):
        raise ModelError(
            f"{where} returns other replies at temperature 0 with {concurrency} concurrent "
            "requests than with one at a time: it mixes up requests; use --concurrency 1"
        )
    refused.append(
        "its replies at temperature 0 differ between repetitions, so a change of its model cannot "
        "be detected"
    )
    return ()


def _likeliest(talk: Talk, texts: Sequence[str], concurrency: int) -> list[Canary]:
    """Return the reply to each text at temperature 0."""

    def reply(text: str) -> str:
        try:
            return talk.likeliest(text).whole
        except RefusalError:
            return ""

    replies = talk.client.at_once(reply, texts, concurrency)
    return [
        {"text": text, "reply": reply}
        for text, reply in zip(texts, replies, strict=True)
        if reply.strip()
    ]


class ReplyWatch:
    """Checks that, during a run, replies at temperature 0 stay the same and samples vary."""

    def __init__(
        self,
        sampler: Sampler,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        talk = sampler.talk
        self._talk = talk.but(thinking=0 if talk.thinking == 0 else None)
        self._canaries = list(sampler.canaries)
        self._concurrency, self._watch = concurrency, sampler.watch
        self._redraw = sampler.redraw
        self._where = f"{talk.model} at {talk.client.address}"
        self._turn = itertools.count()
        self._last: dict[str, str] = {}
        self._clock, self._looked = clock, clock()

    def recheck(self) -> None:
        """Check a reply at temperature 0 and a sampled reply, unless the last check is recent."""
        if self._clock() - self._looked < EVERY:
            return
        self._looked = self._clock()
        if self._watch is not None:
            self._watch.recheck()
        turn = next(self._turn)
        text = OPEN_ENDED[turn % len(OPEN_ENDED)]
        some = self._canaries[turn % len(self._canaries) :][:1] if self._canaries else []

        def ask(canary: Canary | None) -> str:
            if canary is None:
                return self._talk.replies(text, seed=100 + turn)[0].whole
            return self._talk.likeliest(canary["text"]).whole

        drawn, *likeliest = self._talk.client.at_once(ask, [None, *some], self._concurrency)
        if any(now != then["reply"] for now, then in zip(likeliest, some, strict=True)):
            self._check_likeliest()
        if drawn == self._last.get(text):
            self._check_draws()
        self._last[text] = drawn

    def _check_distribution(self, redraw: Callable[[int], Inspection | None]) -> None:
        look = redraw(2000 + vote_checks.SEEDS * next(self._turn))
        if look is None or not look.is_off:
            return
        warn(self._where, [f"in a later check, {look.note}"])
        if look.is_far_off:
            raise UnreliableError(
                f"{self._where} no longer samples its replies as in the preflight: {look.note}. "
                "Replies received since the last successful check are discarded"
            )

    def _check_draws(self) -> None:
        turn = next(self._turn)
        text = OPEN_ENDED[turn % len(OPEN_ENDED)]

        def draw(seed: int) -> str:
            return self._talk.replies(text, seed=seed)[0].whole

        seeds = [10_000 + 3 * turn + at for at in range(3)]
        drawn = self._talk.client.at_once(draw, seeds[:2], self._concurrency)
        if len(set(drawn)) == 1 and draw(seeds[2]) in drawn:
            raise UnreliableError(
                f"{self._where} now returns the same reply every time, so its replies are not "
                "random samples; replies received since the last successful check are discarded"
            )

    def recheck_fully(self) -> None:
        """Check the server as thoroughly as possible."""
        if self._watch is not None:
            self._watch.recheck_now(last=True)
        else:
            self._check_likeliest()
        if self._redraw is not None:
            self._check_distribution(self._redraw)
        else:
            self._check_draws()

    def _check_likeliest(self) -> None:
        if not self._canaries:
            return
        texts = [canary["text"] for canary in self._canaries]
        if not same_replies(self._canaries, _likeliest(self._talk, texts, self._concurrency)):
            raise UnreliableError(
                f"{self._where} no longer returns the same replies at temperature 0 as in the "
                "preflight: its model was replaced, several different models answer in turn, or "
                "it no longer reads prompts whole. Replies received since the last successful "
                "check are discarded. Run the same command again when the server answers as before"
            )


def same_replies(canaries: Sequence[Canary], now: Sequence[Canary]) -> bool:
    """Return whether at least 75 % of the stored replies at temperature 0 are unchanged."""
    known = {canary["text"]: canary["reply"] for canary in now}
    try:
        both = [one for one in canaries if one["text"] in known]
        same = sum(known[one["text"]] == one["reply"] for one in both)
    except (LookupError, TypeError):
        return False  # this package did not write these canaries
    return bool(both) and 2 * len(both) >= len(canaries) and 4 * same >= 3 * len(both)
