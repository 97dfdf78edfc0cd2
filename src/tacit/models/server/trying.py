"""What a server does in a chat, tried before replies are sampled and counted.

Shares are worth their intervals only where replies are independent draws. A server that gives the
same reply each time, from a cache or at a temperature of its own, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import ModelError
from tacit.models.server import thoughts
from tacit.models.server.client import RefusalError
from tacit.models.server.preflight import TEXTS
from tacit.models.server.talking import LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.server.canaries import Canary
    from tacit.models.server.said import Said
    from tacit.models.server.talking import Talk

OPEN_ENDED = (
    "Write the first sentence of a story about an invented place.",
    "Describe an imaginary animal in one sentence.",
)
"""What hardly anybody answers twice alike."""

UNCUT: tuple[dict[str, float], ...] = (
    {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "repetition_penalty": 1.0},
    {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
)
"""What keeps servers from cutting off unlikely tokens, or weighing down those that came before.

Some do both unless they are told not to. Servers differ in what they call it, and in which number
means all tokens; the first that is taken is sent.
"""

DRAWN = 4
MOST_CALLS = len(LIMITS) * 2 + len(UNCUT) + len(TEXTS) + 2 * DRAWN * len(OPEN_ENDED) + 1
MOST_CALLS += thoughts.MOST_CALLS
"""So many calls, at most, are made to try a server."""


@dataclass(frozen=True)
class Sampler:
    """How a server's replies are sampled.

    Args:
        talk: How it is asked.
        several: Whether it gives several replies to one request, each drawn by itself.
        begun: Whether its template begins a thought, so that a reply shows its end alone.
        canaries: Its likeliest reply to each text; none where it gives none.
        refused: What it does not do right.
    """

    talk: Talk
    several: bool
    begun: bool
    canaries: tuple[Canary, ...]
    refused: tuple[str, ...]


def try_sampling(talk: Talk) -> Sampler:
    """Tries a server.

    Raises:
        ModelError: Its replies are no samples, or it thinks and nothing says for how long.
        ScoringError: It failed each time that it was asked.
    """
    where = f"{talk.model} at {talk.client.address}"
    # A few words are enough to see whether two replies differ.
    brief = _settled(talk.but(thinking=0 if talk.thinking == 0 else None), where)
    brief, refused = _uncut(brief)
    settled = brief.but(thinking=talk.thinking)
    drawn = _drawn(brief)
    ended = thoughts.ended(settled)
    _check_thinking(talk, where, ended, drawn)
    if talk.thinking and any(one.silent for some in drawn for one in some):
        # The thought is hidden: a few words of it are nothing that could differ.
        brief, drawn = settled, _drawn(settled)
        _check_ends(talk, where, drawn)
    if all(len({one.whole for one in some}) == 1 for some in drawn):
        raise ModelError(
            f"{where} gives the same reply each time, at temperature 1 and with other seeds, so "
            "that its replies are no samples: turn its cache off, or let it take the temperature "
            "that it is asked for"
        )
    if not brief.seeded:
        refused.append("it takes no seed, so that other replies come each time")
    several = _gives_several(brief, refused)
    canaries = _canaries(brief, refused)
    return Sampler(settled, several, thoughts.begun(ended), canaries, tuple(refused))


def _drawn(talk: Talk) -> list[list[Said]]:
    """Some replies to each open question, with different seeds."""
    return [[talk.replies(text, seed=1 + at)[0] for at in range(DRAWN)] for text in OPEN_ENDED]


def _settled(talk: Talk, where: str) -> Talk:
    """How the server lets itself be asked: by which name for the limit, with or without a seed.

    Raises:
        ModelError: It refuses to reply, however it is asked.
    """
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
    hint = "; it may not know how to turn thinking off" if talk.thinking == 0 else ""
    raise ModelError(f"{where} does not reply in a chat ({refusal}){hint}") from refusal


def _uncut(talk: Talk) -> tuple[Talk, list[str]]:
    """Asking for draws from all tokens, and whether that is refused."""
    for uncut in UNCUT:
        asked = talk.but(uncut=uncut)
        try:
            asked.replies(OPEN_ENDED[0], seed=0)
        except RefusalError:
            continue
        return asked, []
    return talk, ["it takes no top_k and min_p, and may cut off unlikely words"]


def _check_thinking(talk: Talk, where: str, ended: Said, drawn: Sequence[Sequence[Said]]) -> None:
    """Refuses a model that thinks where it was not said for how long, or was told not to.

    Raises:
        ModelError: It is one.
    """
    short = [one for some in drawn for one in some]
    if not any(one.thinks or one.silent for one in (ended, *short)):
        return
    if talk.thinking is None:
        raise ModelError(
            f"{where} thinks before it answers: say for how long it may with --thinking-tokens N, "
            "or all, or turn it off with 0"
        )
    if talk.thinking == 0:
        raise ModelError(
            f"{where} thinks although it is asked not to: let it, with --thinking-tokens N, or all"
        )


def _check_ends(talk: Talk, where: str, drawn: Sequence[Sequence[Said]]) -> None:
    """Refuses a model whose thoughts never end in the tokens that it has.

    Raises:
        ModelError: It is one.
    """
    if not all(one.silent for some in drawn for one in some):
        return
    if talk.thinking == "all":
        raise ModelError(
            f"{where} says nothing before the server's own limit of a reply cuts its thought: "
            "raise that limit, or give --thinking-tokens N"
        )
    raise ModelError(
        f"{where} says nothing in the {talk.thinking} tokens that it may think for: give it more "
        "with --thinking-tokens N, or all"
    )


def _gives_several(talk: Talk, refused: list[str]) -> bool:
    """Whether one request may bring several replies; why not is added to what is refused."""
    try:
        some = talk.replies(OPEN_ENDED[0], seed=1 + DRAWN, several=DRAWN)
    except RefusalError:
        some = []
    if len(some) != DRAWN:
        refused.append("it gives one reply to a request, however many are asked for")
        return False
    if len({one.whole for one in some}) == 1:
        refused.append("several replies to one request are copies of each other")
        return False
    return True


def _canaries(talk: Talk, refused: list[str]) -> tuple[Canary, ...]:
    """The likeliest replies; none where the server takes no other temperature, or hides them."""
    found: list[Canary] = []
    for text in TEXTS:
        try:
            reply = talk.likeliest(text).whole
        except RefusalError:
            continue
        if reply.strip():
            found.append({"text": text, "reply": reply})
    if len(found) * 2 >= len(TEXTS):
        return tuple(found)
    refused.append(
        "it gives no likeliest replies, so that another model by its name is not noticed"
    )
    return ()


def same_replies(canaries: Sequence[Canary], now: Sequence[Canary]) -> bool:
    """Whether at least three in four of the likeliest replies are those of then.

    Where a server batches otherwise, rounding may change a word; another model changes most. What
    was refused in passing, now or then, is not compared; at least half have to be.
    """
    known = {canary["text"]: canary["reply"] for canary in now}
    try:
        both = [one for one in canaries if one["text"] in known]
        same = sum(known[one["text"]] == one["reply"] for one in both)
    except (LookupError, TypeError):
        return False  # nothing that was written here
    return bool(both) and 2 * len(both) >= len(canaries) and 4 * same >= 3 * len(both)
