"""Servers that never end an answer, each at another place, and those that send too much of one."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
import zlib
from typing import TYPE_CHECKING

import pytest

from tacit.errors import NetworkError, ScoringError
from tacit.models.openai import network
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tests.models.openai.raw import raw

if TYPE_CHECKING:
    from collections.abc import Callable

GENEROUS = 10.0
"""Seconds that half a second of time-out may take on a machine that is busy."""

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
ANSWER = b'{"model": "m"}'
WHOLE = OK + b"Content-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)


def client(address: str, timeout: float = 0.5, attempts: int = 1) -> Client:
    """A client that tries as often as said, and waits for nothing between."""
    backoff = Backoff(attempts=attempts, sleep=lambda _: None)
    return Client(address, ServerOptions(timeout=timeout, backoff=backoff), "sk-a-secret-key")


def dripping(begin: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """Sends the beginning, then one drop after the other, each long before a read times out."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(drop)
            time.sleep(0.02)

    return answer


def flooding(begin: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """Sends the beginning, then as much as is taken."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(drop * (1 + 65536 // len(drop)))

    return answer


ENDLESS = {
    "status line": dripping(b"HTTP/1.1 200 ", b"O"),
    "header": dripping(OK + b"X: ", b"x"),
    "103 now and then": dripping(b"", EARLY),
    "chunk's extension": dripping(CHUNKED + b"1;", b"x"),
    "extensions of chunks": dripping(CHUNKED, b"1;name=value\r\n \r\n"),
    "chunks": dripping(CHUNKED, b"1\r\n \r\n"),
    "body": dripping(OK + b"Content-Length: 1000000\r\n\r\n", b" "),
    "trailers": dripping(CHUNKED + b"0\r\n", b"X: y\r\n"),
    "nothing": lambda connection: connection.recv(1) and None,
}


@pytest.mark.parametrize("where", ENDLESS)
def test_an_answer_that_never_ends_is_waited_for_until_the_deadline(where: str) -> None:
    """Wherever it is that it does not end; on a busy machine time runs out while it is sent."""
    begun = time.monotonic()
    with raw(ENDLESS[where]) as address:
        with pytest.raises(
            ScoringError,
            match=r"Timeout: the (response was not complete|request was not fully sent) ",
        ):
            client(address).complete({"prompt": "a"})
        assert time.monotonic() - begun < GENEROUS


FLOODS = {
    "103": (flooding(b"", EARLY), "larger than 1 MiB|was not complete"),
    "extensions of chunks": (flooding(CHUNKED, b"1;" + b"x" * 1000 + b"\r\n \r\n"), "than 1 MiB"),
    "a chunk's extension": (flooding(CHUNKED + b"1;", b"x"), "RemoteProtocolError"),
    "a header": (flooding(OK + b"X: ", b"x"), "RemoteProtocolError"),
    "headers": (flooding(OK, b"X: y\r\n"), "RemoteProtocolError"),
    "trailers": (flooding(CHUNKED + b"0\r\n", b"X: y\r\n"), "RemoteProtocolError"),
    "chunks": (flooding(CHUNKED, b"1\r\n \r\n"), "larger than 1 MiB"),
    "a body": (flooding(OK + b"\r\n", b" "), "larger than 1 MiB, so it is not a completion"),
}


@pytest.mark.parametrize("what", FLOODS)
def test_an_answer_that_is_too_large_is_hung_up_on(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what comes from the network, headers and the forms of chunks included."""
    monkeypatch.setattr(network, "LARGEST", 1 << 20)
    answer, said = FLOODS[what]
    with raw(answer) as address, pytest.raises(ScoringError, match=said):
        client(address, timeout=GENEROUS).complete({"prompt": "a"})


def empty_blocks(connection: socket.socket) -> None:
    """Sends gzip that never has any content."""
    packing = zlib.compressobj(wbits=31)
    connection.sendall(OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        packed = packing.flush(zlib.Z_FULL_FLUSH) or b"\0\0\0\xff\xff"
        connection.sendall(b"%x\r\n%s\r\n" % (len(packed), packed))
        time.sleep(0.01)


def compressed(content: bytes, encoding: bytes) -> Callable[[socket.socket], None]:
    """Sends what is compressed already."""
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (encoding, len(content))
    return lambda connection: connection.sendall(OK + head + content)


BOMB = gzip.compress(b" " * (128 << 20), 1)
COMPRESSED = {
    "empty blocks": (empty_blocks, "gzip"),
    "a bomb": (compressed(BOMB, b"gzip"), "gzip"),
    "gzip in gzip": (compressed(gzip.compress(BOMB), b"gzip, gzip"), "gzip, gzip"),
    "an answer": (compressed(gzip.compress(ANSWER), b"gzip"), "gzip"),
    "no encoding that there is": (compressed(ANSWER, b"sk-a-secret-key"), r"\[key\]"),
}


@pytest.mark.parametrize("what", COMPRESSED)
def test_a_compressed_answer_is_refused_unread(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, as the server would do it again; nothing is ever decompressed."""
    monkeypatch.setattr(zlib, "decompressobj", lambda *_: pytest.fail("decompressed"))
    connections = []
    answer, named = COMPRESSED[what]

    def counted(connection: socket.socket) -> None:
        connections.append(1)
        answer(connection)

    with (
        raw(counted) as address,
        pytest.raises(
            ScoringError, match=rf"compresses its responses \({named}\).*turn off compression"
        ),
    ):
        client(address, attempts=3).complete({"prompt": "a"})
    assert len(connections) == 1


def test_a_compressed_error_is_asked_again() -> None:
    """A gateway may compress what it says of a server that is gone for now."""
    tries = []

    def answer(connection: socket.socket) -> None:
        tries.append(1)
        head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx"
        connection.sendall(head if len(tries) < 3 else WHOLE)

    with raw(answer) as address:
        assert client(address, 5.0, attempts=3).complete({"prompt": "a"}) == {"model": "m"}


def test_identity_is_asked_for_and_taken() -> None:
    """A server that names it as an encoding says nothing else."""
    heads = []

    def answer(connection: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        heads.append(head.lower())
        connection.sendall(WHOLE.replace(b"\r\n", b"\r\nContent-Encoding: Identity\r\n", 1))

    with raw(answer, reads=False) as address:
        assert client(address, 5.0).models() == []
    assert b"\r\naccept-encoding: identity\r\n" in heads[0]


@pytest.mark.slow
def test_a_server_that_never_takes_up_tls_is_given_up() -> None:
    """The deadline is of the connection as well."""
    begun = time.monotonic()
    with raw(lambda _: time.sleep(2), reads=False) as address:
        with pytest.raises(NetworkError, match=r"ConnectTimeout: no TLS connection after 0\.5 s"):
            client(address.replace("http:", "https:")).models()
        assert time.monotonic() - begun < GENEROUS


def test_tls_that_drips_is_given_up() -> None:
    """A handshake of one byte now and then."""
    record = b"\x16\x03\x03\x40\x00"
    with (
        raw(dripping(record, b"\x02"), reads=False) as address,
        pytest.raises(ScoringError, match=r"ConnectTimeout: no TLS connection after 0\.5 s"),
    ):
        client(address.replace("http:", "https:")).complete({"prompt": "a"})


@pytest.mark.slow
def test_a_request_that_nobody_takes_is_given_up() -> None:
    """The server reads some of it now and then, and the deadline is of all."""

    def answer(connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        while connection.recv(1000):
            time.sleep(0.02)

    with (
        raw(answer, reads=False) as address,
        pytest.raises(
            ScoringError, match=r"WriteTimeout: the request was not fully sent after 0\.5 s"
        ),
    ):
        client(address).complete({"prompt": "a" * (64 << 20)})


def test_a_name_that_is_looked_up_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own look-up has no time-out; its thread keeps nobody."""
    known, real = threading.Event(), socket.getaddrinfo

    def slow(_: str, *more: object, **named: object) -> object:
        known.wait(GENEROUS)
        return real("127.0.0.1", *more, **named)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    begun = time.monotonic()
    with pytest.raises(NetworkError, match=r"ConnectTimeout: no connection after 0\.5 s"):
        client("http://some.test:9/v1").models()
    assert time.monotonic() - begun < GENEROUS
    waiting = [thread for thread in threading.enumerate() if thread.name == "look up a name"]
    assert waiting
    assert all(thread.daemon for thread in waiting)
    known.set()


def test_each_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one may be of a machine, or a family, that does not answer."""
    with raw(lambda connection: connection.sendall(WHOLE)) as address:
        port = int(address.rpartition(":")[2].removesuffix("/v1"))
        silent = socket.create_server(("127.0.0.1", 0))
        places = (silent.getsockname(), ("127.0.0.1", port))
        silent.close()
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        assert client("http://some.test/v1", 5.0).complete({}) == {"model": "m"}


def test_connections_are_used_again_and_broken_ones_are_not() -> None:
    """What a server closed meanwhile is opened anew."""
    opened, answers = [], [2, 1, 1]

    def answer(connection: socket.socket) -> None:
        opened.append(1)
        for _ in range(answers[len(opened) - 1]):
            read = b""
            while b"}" not in read:
                read += connection.recv(65536)
            connection.sendall(WHOLE)

    with raw(answer, reads=False) as address:
        asked = client(address, 5.0)
        for _ in range(4):
            assert asked.complete({"prompt": "a"}) == {"model": "m"}
            time.sleep(0.05)
    assert len(opened) == 3


INTERRUPTED = """
import signal, sys, threading
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.options import Backoff
from tacit.models.openai.client import Client

client = Client(sys.argv[1], ServerOptions(timeout=600.0, backoff=Backoff(sleep=lambda _: None)))
main = threading.main_thread().ident
threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT)).start()
try:
    client.at_once(lambda n: [client.complete({"prompt": "a"}) for _ in range(9)], range(20), 4)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_who_interrupts_does_not_wait_for_what_is_under_way() -> None:
    """The program ends as well, though the server would let it wait for ten minutes."""
    with raw(ENDLESS["header"]) as address:
        ran = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, address],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert ran.stdout == "interrupted\n"


def test_after_an_interruption_the_same_client_asks_again() -> None:
    """Its next work is another one; what was under way asks for nothing else."""
    begun, refused = threading.Event(), list[ScoringError]()
    # The server closes each connection and says so: none is used again while it is closing.
    closing = WHOLE.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    with raw(lambda connection: connection.sendall(closing)) as address:
        asked = client(address, 5.0)

        def work(number: int) -> None:
            if number == 0:
                assert begun.wait(GENEROUS)
                raise KeyboardInterrupt
            begun.set()
            while not refused:
                try:
                    asked.complete({})
                except ScoringError as error:
                    refused.append(error)

        with pytest.raises(KeyboardInterrupt):
            asked.at_once(work, [0, 1], 2)
        assert len(refused) == 1
        assert asked.at_once(lambda _: asked.complete({}), [1], 1) == [json.loads(ANSWER)]
