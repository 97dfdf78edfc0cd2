"""Servers that are wrong for a while, and right again before the run ends."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.engine import local, rechecks
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import UnreliableError
from tacit.models.fake import FakeModel
from tacit.models.openai import identity
from tacit.requests import Prompt, Scores
from tacit.requests.kind import Part
from tests.models.openai.matrix import faults
from tests.models.openai.matrix.faults import Road
from tests.models.openai.matrix.honest import Server
from tests.models.openai.matrix.language import prompts, questions, true_opinions, true_scores
from tests.models.openai.matrix.outcomes import CLOSE, FORMS, loaded
from tests.models.openai.model import Answer
from tests.models.openai.serving import NEVER, Asked, running

FAULTS = {fault.name: fault.make for fault in faults.FAULTS}


def another_model(asked: Asked, server: Server) -> Answer:
    return server.other.answer(asked.body)


def scored(
    road: Road, server: Server, store: Store, spell: tuple[int, int], asked: Sequence[Prompt]
) -> tuple[str, dict[tuple[str, str, str], float], int]:
    """Ask a server that is wrong from one request behind the preflight on for a number of them.

    Returns the error, the stored log-probabilities, and the number of requests of the run.
    """
    server.begins = NEVER
    model = loaded(road, server.address, store)
    server.begin_after(*spell)
    before, error = len(server.requests), ""
    try:
        Engine(model, store).ask(asked)
    except UnreliableError as failed:
        error = str(failed)
    return error, values_of(store, model.fingerprint), len(server.requests) - before


def values_of(store: Store, fingerprint: str) -> dict[tuple[str, str, str], float]:
    rows = store.read(fingerprint).drop_nulls("logprob")
    rows = rows.select("text", "separator", "answer", "logprob")
    return {(text, separator, answer): value for text, separator, answer, value in rows.iter_rows()}


def wrong(stored: Mapping[tuple[str, str, str], float], truth: Mapping[Any, float]) -> int:
    return sum(abs(value - truth[key]) > CLOSE for key, value in stored.items())


SECOND = 70
"""The request with which a spell in the middle begins; a run takes at least 146."""


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many prompts are asked again that none of these spells is missed by chance."""
    monkeypatch.setattr(rechecks, "AGAIN", 40)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("road", "name", "begin"),
    [
        ("chat", "temperature of 0.7 in the values", SECOND),
        ("chat", "two replicas with other weights in turn", 0),
        ("echo", "other weights", 0),
        ("next+tokenizer", "other weights", SECOND),
    ],
)
def test_no_answer_of_a_spell_is_kept(
    road: Road, name: str, begin: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked, truth = (questions(), true_opinions()) if road == "chat" else (prompts(), true_scores())
    with running(Server.of(FORMS.get(road, "vllm"), respond=FAULTS[name]())) as server:
        error, stored, _ = scored(road, server, Store(tmp_path), (begin, 50), asked)
    assert not error
    assert "set aside, and those that" in caplog.text
    assert wrong(stored, truth) == 0
    assert len(stored) > 150


@pytest.mark.usefixtures("many")
def test_what_fails_twice_is_refused_and_what_passed_is_kept(tmp_path: Path) -> None:
    first, rest = questions()[:40], questions()[40:]
    with running(Server.of(respond=another_model)) as server:
        store = Store(tmp_path)
        scored("chat", server, store, (0, 0), first)
        kept = len(first) * len(first[0].answers)
        server.respond = lambda asked, server: (
            server.other if asked.number % 200 < 60 else server
        ).answer(asked.body)
        error, stored, _ = scored("chat", server, store, (0, NEVER), rest)
    assert "for the second time" in error
    assert f"{kept} checked answers are kept" in error
    assert wrong(stored, true_opinions()) == 0
    assert {text for text, _, _ in stored} <= {prompt.text for prompt in first}


@pytest.mark.usefixtures("many")
def test_a_cache_of_whole_requests_hides_no_spell(tmp_path: Path) -> None:
    """It has the wrong answers, but is not asked for them again."""
    known: dict[str, Answer] = {}

    def cached(asked: Asked, server: Server) -> Answer:
        wrong = 30 <= asked.number < 90
        answer = (server.other if wrong else server).answer(asked.body)
        return known.setdefault(repr(asked.body), answer)

    with running(Server.of(respond=cached)) as server:
        error, stored, _ = scored("chat", server, Store(tmp_path), (0, NEVER), questions())
    assert "for the second time" in error
    assert not stored


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("road", ["chat", "echo"])
def test_rounding_is_no_spell(road: Road, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is set aside, wherever lists of likely tokens end."""
    asked = questions() if road == "chat" else prompts()
    with running(Server.of(FORMS.get(road, "vllm"), noise=0.01)) as server:
        error, stored, _ = scored(road, server, Store(tmp_path), (0, 0), asked)
    assert not error
    assert "set aside" not in caplog.text
    assert len(stored) > 150


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("faulty", [False, True])
def test_what_an_interrupted_run_left_is_checked_by_the_next(
    faulty: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And by that one alone; where it passes, it is not asked for as new answers are."""
    monkeypatch.setattr(local, "PERIOD", 0.0)
    seen = 0

    def interrupt(part: Part) -> None:
        nonlocal seen
        seen += part.ended
        if seen > 80:
            raise KeyboardInterrupt

    with running(Server.of(respond=another_model)) as server:
        store = Store(tmp_path)
        server.begins = NEVER
        model = loaded("chat", server.address, store)
        server.begin_after(0, 40 if faulty else 0)
        with pytest.raises(KeyboardInterrupt):
            Engine(model, store).ask(questions(), progress=interrupt)
        left = store.read(model.fingerprint).height
        assert left > 80
        before = len(server.requests)
        Engine(model, store).ask(questions())
        new = len(server.requests) - before
        assert ("set aside" in caplog.text) == faulty
        assert (new >= len(questions())) == faulty
        before = len(server.requests)
        Engine(model, store).ask(questions())
        assert len(server.requests) == before
    assert wrong(values_of(store, model.fingerprint), true_opinions()) == 0


def test_a_run_asks_eight_prompts_again_and_a_finished_one_none(tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []

    def noted(asked: Asked, server: Server) -> Answer:
        bodies.append(asked.body)
        return server.answer(asked.body)

    with running(Server.of(respond=noted)) as server:
        for again in (8, 0):
            bodies.clear()
            scored("chat", server, Store(tmp_path), (0, NEVER), questions())
            assert sum(body["max_tokens"] == 2 for body in bodies) == again


class Counting(FakeModel):
    def __init__(self) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.rechecks: list[tuple[int, bool]] = []

    def recheck(self, answered: Sequence[tuple[Prompt, Scores]], *, last: bool) -> str | None:
        self.rechecks.append((len({prompt.text for prompt, _ in answered}), last))
        return None


@pytest.mark.parametrize(
    ("number", "expected"),
    [(3, [(3, True)]), (800, [(8, True)]), (2100, [(16, True)]), (3000, [(10, False), (13, True)])],
)
def test_fewer_than_one_request_in_a_hundred_is_a_repeated_one(
    number: int, expected: list[tuple[int, bool]], tmp_path: Path
) -> None:
    """From 800 requests on; of fewer, at most eight are."""
    model = Counting()
    asked = [Prompt(f"Number {one}", ("a",)) for one in range(number)]
    Engine(model, Store(tmp_path), block_tokens=1000, seconds=0).ask(asked)
    # What a thread has stored meanwhile counts for the first recheck or for the second.
    assert [last for _, last in model.rechecks] == [last for _, last in expected]
    assert abs(sum(n for n, _ in model.rechecks) - sum(n for n, _ in expected)) <= 1
    of_preflight = identity.AT_ONCE * (len(expected) - 1)
    assert sum(again for again, _ in model.rechecks) + of_preflight <= max(8, number / 100)


def test_a_spell_is_found_as_often_as_by_prompts_drawn_at_random() -> None:
    """Eight of 240: with 57 % where a tenth is wrong."""
    share = 1 / 10
    found, runs, number = 0, 200, 240
    for run in range(runs):
        texts = [f"{run} {one}" for one in range(number)]
        columns = {"text": texts, "separator": " ", "answer": "a", "logprob": -1.0}
        rows = pl.DataFrame(columns).with_columns(
            tokens=1, spanned=False, reason=pl.lit(None, pl.String)
        )
        some = [prompt.text for prompt, _ in rechecks.chosen(rows)]
        assert len(some) == 8
        found += not set(texts[50 : 50 + round(number * share)]).isdisjoint(some)
    expected = 1 - (1 - share) ** 8
    assert abs(found / runs - expected) < 3 * math.sqrt(expected * (1 - expected) / runs) + 0.01
