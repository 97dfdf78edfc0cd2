"""A server for tests, on loopback, that completes texts well or behaves badly in one given way."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests.models.openai.speaking import ChatRefusal, Speech, speak

WINDOW = 400


class Language(Protocol):
    """What is served: a tokenizer and a distribution over what comes next."""

    tokenizer: Tokenizer

    def following(self, ids: tuple[int, ...]) -> NDArray[np.float64]:
        """The log-probability of each token behind some."""
        ...


@dataclass
class Toy:
    """A language in which what comes next depends on every token before it.

    Args:
        tokenizer: Its tokenizer, special tokens included.
        weights: Another number, another language.
    """

    tokenizer: Tokenizer
    weights: int = 0
    rare: NDArray[np.bool_] = field(init=False, repr=False)
    known: dict[tuple[int, ...], NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        size = self.tokenizer.get_vocab_size()
        texts = [self.tokenizer.decode([i], skip_special_tokens=False) for i in range(size)]
        self.rare = np.array(["\ufffd" in text for text in texts])

    def following(self, ids: tuple[int, ...]) -> NDArray[np.float64]:
        """The log-probability of each token behind some."""
        if ids in self.known:
            return self.known[ids]
        seed = hashlib.sha256(repr((self.weights, ids)).encode()).digest()
        random = np.random.default_rng(list(seed[:8]))
        # Parts of characters are rare, as they are in what people write.
        logits = random.normal(0, 3, len(self.rare)) - 30 * self.rare
        self.known[ids] = logits - float(np.logaddexp.reduce(logits))
        return self.known[ids]

    def logprob(self, ids: tuple[int, ...], begin: int) -> float:
        """The summed log-probability of the tokens from ``begin`` on."""
        return sum(float(self.following(ids[:at])[ids[at]]) for at in range(begin, len(ids)))


@dataclass
class Manners:
    """How the server behaves; it is a good one unless told otherwise.

    Args:
        top: The most log-probabilities that it returns; None for as many as are asked for.
        most: Asked for more than so many it refuses, as vLLM and OpenAI do.
        echo: Whether echoed log-probabilities are right, are of the place behind their token, or
            are not there; or whether only the text is echoed.
        zero: What it does when asked for no token: nothing, refuse, go on to its window's end, or
            go on until nobody waits for it any more, with no time for anybody else.
        by_id: Whether it writes tokens by id when asked to.
        form: In which form it gives log-probabilities, if any.
        spaced: Whether it writes the space before a word.
        noise: Nats by which what it says differs from one time to the next.
        failing: The share of requests that fail: with 500, 429 or a body that breaks off.
        stalls: How many requests it answers too late for anybody.
        slow: Seconds that it takes over a request, given how many came before it.
        lists: The status of its list of models.
        key: The key that it wants.
        silent: How often it first says nothing of each prompt's next token.
        dies: After so many completions it only fails.
        counts: Whether it says how many tokens a prompt has.
        reads: What it makes of a prompt before it reads it.
        crosses: Whether two requests that are under way at once get each other's answers.
        speech: How it chats.
    """

    top: int | None = None
    most: int = 1000
    echo: Literal["right", "shifted", "text only", "none"] = "right"
    zero: Literal["right", "refused", "endless", "busy"] = "right"
    by_id: bool = False
    form: Literal["completions", "content", "none"] = "completions"
    spaced: bool = True
    noise: float = 0.0
    failing: float = 0.0
    stalls: int = 0
    slow: Callable[[int], float] | None = None
    lists: int = 200
    key: str | None = None
    silent: int = 0
    dies: int | None = None
    counts: bool = True
    reads: Callable[[str], str] | None = None
    crosses: bool = False
    speech: Speech = field(default_factory=Speech)


@dataclass
class Serving:
    """A server that runs.

    Args:
        address: Its address, with /v1.
        language: What it serves.
        manners: How it behaves; they may be changed while it runs.
        requests: What it was asked.
        statuses: How often it answered with each status, or broke off.
        keys: The header with a key that came with each request, if any.
    """

    address: str
    language: Language
    manners: Manners
    requests: list[dict[str, Any]] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    keys: list[str | None] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    slot: threading.Lock = field(default_factory=threading.Lock)
    waiting: list[tuple[list[dict[str, Any]], threading.Event]] = field(default_factory=list)

    def crossed(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer of another request that is under way, which gets this one; else itself."""
        mine = [answer]
        with self.lock:
            if self.waiting:
                other, met = self.waiting.pop()
                mine[0], other[0] = other[0], mine[0]
                met.set()
                return mine[0]
            own = (mine, threading.Event())
            self.waiting.append(own)
        if not own[1].wait(0.02):
            with self.lock:
                if own in self.waiting:
                    self.waiting.remove(own)
        return mine[0]

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """The requests about one prompt."""
        return [request for request in self.requests if request.get("prompt") == prompt]

    def chats(self, text: str) -> list[dict[str, Any]]:
        """The requests for a reply to one text."""
        return [
            request
            for request in self.requests
            if request.get("messages") == [{"role": "user", "content": text}]
        ]


class Refusal(Exception):  # noqa: N818 - what the server says
    """It will not do it."""


class _Handler(BaseHTTPRequestHandler):
    """One connection to the server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    state: Serving

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Says nothing."""

    def do_GET(self) -> None:
        """Lists the one model."""
        if self._is_let_in():
            models = [{"id": "toy", "max_model_len": WINDOW}]
            self.send(self.state.manners.lists, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """Completes a text."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._is_let_in():
            return
        if self.state.manners.zero != "busy":
            _complete(self.state, body, self)
            return
        with self.state.slot:
            if body.get("max_tokens") == 0:
                self._await_end()
            else:
                _complete(self.state, body, self)

    def _is_let_in(self) -> bool:
        sent = self.headers.get("Authorization")
        self.state.keys.append(sent)
        if self.state.manners.key is None or sent == f"Bearer {self.state.manners.key}":
            return True
        self.send(401, {"error": f"wrong key: {sent}"})
        return False

    def _await_end(self) -> None:
        """Takes until the client hangs up."""
        while self.connection.recv(1, socket.MSG_PEEK):
            time.sleep(0.01)
        self.close_connection = True

    def send(self, status: int, answer: dict[str, Any]) -> None:
        """Sends an answer whole."""
        self._write(status, json.dumps(answer).encode(), broken=False)

    def break_off(self, answer: dict[str, Any]) -> None:
        """Sends half of an answer, and hangs up."""
        self._write(200, json.dumps(answer).encode(), broken=True)
        self.close_connection = True

    def _write(self, status: int, content: bytes, *, broken: bool) -> None:
        with self.state.lock:
            self.state.statuses["broken off" if broken else str(status)] += 1
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if broken else content)


class _Server(ThreadingHTTPServer):
    """Answers many at once, and forgets who waits no longer."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that waits no longer is no error."""


@contextmanager
def serving(language: Language, manners: Manners | None = None) -> Iterator[Serving]:
    """Runs a server for as long as it is needed."""
    state = Serving("", language, manners or Manners())
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": state}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _complete(state: Serving, body: dict[str, Any], handler: _Handler) -> None:
    """Answers one request as the manners have it."""
    manners = state.manners
    with state.lock:
        state.requests.append(body)
        before = len(state.requests) - 1
        name = json.dumps(body, sort_keys=True)
        state.times[name] += 1
        time_of_it = state.times[name]
        stalls = manners.stalls > 0
        manners.stalls -= stalls
    if stalls:
        time.sleep(2.5)
    if manners.slow:
        time.sleep(manners.slow(before))
    if manners.dies is not None and before >= manners.dies:
        handler.send(500, {"error": "out of memory"})
        return
    # Whether it fails depends on what is asked and how often, not on what others ask meanwhile.
    draw = int.from_bytes(hashlib.sha256(f"{name} {time_of_it}".encode()).digest()[:4]) / 2**32
    if draw < manners.failing / 3:
        handler.send(500, {"error": "internal"})
        return
    if draw < 2 * manners.failing / 3:
        handler.send(429, {"error": "too many"})
        return
    try:
        if "messages" in body:
            answer = speak(manners.speech, body, before)
        else:
            answer = answered(state.language, manners, body, time_of_it)
        answer = state.crossed(answer) if manners.crosses else answer
    except (Refusal, ChatRefusal) as refusal:
        handler.send(400, {"error": str(refusal)})
        return
    if draw < manners.failing:
        handler.break_off(answer)
        return
    handler.send(200, answer)


def answered(
    language: Language, manners: Manners, body: dict[str, Any], time_of_it: int
) -> dict[str, Any]:
    """A completion of one prompt."""
    wanted, top = body["max_tokens"], body.get("logprobs")
    if (top or 0) > manners.most:
        raise Refusal(f"logprobs is at most {manners.most}")
    text = manners.reads(body["prompt"]) if manners.reads else body["prompt"]
    prompt = tuple(language.tokenizer.encode(text).ids)
    if not prompt:
        raise Refusal("the prompt is empty")
    if wanted == 0 and (manners.zero == "refused" or not body.get("echo")):
        raise Refusal("max_tokens must be at least 1")
    if wanted == 0 and manners.zero == "endless":
        wanted = WINDOW - len(prompt)
    random = np.random.default_rng([*body["prompt"].encode(), time_of_it])
    ids = prompt
    for _ in range(wanted):
        ids = (*ids, int(random.choice(len(_next(language, ids)), p=np.exp(_next(language, ids)))))
    echoes = bool(body.get("echo")) and manners.echo in {"right", "shifted"}
    begin = 0 if echoes else len(prompt)
    write = _writer(language, manners, body)
    entries = []
    for at in range(begin, len(ids)):
        # As llama-cpp-python has it: the distribution behind the token itself.
        behind = at + 1 if echoes and manners.echo == "shifted" else at
        values = _noisy(_next(language, ids[:behind]), manners, random) if at > 0 else None
        entries.append((ids[at], values))
    if time_of_it <= manners.silent and not body.get("echo"):
        entries = []
    most = min(top or 0, manners.top if manners.top is not None else 1000)
    gives = top is not None and manners.form != "none"
    choice: dict[str, Any] = {
        "index": 0,
        "text": body["prompt"] if body.get("echo") else "",
        "logprobs": _logprobs(entries, most, write, manners) if gives else None,
    }
    usage = {"usage": {"prompt_tokens": len(prompt)}} if manners.counts else {}
    return {"choices": [choice], "model": "toy", **usage}


def _noisy(
    values: NDArray[np.float64], manners: Manners, random: np.random.Generator
) -> NDArray[np.float64]:
    """Log-probabilities that differ a little each time, and still sum to 1."""
    if not manners.noise:
        return values
    values = values + random.normal(0, manners.noise, len(values))
    return values - float(np.logaddexp.reduce(values))


def _next(language: Language, ids: tuple[int, ...]) -> NDArray[np.float64]:
    return language.following(ids)


def _writer(language: Language, manners: Manners, body: dict[str, Any]) -> Callable[[int], str]:
    if manners.by_id and body.get("return_tokens_as_token_ids"):
        return lambda number: f"token_id:{number}"

    def write(number: int) -> str:
        text = spelled(language.tokenizer, number)
        return text if manners.spaced else text.lstrip(" ")

    return write


def spelled(tokenizer: Tokenizer, number: int) -> str:
    """A token's text, with its space."""
    token = str(tokenizer.id_to_token(number))
    return (
        str(tokenizer.decode([number], skip_special_tokens=False))
        if token[0] != "▁"
        else (token.replace("▁", " "))
    )


def _logprobs(
    entries: list[tuple[int, NDArray[np.float64] | None]],
    most: int,
    write: Callable[[int], str],
    manners: Manners,
) -> dict[str, Any]:
    """The log-probabilities of tokens, with the most probable ones and the token itself."""
    tops = [
        {}
        if values is None
        else {int(one): float(values[one]) for one in np.argsort(-values)[:most]}
        for _, values in entries
    ]
    own = [None if values is None else float(values[number]) for number, values in entries]
    if manners.form == "content":
        return {
            "content": [
                {
                    **_object(number, value, write),
                    "top_logprobs": [_object(one, logprob, write) for one, logprob in top.items()],
                }
                for (number, _), value, top in zip(entries, own, tops, strict=True)
            ]
        }
    listed: list[dict[str, float | None] | None] = []
    for (number, values), value, top in zip(entries, own, tops, strict=True):
        # Of those that are written alike, the less probable one overwrites the other.
        written: dict[str, float | None] = {write(one): top[one] for one in top}
        listed.append(None if values is None else {**written, write(number): value} if most else {})
    return {
        "tokens": [write(number) for number, _ in entries],
        "token_logprobs": own,
        "top_logprobs": listed,
    }


def _object(number: int, value: float | None, write: Callable[[int], str]) -> dict[str, Any]:
    return {"id": number, "token": write(number), "logprob": value}
