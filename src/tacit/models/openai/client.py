"""HTTP client for a model server, with one deadline per request, retries and a hidden API key."""

from __future__ import annotations

import asyncio
import json
import math
import weakref
from base64 import b64encode
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from tacit.english import several
from tacit.errors import MissingPackage, ModelError, NetworkError, ScoringError
from tacit.models.openai.options import ServerOptions, is_this_machine
from tacit.models.openai.schema import whole
from tacit.models.openai.streaming import background, waited

if TYPE_CHECKING:
    import httpx2  # a package of the extra

LARGEST = 64 << 20
"""The maximum size of a response, in bytes."""

HIDDEN = "[key]"
"""The text that replaces the API key."""

_SHORTEST = 8
"""A shorter key, such as ``EMPTY``, may be a word of a reply, and stays there."""

_AGAIN = frozenset({408, 425, 429})
_REFUSES_KEY = frozenset({401, 403})
_NOT_FOUND = 404
_SERVER_FAILS, _NOT_IMPLEMENTED = 500, 501
_ABSENT = frozenset({_NOT_FOUND, 405, _NOT_IMPLEMENTED})
_BRIEFLY = 10.0
"""Seconds within which a server refuses an empty request."""
_BESIDE = "/api/"
"""The beginning of the paths of Ollama's own API, which is not under ``/v1``."""
_SHOWN = 200

Result = TypeVar("Result")


class RefusalError(ScoringError):
    """The server refuses the request, so a retry would not help."""


class FailureError(ScoringError):
    """One attempt to send a request failed, and a retry may succeed."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class Client:
    """An HTTP client for one server; several threads may share an instance."""

    def __init__(
        self,
        address: str,
        options: ServerOptions,
        key: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.address, self.limit = address, options.timeout
        self._backoff = options.backoff
        self._attempts, self._seconds = options.backoff.attempts, options.patience
        self._key = key or ""
        self._http = _http(address, options.concurrency, self._key, transport)
        self._turns = asyncio.Semaphore(options.concurrency)
        self.software = ""
        """What the server calls itself."""
        self.traffic: Counter[str] = Counter()
        """The numbers of requests, and of the tokens that the server counted."""
        closing = weakref.finalize(self, _close, self._http)
        closing.atexit = False

    @property
    def path_hint(self) -> str:
        if self.address.rstrip("/").endswith("/v1"):
            return ""
        return f"; is the address {self.address.rstrip('/')}/v1?"

    def models(self, attempts: int | None = None) -> list[dict[str, Any]]:
        """Return the server's list of models (``/models``); empty if there is no list."""
        try:
            with self.limited(attempts or self._attempts):
                answer = waited(self._ask("GET", "/models", None))
        except RefusalError:
            return []
        data = answer.get("data")
        found = data if isinstance(data, list) else []
        named = [one for one in found if isinstance(one, dict) and isinstance(one.get("id"), str)]
        return [{**one, "id": whole(one["id"])} for one in named]

    @contextmanager
    def limited(self, attempts: int, seconds: float = math.inf) -> Iterator[None]:
        """Limit the attempts and the time of requests that a server may not be able to answer."""
        usual = self._attempts, self._seconds
        self._attempts, self._seconds = attempts, min(seconds, self._seconds)
        try:
            yield
        finally:
            self._attempts, self._seconds = usual

    def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the server's answer to a completions request or, with ``messages``, in a chat."""
        return self.post("/chat/completions" if "messages" in body else "/completions", body)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return waited(self._ask("POST", path, body))

    def get(self, path: str) -> dict[str, Any]:
        with self.limited(1, _BRIEFLY):
            return waited(self._ask("GET", path, None))

    def has(self, path: str) -> bool:
        """Return whether the server has a path, and so refuses a request without any field."""
        return waited(self._status(path)) not in {None, *_ABSENT}

    def hide(self, text: str) -> str:
        """Return a text without the API key, plain or in base64."""
        if not self._key:
            return text
        text = text.replace(self._key, HIDDEN)
        return text.replace(b64encode(self._key.encode()).decode(), HIDDEN)

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        import tenacity

        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._attempts),
            wait=self._backoff.seconds,
            retry=tenacity.retry_if_exception_type(FailureError),
            sleep=asyncio.sleep,
        )
        try:
            return await retrying(self._answer, method, path, body, self._seconds)
        except tenacity.RetryError as error:
            last = error.last_attempt
            raise ScoringError(
                f"{self.address}: the server failed {several(last.attempt_number, 'time')}; the "
                f"last failure: {last.exception()}"
            ) from None

    async def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float
    ) -> dict[str, Any]:
        import httpx2

        try:
            async with self._turns:
                response, content = await _within(seconds, self._exchanged(method, path, body))
        except (TimeoutError, httpx2.HTTPError) as error:
            failure = f"{type(error).__name__}: {self._shown(str(error))}"
            if isinstance(error, TimeoutError):
                failure = (
                    f"no complete response after {seconds:g} s (raise this limit with --timeout)"
                )
            if method == "GET" and isinstance(error, TimeoutError | httpx2.ConnectError):
                raise NetworkError(
                    f"{self.address}: no server responds ({failure}); is it running?"
                ) from None
            raise FailureError(failure) from None
        return self._read(response, content)

    async def _status(self, path: str) -> int | None:
        import httpx2

        try:
            async with self._turns:
                seconds = min(self._seconds, _BRIEFLY)
                response, _ = await _within(seconds, self._exchanged("POST", path, {}))
        except (TimeoutError, httpx2.HTTPError, ScoringError):
            return None
        return None if _is_page(response) else response.status_code

    async def _exchanged(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[httpx2.Response, str]:
        self.traffic["requests"] += 1
        content = bytearray()
        base = self.address
        if path.startswith(_BESIDE):
            base = base.rstrip("/").removesuffix("/v1")
        async with self._http.stream(method, base + path, json=body) as response:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > LARGEST:
                    raise ScoringError(
                        f"{self.address}: the response is larger than {LARGEST >> 20} MiB, so it "
                        "is not a completion; does the address point to the OpenAI-compatible API, "
                        "with /v1?"
                    )
        self.software = self._shown(response.headers.get("server", ""))
        return response, content.decode(errors="replace")

    def _read(self, response: httpx2.Response, content: str) -> dict[str, Any]:
        status = response.status_code
        failure = f"status {status}: {self._shown(content)}"
        fails = status >= _SERVER_FAILS and status != _NOT_IMPLEMENTED
        if status in _AGAIN or fails:
            raise FailureError(failure, _seconds(response.headers.get("retry-after")))
        if status in _REFUSES_KEY:
            raise ModelError(
                f"{self.address}: the server rejects the API key (status {status}): set "
                "TACIT_API_KEY to a valid key"
            )
        if not response.is_success:
            hint = self.path_hint if status == _NOT_FOUND else ""
            raise RefusalError(f"{self.address}: the server returned {failure}{hint}")
        try:
            answer = json.loads(self.hide(content) if len(self._key) >= _SHORTEST else content)
        except (ValueError, RecursionError):
            if _is_page(response):
                raise RefusalError(
                    f"{self.address}: the server returned a web page{self.path_hint}"
                ) from None
            raise FailureError("the response is truncated or is not JSON") from None
        if not isinstance(answer, dict):
            raise FailureError("the response is not a JSON object")
        self.traffic.update(_usage(answer))
        return answer

    def _shown(self, text: str) -> str:
        """Return the beginning of a server's text on one line, without the API key."""
        line = " ".join(self.hide(text).split())
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


async def _within(seconds: float, exchange: Coroutine[Any, Any, Result]) -> Result:
    """Await an exchange; its cancellation spares the clean-up that httpx2 shields."""
    import anyio

    scope = anyio.CancelScope()

    async def scoped() -> Result:
        with scope:
            return await exchange
        raise asyncio.CancelledError

    task = asyncio.ensure_future(scoped())
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(task)
    finally:
        scope.cancel()


def _is_page(response: httpx2.Response) -> bool:
    """Return whether a server found what was requested, and it is a web page."""
    return response.is_success and "html" in response.headers.get("content-type", "")


def _usage(answer: Mapping[str, Any]) -> dict[str, int]:
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    found = {
        "prompt_tokens": counts.get("prompt_tokens", counts.get("input_tokens")),
        "answer_tokens": counts.get("completion_tokens", counts.get("output_tokens")),
    }
    return {name: n for name, n in found.items() if type(n) is int and n >= 0}


def _http(
    address: str, connections: int, key: str, transport: httpx2.AsyncBaseTransport | None
) -> httpx2.AsyncClient:
    """Return a client that uses the proxy of the environment, but not to reach this machine."""
    import httpx2

    try:
        return httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=None,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=connections),
            transport=transport,
            trust_env=not is_this_machine(urlsplit(address).hostname or ""),
            verify=httpx2.create_ssl_context(),
        )
    except (ValueError, httpx2.InvalidURL):
        raise ModelError(
            "the proxy in the environment (HTTP_PROXY, HTTPS_PROXY or ALL_PROXY) is invalid: "
            "expected http://HOST:PORT or socks5://HOST:PORT"
        ) from None
    except ImportError as error:
        raise MissingPackage("socksio", "server") from error


def _close(http: httpx2.AsyncClient) -> None:
    asyncio.run_coroutine_threadsafe(http.aclose(), background())


def _seconds(header: str | None) -> float:
    """Return the seconds in a ``Retry-After`` header; 0 if the header is not a number."""
    try:
        seconds = float(header or "")
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
