"""HTTP transport with one deadline per request and a limit on the size of an answer."""

from __future__ import annotations

import ipaddress
import select
import socket
import ssl
import sys
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from tacit.errors import MissingPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.models.openai.proxies import Proxy

LARGEST = 64 << 20
"""The maximum size of the answer to one request, in bytes."""

_TRANSLATED = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


class TooLargeError(Exception):
    """A server sent more than ``LARGEST`` bytes in answer to one request."""


class Transport(httpx.BaseTransport):
    """A pool of connections to a server, for threads that each send one request at a time."""

    def __init__(self, connections: int, proxy: Proxy | None = None) -> None:
        self._network = _Network()
        self._pool = _pool(self._network, connections, proxy)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response; the same thread must read the body."""
        seconds = request.extensions.get("timeout", {}).get("read")
        self._network.begin(seconds if seconds is not None else threading.TIMEOUT_MAX)
        url = request.url
        with _as_httpx():
            response = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def hang_up(self) -> None:
        """Shut down all open connections, which ends the pending requests of all threads."""
        self._network.hang_up()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@dataclass(slots=True)
class _Budget:
    """The time and the number of bytes that remain for a request."""

    allowed: float
    room: int
    until: float | None = None

    def seconds(self) -> float:
        now = time.monotonic()
        if self.until is None:
            self.until = now + self.allowed
        left = self.until - now
        if left <= 0:
            raise TimeoutError
        return left

    def take(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise TooLargeError


class _Network(httpcore.NetworkBackend):
    """A network back-end with time and size limits for the request of the current thread."""

    def __init__(self) -> None:
        self._thread = threading.local()
        self._open: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._lock = threading.Lock()

    @property
    def budget(self) -> _Budget:
        """The time and the number of bytes that remain for the current thread's request."""
        budget: _Budget = self._thread.budget
        return budget

    def begin(self, seconds: float) -> None:
        """Set the time limit and the size limit of the current thread's next request."""
        self._thread.budget = _Budget(seconds, LARGEST)

    def hang_up(self) -> None:
        with self._lock:
            sockets = list(self._open)
        for one in sockets:
            with suppress(OSError):
                # SSLSocket.shutdown would remove TLS while another thread reads.
                socket.socket.shutdown(one, socket.SHUT_RDWR)

    def track(self, opened: socket.socket) -> None:
        """Register a socket that ``hang_up`` will shut down."""
        with self._lock:
            self._open.add(opened)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the budget applies instead
        local_address: str | None = None,  # noqa: ARG002 - never set
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        with _connecting("no connection"):
            connected = self._connected(_addresses(host, port, self.budget.seconds()))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for option in socket_options or ():
                connected.setsockopt(*option)
        return _Stream(connected, self)

    def _connected(self, addresses: list[Any]) -> socket.socket:
        """Connect to the first address that accepts a connection within the remaining time."""
        failure = OSError("the host name has no address")
        for tried, (family, kind, protocol, _, where) in enumerate(addresses):
            opened = socket.socket(family, kind, protocol)
            self.track(opened)
            try:
                opened.settimeout(self.budget.seconds() / (len(addresses) - tried))
                opened.connect(where)
            except OSError as error:
                opened.close()
                failure = error
            else:
                return opened
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection that obeys the request's time and size limits, not httpcore's timeouts."""

    def __init__(self, connected: socket.socket, network: _Network) -> None:
        self._socket = connected
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        budget = self._network.budget
        try:
            self._socket.settimeout(budget.seconds())
            read = self._socket.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout("the response was not complete") from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error
        budget.take(len(read))
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        rest, budget = memoryview(buffer), self._network.budget
        try:
            while rest:
                self._socket.settimeout(budget.seconds())
                rest = rest[self._socket.send(rest) :]
        except TimeoutError as error:
            raise httpcore.WriteTimeout("the request was not fully sent") from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        with _connecting("no TLS connection"):
            try:
                secured = ssl_context.wrap_socket(
                    self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
                )
                self._socket = secured
                self._network.track(secured)
                secured.settimeout(self._network.budget.seconds())
                secured.do_handshake()  # the timeout covers the whole handshake
            except BaseException:
                self.close()
                raise
        return self

    def close(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> object:
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        return _is_readable(self._socket) if info == "is_readable" else None


def _pool(
    network: _Network, connections: int, proxy: Proxy | None
) -> httpcore.ConnectionPool | httpcore.HTTPProxy | httpcore.SOCKSProxy:
    limits: dict[str, Any] = {
        "ssl_context": httpx.create_ssl_context(),
        "max_connections": connections,
        "max_keepalive_connections": connections,
        "keepalive_expiry": 5.0,
        "network_backend": network,
    }
    if proxy is None:
        return httpcore.ConnectionPool(**limits)
    login = proxy.login and (proxy.login[0].encode(), proxy.login[1].encode())
    address = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target=b"/")
    if proxy.scheme == "http":
        return httpcore.HTTPProxy(proxy_url=address, proxy_auth=login, **limits)
    if find_spec("socksio") is None:
        raise MissingPackage("socksio", "server")
    return httpcore.SOCKSProxy(proxy_url=address, proxy_auth=login, **limits)


def _addresses(host: str, port: int, seconds: float) -> list[Any]:
    """Return the IP addresses of a host."""
    if _is_number(host):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found: Future[list[Any]] = Future()

    def resolve() -> None:
        try:
            found.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.set_exception(OSError(str(error)))

    # getaddrinfo has no timeout; a daemon thread does not delay the exit of the process.
    threading.Thread(target=resolve, daemon=True, name="look up a name").start()
    return found.result(seconds)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_readable(connected: socket.socket) -> bool:
    """Return whether an idle connection has been closed or has received unexpected data."""
    number = connected.fileno()
    if number < 0:
        return True
    if sys.platform == "win32":
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _connecting(late: str) -> Iterator[None]:
    """Translate errors of a connection attempt into httpcore's errors."""
    try:
        yield
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(late) from error
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Translate httpcore's errors into httpx's errors of the same names."""
    try:
        yield
    except _TRANSLATED as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error
