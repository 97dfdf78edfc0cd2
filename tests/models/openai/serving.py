"""A server on loopback for tests, whose answers a fault may change from a given request on."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from tests.models.openai import naming, ollama
from tests.models.openai.model import Answer, Language, Manners, Model
from tests.models.openai.raw import raw, read_request
from tests.models.openai.speaking import Refusal

NEVER = 10**9


@dataclass(frozen=True)
class Sent:
    """A response; ``headers`` are those besides the length.

    The connection is kept, reset before anything is sent, closed in the middle of the body, or the
    client waits until it hangs up.
    """

    content: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0
    ends: Literal["kept", "reset", "cut", "never"] = "kept"

    @classmethod
    def of(cls, answer: Answer, **more: Any) -> Sent:  # noqa: ANN401 - its own fields
        return cls(json.dumps(answer).encode(), **more)


@dataclass(frozen=True)
class Asked:
    """A request, and how many came before it since the fault began."""

    body: dict[str, Any]
    number: int

    @property
    def is_chat(self) -> bool:
        return "messages" in self.body

    @property
    def text(self) -> str:
        if self.decides:
            return "\n".join(one["instructions"] for one in self.body["questions"])
        if naming.is_named(self.body):
            return str(naming.prompts_of(self.body))
        return str(self.body["messages"][-1]["content"] if self.is_chat else self.body["prompt"])

    @property
    def decides(self) -> bool:
        return "questions" in self.body

    def each(self, change: Callable[[str], str]) -> dict[str, Any]:
        if not self.decides:
            return self.about(change(self.text) or self.text)
        asked = [
            {**one, "instructions": change(one["instructions"]) or one["instructions"]}
            for one in self.body["questions"]
        ]
        return {**self.body, "questions": asked}

    def about(self, text: str) -> dict[str, Any]:
        if self.decides:
            return self.each(lambda _: text)
        if self.is_chat:
            before = self.body["messages"][:-1]
            return {**self.body, "messages": [*before, {"role": "user", "content": text}]}
        if naming.is_named(self.body):
            prompts = [text for _ in naming.prompts_of(self.body)]
            return naming.with_prompts(self.body, prompts)
        return {**self.body, "prompt": text}


class Respond(Protocol):
    """How a fault answers; it may keep what it needs between requests."""

    def __call__(self, asked: Asked, server: Any) -> Answer | Sent:  # noqa: ANN401 - a Serving
        ...


@dataclass
class Serving(Model):
    """A server that runs."""

    # How it answers between the requests ``begins`` and ``ends``.
    respond: Respond | None = None
    begins: int = 0
    ends: int = 2 * NEVER
    finish: Callable[[Sent], Sent] = lambda sent: sent  # changes whatever is sent
    address: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    keys: list[str | None] = field(default_factory=list)
    under_way: int = 0
    faulty: int = 0
    closed: threading.Event = field(default_factory=threading.Event)

    def begin_after(self, more: int, length: int = NEVER) -> None:
        with self.lock:
            self.begins = len(self.requests) + more
            self.ends = self.begins + length

    def about(self, text: str) -> list[dict[str, Any]]:
        return [body for body in self.requests if Asked(body, 0).text == text]

    def handle(self, connection: socket.socket) -> None:
        """Answer a connection's requests until either side has enough."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (request := read_request(connection)) and self._sends(connection, *request):
            pass

    def _sends(self, connection: socket.socket, head: str, body: bytes) -> bool:
        sent = self.finish(self._response(head, body))
        self.closed.wait(sent.delay)
        with self.lock:
            self.statuses["broken off" if sent.ends == "cut" else str(sent.status)] += 1
        if sent.ends == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if sent.ends == "never":
            connection.recv(1)
            return False
        lines = [f"HTTP/1.1 {sent.status} Whatever", f"Content-Length: {len(sent.content)}"]
        lines += [f"{name}: {value}" for name, value in sent.headers.items()]
        whole = "\r\n".join([*lines, "", ""]).encode() + sent.content
        connection.sendall(whole[: -len(sent.content) // 2] if sent.ends == "cut" else whole)
        return sent.ends == "kept"

    def _response(self, head: str, body: bytes) -> Sent:
        fields = dict(line.partition(": ")[::2] for line in head.split("\r\n")[1:])
        key = {name.lower(): value for name, value in fields.items()}.get("authorization")
        self.keys.append(key)
        if self.manners.key is not None and key != f"Bearer {self.manners.key}":
            return Sent.of({"error": f"wrong key: {key}"}, status=401)
        path = head.split()[1].removeprefix("/v1")
        if head.startswith("GET") and path == ollama.VERSION:
            known = self.manners.ollama
            return Sent.of({"version": "0.33.0"} if known else {}, status=200 if known else 404)
        if head.startswith("GET"):
            listed = {
                "object": "list",
                "data": [{"id": "toy", "max_model_len": self.manners.window}],
            }
            return Sent.of(listed, status=self.manners.lists)
        return self._posted(path, json.loads(body))

    def _posted(self, path: str, asked: dict[str, Any]) -> Sent:
        form, knows_ollama = self.manners.deciding.form, self.manners.ollama
        decides = {None: "", "systemone": "/systemone"}.get(form, "/decisions")
        generates = ollama.GENERATE if knows_ollama else ""
        named = naming.PATHS[self.manners.names]
        if path not in {"/completions", "/chat/completions", decides, generates, *named}:
            return Sent.of({"error": {"message": "no such path"}}, status=404)
        if not asked:
            return Sent.of({"error": {"message": "a field is missing"}}, status=422)
        if path == generates:
            return ollama.as_generated(self._answered(ollama.as_completion(asked)))
        sent = self._answered(asked)
        return ollama.without_logprobs(sent) if knows_ollama and "prompt" in asked else sent

    def _answered(self, body: dict[str, Any]) -> Sent:
        with self.lock:
            number = len(self.requests)
            self.requests.append(body)
            self.under_way += 1
            respond = self.respond if self.begins <= number < self.ends else None
            self.faulty += respond is not None
        try:
            given = respond(Asked(body, number - self.begins), self) if respond else None
            given = self.answer(body) if given is None else given
        except Refusal as refusal:
            given = Sent.of({"error": {"message": str(refusal)}}, status=400)
        finally:
            with self.lock:
                self.under_way -= 1
        return given if isinstance(given, Sent) else Sent.of(given)


S = TypeVar("S", bound=Serving)


@contextmanager
def running(server: S) -> Iterator[S]:
    with raw(server.handle, reads=False) as server.address:
        try:
            yield server
        finally:
            server.closed.set()


@contextmanager
def serving(language: Language, manners: Manners | None = None) -> Iterator[Serving]:
    with running(Serving(language, manners or Manners())) as server:
        yield server
