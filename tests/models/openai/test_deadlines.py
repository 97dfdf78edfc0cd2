"""Servers that never end an answer, those that send too much of one, and interruptions."""

import asyncio
import gzip
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tacit.errors import ScoringError
from tacit.models.openai import client as client_module
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.streaming import at_once
from tests.models.openai.raw import raw

GENEROUS = 60.0
"""Seconds that half a second of time-out may take on a machine that is busy."""

LATE = r"no complete response after 0\.5 s \(raise this limit with --timeout\)"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWER = b'{"model": "m"}'
WHOLE = OK + b"Content-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)

CLOSING = WHOLE.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)


def client(address: str, timeout: float = 0.5) -> Client:
    return Client(address, ServerOptions(timeout=timeout, backoff=Backoff(attempts=1)))


def dripping(begin: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """Sends the beginning, then one drop after the other, each long before a read times out."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(drop)
            time.sleep(0.02)

    return answer


ENDLESS = {
    "header": dripping(OK + b"X: ", b"x"),
    "chunks": dripping(CHUNKED, b"1\r\n \r\n"),
    "nothing": lambda connection: connection.recv(1) and None,
}


@pytest.mark.parametrize("where", ENDLESS)
def test_an_answer_that_never_ends_is_waited_for_until_the_deadline(where: str) -> None:
    with raw(ENDLESS[where]) as address, pytest.raises(ScoringError, match=LATE):
        client(address).complete({"prompt": "a"})


def test_an_answer_that_is_too_large_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST", 1 << 20)

    def flood(connection: socket.socket) -> None:
        connection.sendall(OK + b"\r\n")
        while True:
            connection.sendall(b" " * 65536)

    with raw(flood) as address, pytest.raises(ScoringError, match="larger than 1 MiB, so it is"):
        client(address, GENEROUS).complete({"prompt": "a"})


def test_a_compressed_answer_is_read() -> None:
    """Gateways compress what is asked of the servers behind them."""
    packed = gzip.compress(ANSWER)
    head = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with raw(lambda connection: connection.sendall(OK + head + packed)) as address:
        assert client(address, GENEROUS).complete({"prompt": "a"}) == {"model": "m"}


UNCONNECTED = """
import socket, sys, time
from tacit.errors import NetworkError
from tacit.models.openai.client import Client
from tacit.models.openai.options import ServerOptions

if sys.argv[1] == "http://some.test:9/v1":
    socket.getaddrinfo = lambda *_, **__: time.sleep(600)
try:
    Client(sys.argv[1], ServerOptions(timeout=0.5)).models()
except NetworkError as error:
    print(error)
"""


@pytest.mark.parametrize("what", ["look-up", "handshake"])
def test_a_connection_that_never_stands_is_given_up(what: str) -> None:
    """Nor does the thread in which the system looks a name up keep the program from ending."""
    with raw(dripping(b"\x16\x03\x03\x40\x00", b"\x02"), reads=False) as listening:
        address = listening.replace("http:", "https:")
        if what == "look-up":
            address = "http://some.test:9/v1"
        ran = subprocess.run(
            [sys.executable, "-c", UNCONNECTED, address],
            capture_output=True,
            text=True,
            timeout=GENEROUS,
            check=True,
        )
    assert re.search(f"^{address}: no server responds .*{LATE}", ran.stdout)
    assert ran.stderr == ""


def test_connections_are_used_again_and_broken_ones_are_not() -> None:
    opened, answers = [], [2, 1, 1]

    def answer(connection: socket.socket) -> None:
        opened.append(1)
        for _ in range(answers[len(opened) - 1]):
            read = b""
            while b"}" not in read:
                read += connection.recv(65536)
            connection.sendall(WHOLE)

    with raw(answer, reads=False) as address:
        options = ServerOptions(timeout=GENEROUS, backoff=Backoff(first=0.0, most=0.0))
        asked = Client(address, options)
        for _ in range(4):
            assert asked.complete({"prompt": "a"}) == {"model": "m"}
    assert len(opened) == 3


@pytest.mark.slow
def test_a_request_that_waits_for_its_turn_keeps_its_time() -> None:
    """The deadline is of the request: others may have all connections meanwhile."""

    def late(connection: socket.socket) -> None:
        time.sleep(3.0)
        connection.sendall(CLOSING)

    with raw(late) as address:
        options = ServerOptions(concurrency=1, timeout=5.0, backoff=Backoff(attempts=1))
        asked = Client(address, options)
        assert at_once(asked.complete, [{"prompt": "a"}] * 2, 2) == [{"model": "m"}] * 2


INTERRUPTED = """
import sys
from tacit.models.openai.client import Client
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.streaming import at_once

client = Client(sys.argv[1], ServerOptions(timeout=600.0))
try:
    if sys.argv[2] == "one":
        client.complete({"prompt": "a"})
    at_once(lambda n: client.complete({"prompt": "a"}), range(20), 4)
except KeyboardInterrupt:
    at_once(lambda n: client.complete({"prompt": "after"}), range(4), 4)
    print("interrupted")
"""


@pytest.mark.parametrize("which", ["one", "several"])
def test_who_interrupts_waits_for_nothing_and_may_ask_again(which: str) -> None:
    """Though the server would let it wait for ten minutes."""
    waiting = threading.Semaphore(0)

    def answer(connection: socket.socket) -> None:
        request = connection.recv(65536)
        while b"}" not in request:
            request += connection.recv(65536)
        if b"after" in request:
            connection.sendall(CLOSING)
            return
        waiting.release()
        assert connection.recv(1) == b"", "the client hangs up"
        waiting.release()

    with raw(answer, reads=False) as address:
        program = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED, address, which],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            under_way = 1 if which == "one" else 4
            for _ in range(under_way):
                assert waiting.acquire(timeout=GENEROUS)
            program.send_signal(2)
            for _ in range(under_way):
                assert waiting.acquire(timeout=GENEROUS)
            assert program.communicate(timeout=GENEROUS) == ("interrupted\n", "")
        finally:
            program.kill()


def test_a_notebook_asks_beside_its_own_event_loop() -> None:
    async def asks() -> object:
        return client(address, GENEROUS).complete({"prompt": "a"})

    with raw(lambda connection: connection.sendall(CLOSING)) as address:
        assert asyncio.run(asks()) == json.loads(ANSWER)
