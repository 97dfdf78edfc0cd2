"""A server on loopback that writes the bytes of a test, whether they are HTTP or not."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Handle = Callable[[socket.socket], None]

PATIENCE = 30.0
"""Seconds after which a connection is closed in any case."""


@contextmanager
def raw(handle: Handle, *, reads: bool = True) -> Iterator[str]:
    """Run a server that does the same with each connection; yield its address, with /v1."""
    listener = socket.create_server(("127.0.0.1", 0))
    opened: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def connected(connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with connection, suppress(OSError):
            if not reads or read_request(connection):
                handle(connection)

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


def read_request(connection: socket.socket) -> tuple[str, bytes] | None:
    """Return the head and the body of the next request; None if the client hung up."""
    request, most = b"", 0
    while len(request) < most or not most:
        read = connection.recv(65536)
        if not read:
            return None
        request += read
        head, end, body = request.partition(b"\r\n\r\n")
        if end and not most:
            fields = head.decode().lower().split("\r\n")
            sizes = [one.partition(":")[2] for one in fields if one.startswith("content-length:")]
            most = len(head + end) + sum(map(int, sizes))
    return head.decode(), body
