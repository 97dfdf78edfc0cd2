"""Parts of results, by events alone: what waits for something that never comes fails by time."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from tacit.errors import ScoringError, UnreliableError
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.streaming import Stream
from tests.models.openai.raw import raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GENEROUS = 60.0
WHOLE = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\n{"model":"m"}'


def silent(answer: Callable[[httpx.Request], httpx.Response] | None = None) -> Client:
    """A client that asks nobody, or a function in place of the network."""

    def refused(_: httpx.Request) -> httpx.Response:
        return httpx.Response(404)

    options = ServerOptions(backoff=Backoff(sleep=lambda _: None))
    return Client("http://127.0.0.1:1/v1", options, None, httpx.MockTransport(answer or refused))


def test_what_is_ready_is_given_while_something_slow_is_under_way() -> None:
    """Also when nothing else comes that could have it given."""
    release = threading.Event()

    def work(number: int) -> int:
        assert number or release.wait(GENEROUS)
        return -number

    given: dict[int, int] = {}
    with closing(silent().stream(work, range(5), 2, 0.01)) as parts:
        while len(given) < 4:
            given.update(next(parts))
        assert given == {number: -number for number in range(1, 5)}
        release.set()
        assert list(parts) == [[(0, 0)]]


def test_nobody_waits_where_a_part_ends() -> None:
    """While the consumer has a part in hand, all the items behind it are worked on."""
    others = threading.Event()

    def work(number: int) -> int:
        if number == 19:
            others.set()
        return number

    parts = silent().stream(work, range(20), 2, 0.0)
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

    stream = Stream(work, items(), lambda: release.release(3))
    with closing(stream.parts(3, 0.0)) as parts:
        release.release()
        assert len(next(parts)) == 1
        for _ in range(4):
            assert begun.acquire(timeout=GENEROUS)
        assert len(taken) == 4
    assert len(taken) == 4, "nothing is begun when the parts are closed"


def test_a_failure_is_raised_when_what_was_under_way_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else is begun, and nothing is asked again."""
    begun, requests, streams = list[int](), list[int](), list[Stream[int, int]]()

    def recorded(*arguments: object) -> Stream[int, int]:
        streams.append(Stream(*arguments))  # type: ignore[arg-type] # those of a stream
        return streams[-1]

    monkeypatch.setattr("tacit.models.openai.client.Stream", recorded)

    def answer(_: httpx.Request) -> httpx.Response:
        requests.append(1)
        return httpx.Response(500)

    client = silent(answer)

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise ScoringError("it is broken")
        while not streams[0].abandoned:
            threading.Event().wait(0.001)
        with pytest.raises(ScoringError, match="failed 1 time;"):
            client.complete({})
        return number

    parts = client.stream(work, range(9), 2, 30.0)
    assert next(parts) == [(0, 0)]
    with pytest.raises(ScoringError, match="it is broken"):
        next(parts)
    assert (sorted(begun), len(requests)) == ([0, 1], 1)


def test_what_came_beside_a_wrong_reply_is_not_given() -> None:
    """The engine would store it, and withdraw it at once."""

    def work(number: int) -> int:
        if number == 1:
            raise UnreliableError("another model")
        return number

    with pytest.raises(UnreliableError, match="another model"):
        list(silent().stream(work, range(9), 1, 30.0))


def test_an_unreliable_reply_is_told_of_before_other_failures() -> None:
    """Else what was stored before would not be withdrawn."""
    failed = threading.Event()

    def work(number: int) -> int:
        if number:
            failed.set()
            raise ScoringError("it is broken")
        assert failed.wait(GENEROUS)
        raise UnreliableError("another model")

    with pytest.raises(UnreliableError, match="another model"):
        list(silent().stream(work, range(2), 2, 30.0))


def test_what_is_finished_is_given_before_an_interruption_is_raised() -> None:
    """Also what is collected for a later part, and what still ends when it is hung up on."""
    begun, hung_up = threading.Event(), threading.Event()

    def work(number: int) -> int:
        if number == 2:
            begun.set()
            assert hung_up.wait(GENEROUS)
        if number == 3:
            assert begun.wait(GENEROUS)
            raise KeyboardInterrupt
        return number

    given: list[list[tuple[int, int]]] = []
    with pytest.raises(KeyboardInterrupt):
        given.extend(Stream(work, range(9), hung_up.set).parts(2, 1e6))
    assert [sorted(part) for part in given] == [[(0, 0), (1, 1), (2, 2)]]


def test_a_check_that_fails_ends_the_work_when_the_results_are_given() -> None:
    """A server that fails says nothing against what it answered before."""
    checked: list[int] = []

    def check() -> None:
        checked.append(1)
        raise ScoringError("no answer")

    parts = silent().stream(lambda number: number, itertools.count(), 2, 0.0, check)
    given: list[tuple[int, int]] = []
    with pytest.raises(ScoringError, match="no answer"):
        given.extend(one for part in parts for one in part)
    assert sorted(given) == [(number, number) for number in range(len(given))]
    assert given
    assert len(checked) == 1


def test_a_check_that_finds_another_model_keeps_results_back() -> None:
    """Those that were to be given next; the requests under way are hung up on."""
    hung_up = threading.Event()
    given: list[list[tuple[int, int]]] = []

    def work(number: int) -> int:
        assert not number or hung_up.wait(GENEROUS)
        return number

    def check() -> None:
        raise UnreliableError("another model")

    parts = Stream(work, range(9), hung_up.set, check).parts(2, 0.0)
    with pytest.raises(UnreliableError, match="another model"):
        given.extend(parts)
    assert not given
    assert hung_up.is_set()


def test_items_that_cannot_be_taken_fail_as_well() -> None:
    """An iterator's own error ends the work."""

    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    parts = silent().stream(lambda number: number, items(), 2, 30.0)
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
        options = ServerOptions(timeout=10 * GENEROUS, backoff=Backoff(sleep=lambda _: None))
        clients = [Client(address, options) for address in (quick, slow)]

        def work(number: int) -> object:
            asked.append(number)
            return clients[number > 0].complete({"prompt": "a"})

        def leave() -> None:
            with closing(clients[1].stream(work, range(100), 3, 0.0)) as parts:
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

    def answer(request: httpx.Request) -> httpx.Response:
        if b"slow" in request.content:
            assert release.wait(GENEROUS)
        failing = b"fails" in request.content or (b"slow" in request.content and not retried)
        retried.append(b"slow" in request.content)
        return httpx.Response(500 if failing else 200, json={"prompt": "p"})

    retried: list[bool] = []
    client = silent(answer)

    def ask(prompt: str) -> str:
        return str(client.complete({"prompt": prompt}, attempts=3)["prompt"])

    with closing(client.stream(ask, ["quick", "slow"], 2, 0.0)) as parts:
        assert next(parts) == [(0, "p")]
        assert client.at_once(ask, ["other"] * 20, 4) == ["p"] * 20
        with pytest.raises(ScoringError, match="failed"):
            client.at_once(ask, ["fails"] * 3, 2)
        release.set()
        assert list(parts) == [[(1, "p")]]


@pytest.mark.slow
def test_a_request_that_waits_for_a_connection_keeps_its_time() -> None:
    """The deadline is of the request: the stream's own may have all connections meanwhile."""
    with ThreadPoolExecutor(4), raw(_late) as address:
        client = Client(address, ServerOptions(concurrency=1, timeout=2.0, backoff=Backoff(1)))
        ask = client.complete
        assert client.at_once(ask, [{"prompt": "a"}] * 2, 2) == [{"model": "m"}] * 2


def _late(connection: object) -> None:
    threading.Event().wait(1.2)
    connection.sendall(WHOLE)  # type: ignore[attr-defined] # a socket
