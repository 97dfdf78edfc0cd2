"""Parts of results, by events alone: what waits for something that never comes fails by time."""

import asyncio
import itertools
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import httpx2
import pytest

from tacit.errors import ScoringError, UnreliableError
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.streaming import Stream, at_once
from tests.models.openai.raw import raw

GENEROUS = 60.0
WHOLE = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\n{"model":"m"}'


def test_nobody_waits_where_a_part_ends() -> None:
    """While the consumer has a part in hand, all the items behind it are worked on."""
    others = threading.Event()

    def work(number: int) -> int:
        if number == 19:
            others.set()
        return number

    parts = Stream(work, range(20), 2, 0.0).parts()
    first = next(parts)
    assert others.wait(GENEROUS), "the last item is begun before a second part is asked for"
    rest = [each for part in parts for each in part]
    assert sorted([*first, *rest]) == [(number, number) for number in range(20)]


def test_items_are_taken_when_a_thread_is_free() -> None:
    """No more of them are in memory than are under way."""
    taken: list[int] = []
    release = threading.Semaphore(0)
    begun = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for number in range(100_000):
            taken.append(number)
            yield number

    def work(number: int) -> int:
        begun.release()
        assert release.acquire(timeout=GENEROUS)
        return number

    with closing(Stream(work, items(), 3, 0.0).parts()) as parts:
        release.release()
        assert len(next(parts)) == 1
        for _ in range(4):
            assert begun.acquire(timeout=GENEROUS)
        assert len(taken) == 4
        threading.Timer(0.1, release.release, [3]).start()
    assert len(taken) == 4, "nothing is begun when the parts are closed"


def test_a_failure_is_raised_when_what_is_finished_is_given() -> None:
    """Nothing else is begun, and what was under way is not waited for."""
    begun, under_way = list[int](), threading.Event()

    def never(connection: socket.socket) -> None:
        under_way.set()
        connection.recv(1)

    with raw(never) as address:
        client = Client(address, ServerOptions(timeout=10 * GENEROUS))

        def work(number: int) -> int:
            begun.append(number)
            if number == 1:
                client.complete({"prompt": "a"})
            if number == 2:
                assert under_way.wait(GENEROUS)
                raise ScoringError("it is broken")
            return number

        parts = Stream(work, range(9), 2, 30.0).parts()
        assert next(parts) == [(0, 0)]
        with pytest.raises(ScoringError, match="it is broken"):
            next(parts)
    assert sorted(begun) == [0, 1, 2]


def test_a_check_that_fails_ends_the_work_when_the_results_are_given() -> None:
    """A server that fails says nothing against what it answered before."""
    checked: list[int] = []

    def check() -> None:
        checked.append(1)
        raise ScoringError("no answer")

    parts = Stream(lambda number: number, itertools.count(), 2, 0.0, check).parts()
    given: list[tuple[int, int]] = []
    with pytest.raises(ScoringError, match="no answer"):
        given.extend(one for part in parts for one in part)
    assert sorted(given) == [(number, number) for number in range(len(given))]
    assert given
    assert len(checked) == 1


@pytest.mark.parametrize("found", ["by a reply", "beside a failure", "by the check"])
def test_nothing_is_given_once_another_model_is_found(found: str) -> None:
    """The engine would store it; and it withdraws what it has by this error, and by no other."""
    failed = threading.Event()

    def check() -> None:
        raise UnreliableError("another model")

    def work(number: int) -> int:
        if found == "by a reply" and number == 1:
            check()
        if found == "beside a failure":
            if number:
                failed.set()
                raise ScoringError("it is broken")
            assert failed.wait(GENEROUS)
            check()
        return number

    several = 2 if found == "beside a failure" else 1
    checked = check if found == "by the check" else None
    given: list[list[tuple[int, int]]] = []
    with pytest.raises(UnreliableError, match="another model"):
        given.extend(Stream(work, range(9), several, 30.0, checked).parts())
    assert not given


def test_items_that_cannot_be_taken_fail_as_well() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    parts = Stream(lambda number: number, items(), 2, 30.0).parts()
    assert next(parts) == [(0, 1)]
    with pytest.raises(ValueError, match="no more"):
        next(parts)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, ValueError])
def test_who_leaves_early_hangs_up(error: type[BaseException] | None) -> None:
    """Closed, interrupted, or by an error of the consumer's: no request is waited for."""
    waiting, asked = threading.Semaphore(0), list[int]()

    def never(connection: object) -> None:
        del connection
        waiting.release()
        threading.Event().wait(0.1)

    with raw(lambda connection: connection.sendall(WHOLE)) as quick, raw(never) as slow:
        options = ServerOptions(timeout=10 * GENEROUS, backoff=Backoff(first=0.0, most=0.0))
        clients = [Client(address, options) for address in (quick, slow)]

        def work(number: int) -> object:
            asked.append(number)
            return clients[number > 0].complete({"prompt": "a"})

        def leave() -> None:
            with closing(Stream(work, range(100), 3, 0.0).parts()) as parts:
                assert next(parts) == [(0, {"model": "m"})]
                for _ in range(3):
                    assert waiting.acquire(timeout=GENEROUS)
                if error:
                    raise error

        if error is None:
            leave()
        else:
            with pytest.raises(error):
                leave()
    assert len(asked) < 100


def test_the_consumer_may_ask_meanwhile() -> None:
    """Its own work neither waits for the stream's, nor is it one with it when it fails."""
    release = threading.Event()

    async def answer(request: httpx2.Request) -> httpx2.Response:
        if b"slow" in request.content:
            assert await asyncio.to_thread(release.wait, GENEROUS)
        failing = b"fails" in request.content or (b"slow" in request.content and not retried)
        retried.append(b"slow" in request.content)
        return httpx2.Response(500 if failing else 200, json={"prompt": "p"})

    retried: list[bool] = []
    options = ServerOptions(backoff=Backoff(attempts=3, first=0.0, most=0.0))
    client = Client("http://127.0.0.1:1/v1", options, None, httpx2.MockTransport(answer))

    def ask(prompt: str) -> str:
        return str(client.complete({"prompt": prompt})["prompt"])

    with closing(Stream(ask, ["quick", "slow"], 2, 0.0).parts()) as parts:
        assert next(parts) == [(0, "p")]
        assert at_once(ask, ["other"] * 20, 4) == ["p"] * 20
        with pytest.raises(ScoringError, match="failed"):
            at_once(ask, ["fails"] * 3, 2)
        release.set()
        assert list(parts) == [[(1, "p")]]
