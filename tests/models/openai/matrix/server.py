"""A server on loopback whose answers a fault may change, from a given request on."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.models.openai.matrix.honest import Answer, Honest
from tests.models.openai.serving import Refusal
from tests.models.openai.speaking import ChatRefusal

NEVER = 10**9


@dataclass(frozen=True)
class Sent:
    """What goes over the wire.

    Args:
        content: The body.
        status: Of the answer.
        headers: Beside the length.
        delay: Seconds before anything is sent.
        ends: What becomes of the connection: it is kept, closed though kept was said, reset before
            anything was sent, or closed in the middle of the body.
    """

    content: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0
    ends: str = "kept"


@dataclass(frozen=True)
class Asked:
    """A request.

    Args:
        body: Its body.
        number: How many came before it since the fault began.
    """

    body: dict[str, Any]
    number: int

    @property
    def is_chat(self) -> bool:
        """Whether it is for a reply in the chat."""
        return "messages" in self.body

    @property
    def text(self) -> str:
        """The prompt, or what the user says."""
        return str(self.body["messages"][-1]["content"] if self.is_chat else self.body["prompt"])

    def about(self, text: str) -> dict[str, Any]:
        """The same request about another text."""
        if self.is_chat:
            before = self.body["messages"][:-1]
            return {**self.body, "messages": [*before, {"role": "user", "content": text}]}
        return {**self.body, "prompt": text}


class Respond(Protocol):
    """How a fault answers; it may keep what it needs between requests."""

    def __call__(self, asked: Asked, server: Server) -> Answer | Sent:
        """An answer, or what is sent as one."""
        ...


@dataclass
class Server:
    """A server that runs.

    Args:
        honest: The model that it serves.
        respond: How it answers once the fault has begun.
        begins: The number of the first request that the fault concerns.
        ends: The number of the first request behind the fault.
        address: With /v1.
    """

    honest: Honest
    respond: Respond | None = None
    begins: int = 0
    ends: int = NEVER * 2
    address: str = ""
    requests: int = 0
    under_way: int = 0
    faulty: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    other: Honest = field(init=False)

    def __post_init__(self) -> None:
        self.other = Honest(self.honest.form, weights=self.honest.weights + 1)

    def begin_after(self, more: int, length: int = NEVER) -> None:
        """Lets the fault begin after so many more requests, for so many."""
        with self.lock:
            self.begins = self.requests + more
            self.ends = self.begins + length

    def answer(self, body: dict[str, Any]) -> Sent:
        """What is sent for a request."""
        with self.lock:
            number, self.requests = self.requests, self.requests + 1
            self.under_way += 1
            begun = self.begins <= number < self.ends and self.respond is not None
            self.faulty += begun
        try:
            if begun and self.respond:
                given = self.respond(Asked(body, number - self.begins), self)
            else:
                given = self.honest.answer(body)
        except (Refusal, ChatRefusal) as refusal:
            given = Sent(json.dumps({"error": {"message": str(refusal)}}).encode(), 400)
        finally:
            with self.lock:
                self.under_way -= 1
        return given if isinstance(given, Sent) else Sent(json.dumps(given).encode())


class _Handler(socketserver.StreamRequestHandler):
    """One connection."""

    disable_nagle_algorithm = True
    state: Server

    def handle(self) -> None:
        """Answers until either side has enough."""
        while (line := self.rfile.readline()).strip():
            method, path, _ = line.decode().split(" ", 2)
            headers = {}
            while (line := self.rfile.readline()).strip():
                name, _, value = line.decode().partition(":")
                headers[name.lower()] = value.strip()
            content = self.rfile.read(int(headers.get("content-length", "0")))
            if method == "GET":
                listed = {"object": "list", "data": [{"id": "toy", "max_model_len": 2048}]}
                sent = Sent(json.dumps(listed if path.endswith("/models") else {}).encode())
            else:
                sent = self.state.answer(json.loads(content))
            if not self._send(sent):
                return

    def _send(self, sent: Sent) -> bool:
        """Whether the connection is kept."""
        time.sleep(sent.delay)
        if sent.ends == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return False
        whole = _framed(sent)
        if sent.ends == "cut":
            self.wfile.write(whole[: -len(sent.content) // 2])
            return False
        self.wfile.write(whole)
        return sent.ends == "kept"


def _framed(sent: Sent) -> bytes:
    """An answer as it stands on the wire."""
    lines = [f"HTTP/1.1 {sent.status} Whatever", f"Content-Length: {len(sent.content)}"]
    lines += [f"{name}: {value}" for name, value in sent.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + sent.content


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that waits no longer is no error."""


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Runs a server for as long as it is needed."""
    listener = _Listener(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": server}))
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.005})
    thread.start()
    server.address = f"http://127.0.0.1:{listener.server_address[1]}/v1"
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
