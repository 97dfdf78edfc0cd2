"""Faults of tokens: texts, ids and places that are not those of the log-probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import (
    COMPLETIONS,
    ECHO,
    SCORED,
    Fault,
    Hidden,
    on_answer,
)
from tests.models.openai.matrix.faults_of_texts import MODEL
from tests.models.openai.matrix.honest import TEMPLATE
from tests.models.openai.matrix.language import language, tokenizer
from tests.models.openai.matrix.positions import Entry, Position, changed, entries, tops
from tests.models.openai.serving import spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.positions import Positions
    from tests.models.openai.matrix.server import Asked, Respond, Server

_SIZE = 400
_BY_ID = "token_id:"


def _texts(change: Callable[[str], str]) -> Callable[[], Respond]:
    """Writes each token's text otherwise."""

    def one(entry: Entry) -> Entry:
        kept = entry.token.startswith(_BY_ID)
        return entry if kept else replace(entry, token=change(entry.token))

    return on_answer(
        lambda answer: changed(answer, lambda places: [place.each(one) for place in places])
    )


def _swapped(entry: Entry) -> Entry:
    """Another token, by id and by text."""
    if entry.token.startswith(_BY_ID):
        number = (int(entry.token[len(_BY_ID) :]) + 7) % _SIZE
        return replace(entry, token=f"{_BY_ID}{number}")
    numbers = tokenizer().encode(entry.token).ids
    known = numbers[0] if len(numbers) == 1 else 3
    other = ((known if entry.number is None else entry.number) + 7) % _SIZE
    text = spelled(tokenizer(), other)
    return Entry(text, entry.value, None if entry.number is None else other)


def _swapped_word(answer: Answer) -> Answer:
    """The two likeliest tokens change places."""

    def change(top: tuple[Entry, ...]) -> tuple[Entry, ...]:
        first, second, *rest = top
        return (
            replace(first, value=second.value),
            replace(second, value=first.value),
            *rest,
        )

    return tops(answer, change, least=3)


def _ids_alone(answer: Answer) -> Answer:
    """The ids of other tokens beside the right texts."""
    return entries(answer, lambda one: replace(one, number=None if one.number is None else 5))


def _on_echoes(change: Callable[[Positions], Positions]) -> Callable[[], Respond]:
    """Changes the places of echoes."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.body)
        return changed(answer, change) if asked.body.get("echo") else answer

    return lambda: respond


def _shifted(positions: Positions) -> Positions:
    """Each token with the value of the one before it."""
    before = [None, *(place.own.value for place in positions[:-1])]
    return [
        Position(replace(place.own, value=value), place.top)
        for place, value in zip(positions, before, strict=True)
    ]


def _wrong_behind(most: int) -> Callable[[Positions], Positions]:
    """Right up to so many tokens, and shifted from there on, as a wrong position in a block is."""
    return lambda positions: [*positions[:most], *_shifted(positions)[most:]]


def _wrong_at_end(positions: Positions) -> Positions:
    """The last token of a text of more than 16 has half its value."""
    if len(positions) <= 16 or positions[-1].own.value is None:
        return positions
    last = positions[-1]
    return [*positions[:-1], replace(last, own=replace(last.own, value=last.own.value / 2))]


def _without_first(positions: Positions) -> Positions:
    return positions[1:]


def _with_bos(*, counted: bool) -> Callable[[], Respond]:
    """An echo with a BOS that was not there when the text was read."""
    bos = Position(Entry("<|endoftext|>", None), ())

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.body)
        if not asked.body.get("echo"):
            return answer
        answer = changed(answer, lambda positions: [bos, *positions])
        answer["usage"]["prompt_tokens"] += counted
        return answer

    return lambda: respond


def _echo_of_other(asked: Asked, server: Server) -> Answer:
    if not asked.body.get("echo"):
        return server.honest.answer(asked.body)
    return server.honest.answer(asked.about("A bird is in the tree" + asked.text[21:]))


def _first_values(positions: Positions) -> Positions:
    """Nothing is said of the first 16 tokens, as they were in a cache of prefixes."""
    known = [replace(place, own=replace(place.own, value=None), top=()) for place in positions[:16]]
    return [*known, *positions[16:]]


def _characters(asked: Asked, server: Server) -> Answer:
    """Another tokenizer: one token for each byte."""
    answer = server.honest.answer(asked.body)
    count = len(asked.text.encode()) + (TEMPLATE if asked.is_chat else 0)
    answer["usage"]["prompt_tokens"] = count
    if asked.body.get("echo"):
        values = [language().following((number,))[number] for number in range(256)]
        places = [Position(Entry(one, float(values[ord(one) % 256])), ()) for one in asked.text]
        return changed(answer, lambda _: places)
    return entries(answer, lambda one: replace(one, token=str(one.token)[:1] or "x", number=None))


_other = (Hidden(MODEL, ("echo",), ("first",)),)

FAULTS = [
    Fault("token texts stripped", _texts(str.strip), SCORED),
    Fault("token texts lower-cased", _texts(str.lower), SCORED),
    Fault("token texts as the tokenizer has them inside", _texts(lambda t: t.replace(" ", "Ġ"))),
    Fault("token texts cut to 3 characters", _texts(lambda t: t[:3]), SCORED),
    Fault(
        "other tokens in place of those that are meant",
        on_answer(lambda answer: entries(answer, _swapped)),
        COMPLETIONS,
    ),
    Fault(
        "the two likeliest tokens in each other's place",
        on_answer(_swapped_word),
        SCORED,
        hidden=(Hidden("few hundred draws do not tell the two apart", ("next+tokenizer", "chat")),),
    ),
    Fault("one id for all tokens", on_answer(_ids_alone), ("next+tokenizer",)),
    Fault("echo shifted by one", _on_echoes(_shifted), ECHO),
    Fault("echo shifted behind 20 tokens", _on_echoes(_wrong_behind(20)), ECHO),
    Fault("echo shifted behind 40 tokens", _on_echoes(_wrong_behind(40)), ECHO),
    Fault("echo wrong in the last of over 16 tokens", _on_echoes(_wrong_at_end), ECHO),
    Fault("echo of another text", lambda: _echo_of_other, ECHO),
    Fault("echo without the first token", _on_echoes(_without_first), ECHO),
    Fault("echo with a BOS that is not counted", _with_bos(counted=False), ECHO),
    Fault("echo with a BOS that is counted", _with_bos(counted=True), ECHO),
    Fault("echo that says nothing of 16 tokens", _on_echoes(_first_values), ECHO),
    Fault("another tokenizer", lambda: _characters, COMPLETIONS, hidden=_other),
]
