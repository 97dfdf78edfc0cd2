"""HTTP client for a model server, with retries and redaction of the API key."""

from __future__ import annotations

import math
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.english import several
from tacit.errors import MissingPackage, ModelError, NetworkError, ScoringError
from tacit.models.openai.proxies import proxy_for
from tacit.models.openai.redaction import hider, reader
from tacit.models.openai.schema import whole
from tacit.models.openai.streaming import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    import httpx

    from tacit.models.openai.options import ServerOptions

Item = TypeVar("Item")
Result = TypeVar("Result")

_AGAIN = frozenset({408, 425, 429})
_CUT, _READ = 200, 4000
_REFUSES_KEY = frozenset({401, 403})
_NOT_FOUND = 404
_SERVER_FAILS = 500


class RefusalError(ScoringError):
    """The server refuses the request, so a retry would not help."""


class FailureError(ScoringError):
    """One attempt to send a request failed, and a retry may succeed."""

    def __init__(self, message: str, asked: float | None = None) -> None:
        super().__init__(message)
        self.asked = asked


class _Thread(threading.local):
    """Thread-local storage for the ``Stream`` that the current thread processes."""

    stream: Stream[Any, Any] | None = None


class Client:
    """An HTTP client for one server; several threads may share an instance."""

    def __init__(
        self,
        address: str,
        options: ServerOptions,
        key: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx
            import tenacity  # noqa: F401 - needed only at the first request
        except ImportError as error:
            raise MissingPackage(error.name or "httpx", "server") from error
        from tacit.models.openai.network import LARGEST, TooLargeError, Transport

        self.address = address
        self._backoff = options.backoff
        self.limit = options.timeout
        self._timeout = options.patience
        try:
            httpx.URL(address)
        except httpx.InvalidURL as error:
            raise ModelError(
                f"{address[:_CUT]}: this is not a valid address ({error}); expected one such as "
                "http://localhost:8000/v1"
            ) from error
        proxy = None if transport else proxy_for(address)
        secrets = (key, *(proxy.secrets if proxy else ()))
        self.hide = hider(*secrets)
        self._parsed = reader(*secrets)
        self._errors = httpx.HTTPError
        self._timed_out = httpx.TimeoutException
        self._too_large, self._largest = TooLargeError, LARGEST
        self._cannot_connect = (
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.UnsupportedProtocol,
        )
        self._thread = _Thread()
        network = None if transport else Transport(options.concurrency, proxy)
        self._hang_up = network.hang_up if network else lambda: None
        authorized = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(
            # Ask for uncompressed answers: a few compressed bytes could expand to gigabytes.
            headers={"Accept-Encoding": "identity", **authorized},
            timeout=self._timeout,
            transport=transport or network,
            trust_env=False,
        )
        weakref.finalize(self, self._http.close)

    def at_once(
        self, work: Callable[[Item], Result], items: Sequence[Item], several: int
    ) -> list[Result]:
        """Return ``work(item)`` for each item, in order; items are processed concurrently."""
        found: dict[int, Result] = {}
        for part in self.stream(work, items, max(1, min(several, len(items)))):
            found.update(part)
        return [found[index] for index in range(len(items))]

    def stream(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        several: int,
        seconds: float = math.inf,
        check: Callable[[], None] | None = None,
    ) -> Generator[list[tuple[int, Result]]]:
        """Yield batches of results as they arrive; each result is paired with its item's index."""

        def in_stream(item: Item) -> Result:
            self._thread.stream = stream
            return work(item)

        stream = Stream(in_stream, items, self._hang_up, check)
        return stream.parts(several, seconds)

    @property
    def path_hint(self) -> str:
        """A hint for error messages if the address does not end with ``/v1``; otherwise empty."""
        if self.address.rstrip("/").endswith("/v1"):
            return ""
        return f"; is the address {self.address.rstrip('/')}/v1?"

    def models(self, attempts: int | None = None) -> list[dict[str, Any]]:
        """Return the server's list of models (``/models``); empty if there is no list."""
        try:
            answer = self._ask(
                "GET", "/models", None, attempts or self._backoff.attempts, first=True
            )
        except RefusalError:
            return []
        data = answer.get("data")
        found = data if isinstance(data, list) else []
        named = [one for one in found if isinstance(one, dict) and isinstance(one.get("id"), str)]
        return [{**one, "id": whole(one["id"])} for one in named]

    def complete(
        self,
        body: Mapping[str, Any],
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> dict[str, Any]:
        """Return the server's answer to a completions request."""
        return self._ask("POST", "/completions", body, attempts or self._backoff.attempts, timeout)

    def chat(
        self,
        body: Mapping[str, Any],
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> dict[str, Any]:
        """Return the server's answer to a chat request; see ``complete`` for the arguments."""
        path, tries = "/chat/completions", attempts or self._backoff.attempts
        return self._ask("POST", path, body, tries, timeout)

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        attempts: int,
        timeout: float | None = None,
        *,
        first: bool = False,
    ) -> dict[str, Any]:
        """Send a request with retries; if ``first`` is True, do not retry a failed connection."""
        from tenacity import RetryError, Retrying, retry_if_exception_type

        seconds, stream = min(timeout or math.inf, self._timeout), self._thread.stream
        failures: list[FailureError] = []

        def abandoned() -> bool:
            return bool(stream and stream.abandoned)

        def attempt() -> dict[str, Any]:
            if stream and stream.interrupted:
                raise ScoringError(
                    f"{self.address}: the request was not sent because the run was interrupted"
                )
            if failures and abandoned():
                raise failures[-1]
            try:
                return self._answer(method, path, body, seconds, first=first)
            except FailureError as failure:
                failures.append(failure)
                raise

        retrying = Retrying(
            stop=lambda state: state.attempt_number >= attempts or abandoned(),
            wait=self._backoff.seconds,
            sleep=self._backoff.sleep,
            retry=retry_if_exception_type(FailureError),
        )
        try:
            return retrying(attempt)
        except RetryError:
            raise ScoringError(
                f"{self.address}: the server failed {several(len(failures), 'time')}; the last "
                f"failure: {failures[-1]}"
            ) from None

    def _answer(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        seconds: float,
        *,
        first: bool,
    ) -> dict[str, Any]:
        """Send a request once and return the answer."""
        try:
            response, content = self._fetched(method, path, body, seconds)
        except self._errors as error:
            failure = f"{type(error).__name__}: {self._shown(str(error))}"
            if isinstance(error, self._timed_out):
                failure += f" after {seconds:g} s (raise this limit with --timeout)"
            if first and isinstance(error, self._cannot_connect):
                raise NetworkError(
                    f"{self.address}: no server responds ({failure}); is it running?"
                ) from None
            raise FailureError(failure) from None
        return self._read(response, content)

    def _fetched(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float
    ) -> tuple[httpx.Response, bytes]:
        """Return the response and its body; the body is empty if the response is compressed."""
        address = self.address + path
        try:
            with self._http.stream(method, address, json=body, timeout=timeout) as response:
                return response, b"" if _packed(response) else response.read()
        except self._too_large:
            raise ScoringError(
                f"{self.address}: the response is larger than {self._largest >> 20} MiB, so it is "
                "not a completion; does the address point to the OpenAI-compatible API, with /v1?"
            ) from None

    def _read(self, response: httpx.Response, content: bytes) -> dict[str, Any]:
        """Parse the body of a response."""
        status, packed = response.status_code, _packed(response)
        if status in _AGAIN or status >= _SERVER_FAILS:
            asked = _seconds(response.headers.get("retry-after"))
            raise FailureError(f"status {status}: {self._excerpt(content, packed)}", asked)
        if status in _REFUSES_KEY:
            raise ModelError(
                f"{self.address}: the server rejects the API key (status {status}): set "
                "TACIT_API_KEY to a valid key"
            )
        if not response.is_success:
            reason = self._excerpt(content, packed)
            hint = self.path_hint if status == _NOT_FOUND else ""
            raise RefusalError(
                f"{self.address}: the server returned status {status}: {reason}{hint}"
            )
        if packed:
            raise ScoringError(
                f"{self.address}: the server compresses its responses ({self._shown(packed)}) "
                "although the request forbids it (Accept-Encoding: identity): turn off "
                "compression on the server, or on the proxy in front of it"
            )
        try:
            answer = self._parsed(content)
        except (ValueError, RecursionError):
            raise FailureError("the response is truncated or is not JSON") from None
        if not isinstance(answer, dict):
            raise FailureError("the response is not a JSON object")
        return answer

    def _excerpt(self, content: bytes, packed: str) -> str:
        if packed:
            return f"a response compressed with {self._shown(packed)}"
        return self._shown(content.decode(errors="replace"))

    def _shown(self, text: str) -> str:
        """Return the beginning of a server's text on one line, with the API key redacted."""
        line = " ".join(self.hide(text)[:_READ].split())
        return line if len(line) <= _CUT else line[: _CUT - 1] + "…"


def _packed(response: httpx.Response) -> str:
    """Return the compression method of a response; empty if the response is not compressed."""
    named: str = response.headers.get("content-encoding", "").strip()
    return "" if named.lower() == "identity" else named


def _seconds(header: str | None) -> float | None:
    """Return the seconds in a ``Retry-After`` header; None if the header is not a number."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
