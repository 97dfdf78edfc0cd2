"""A server on loopback that writes bytes as a test has them, whether they are HTTP or not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Answer = Callable[[socket.socket], None]

PATIENCE = 30.0
"""Seconds after which a connection is hung up on, whatever happens."""


@contextmanager
def raw(answer: Answer, *, reads: bool = True) -> Iterator[str]:
    """The address of a server, with /v1, which does the same with each connection.

    Args:
        answer: Writes what is answered. A client that hangs up ends it.
        reads: Whether a request is read before.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    opened: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def connected(connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with connection, suppress(OSError):
            if reads:
                _read(connection)
            answer(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                opened.append(listener.accept()[0])
                threads.append(threading.Thread(target=connected, args=opened[-1:]))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        for one in (listener, *opened):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (accepting, *threads):
            thread.join(PATIENCE)


def _read(connection: socket.socket) -> bytes:
    """A request, with its body."""
    request = b""
    while b"\r\n\r\n" not in request:
        read = connection.recv(65536)
        if not read:
            raise OSError
        request += read
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    sizes = [int(one.split(b":")[1]) for one in lines if one.startswith(b"content-length:")]
    while len(body) < sum(sizes):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
