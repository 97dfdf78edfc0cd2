"""Asks a server over HTTP, again where it fails; no key comes out of here but to the server."""

from __future__ import annotations

import math
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

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
_CUT = 200
_REFUSES_KEY = frozenset({401, 403})
_SERVER_FAILS = 500


class RefusalError(ScoringError):
    """The server says that it will not do what it is asked, however often."""


class FailureError(ScoringError):
    """An attempt failed in a way that another one may not.

    Args:
        message: What went wrong.
        asked: How many seconds the server asked to be left alone for.
    """

    def __init__(self, message: str, asked: float | None = None) -> None:
        super().__init__(message)
        self.asked = asked


class _Thread(threading.local):
    """What a thread is working on; None for one that belongs to no stream."""

    stream: Stream[Any, Any] | None = None


class Client:
    """A connection to one server, which threads may share.

    Args:
        address: The address below which ``/completions`` is.
        options: Time-out, concurrency and back-off.
        key: Sent with each request; None for none.
        transport: In place of the network, for tests.

    ``hide`` gives a text of the server's as a message may show it, without the key. Answers come
    without the key as well, if it has at least ``hiding.SHORTEST`` characters.

    Raises:
        MissingPackage: httpx is not installed, or what a proxy needs.
        ModelError: The address is none, or the environment names a proxy that is none.
    """

    def __init__(
        self,
        address: str,
        options: ServerOptions,
        key: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingPackage("httpx", "server") from error
        from tacit.models.openai.network import LARGEST, TooLargeError, Transport

        self.address = address
        self._backoff = options.backoff
        self._timeout = options.patience
        try:
            httpx.URL(address)
        except httpx.InvalidURL as error:
            raise ModelError(
                f"{address[:_CUT]}: this is no address ({error}); expected one such as "
                "http://localhost:8000/v1"
            ) from error
        proxy = None if transport else proxy_for(address)
        secrets = (key, *(proxy.login or () if proxy else ()))
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
            # Nothing that has to be unpacked: a few bytes could become gigabytes.
            headers={"Accept-Encoding": "identity", **authorized},
            timeout=self._timeout,
            transport=transport or network,
            trust_env=False,
        )
        weakref.finalize(self, self._http.close)

    def at_once(
        self, work: Callable[[Item], Result], items: Sequence[Item], several: int
    ) -> list[Result]:
        """What work makes of each item, in their order, some under way at the same time.

        Where one fails, or a person interrupts, no other is begun and nothing is asked again. A
        person who interrupts does not wait for what is under way: it is hung up on.
        """
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
        """Yields what work makes of the items, as it comes, each result with its item's index.

        While the consumer handles a part, the items behind it are under way; it may use the client
        meanwhile, ``at_once`` included. See ``Stream.parts`` for errors and for closing early.

        Args:
            work: What is done with an item, in one of several threads.
            items: Taken one by one, whenever a thread is free.
            several: How many are under way at the same time.
            seconds: How long results are collected before they are given.
            check: Called before they are given, and at the end; raises where they cannot be relied
                on.
        """

        def in_stream(item: Item) -> Result:
            self._thread.stream = stream
            return work(item)

        stream = Stream(in_stream, items, self._hang_up, check)
        return stream.parts(several, seconds)

    def models(self) -> list[dict[str, Any]]:
        """What the server says of the models that it serves; none where it does not say.

        Raises:
            NetworkError: No server answers at the address.
            ModelError: The key is refused.
            ScoringError: As ``complete``.
        """
        try:
            answer = self._ask("GET", "/models", None, self._backoff.attempts, first=True)
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
        """The server's answer to a request for a completion.

        Args:
            body: The request.
            timeout: Seconds, where it is to be less than the usual ones.
            attempts: How often it is asked at most, in place of the back-off's.

        Raises:
            RefusalError: The server refuses such a request.
            ScoringError: It failed each time.
        """
        return self._ask("POST", "/completions", body, attempts or self._backoff.attempts, timeout)

    def chat(
        self,
        body: Mapping[str, Any],
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> dict[str, Any]:
        """The server's answer to a request for a reply in a chat; otherwise as ``complete``."""
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
        """Asks until there is an answer; ``first`` does not wait for a server that is not there."""
        from tenacity import RetryError, Retrying, retry_if_exception_type

        seconds, stream = min(timeout or math.inf, self._timeout), self._thread.stream
        failures: list[FailureError] = []

        def abandoned() -> bool:
            return bool(stream and stream.abandoned)

        def attempt() -> dict[str, Any]:
            if stream and stream.interrupted:
                raise ScoringError(f"{self.address}: not asked, as the work was interrupted")
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
                f"{self.address}: the server failed {len(failures)} times; "
                f"the last time: {failures[-1]}"
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
        """The answer to one attempt.

        Raises:
            FailureError: It is worth asking again.
        """
        try:
            response, content = self._fetched(method, path, body, seconds)
        except self._errors as error:
            failure = f"{type(error).__name__}: {self._shown(str(error))}"
            if isinstance(error, self._timed_out):
                failure += f" in {seconds:g} s"
                longer = seconds == self._timeout
                failure += " (--timeout lets it take longer)" if longer else ""
            if first and isinstance(error, self._cannot_connect):
                raise NetworkError(
                    f"{self.address}: no server answers there ({failure}); is it started?"
                ) from None
            raise FailureError(failure) from None
        return self._read(response, content)

    def _fetched(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float
    ) -> tuple[httpx.Response, bytes]:
        """What the server sends, whole, within so many seconds; nothing of what is compressed.

        Raises:
            ScoringError: It is larger than any answer.
        """
        address = self.address + path
        try:
            with self._http.stream(method, address, json=body, timeout=timeout) as response:
                return response, b"" if _packed(response) else response.read()
        except self._too_large:
            raise ScoringError(
                f"{self.address}: the server's answer is larger than {self._largest >> 20} MiB, "
                "which no completion is: is the address that of its OpenAI-compatible "
                "interface, with /v1?"
            ) from None

    def _read(self, response: httpx.Response, content: bytes) -> dict[str, Any]:
        """The answer.

        Raises:
            FailureError: It is worth asking again.
        """
        status, packed = response.status_code, _packed(response)
        if status in _AGAIN or status >= _SERVER_FAILS:
            asked = _seconds(response.headers.get("retry-after"))
            raise FailureError(f"status {status}: {self._excerpt(content, packed)}", asked)
        if status in _REFUSES_KEY:
            raise ModelError(
                f"{self.address}: the server refuses the key (status {status}): "
                "set TACIT_API_KEY to one that it takes"
            )
        if not response.is_success:
            reason = self._excerpt(content, packed)
            raise RefusalError(f"{self.address}: the server refuses (status {status}): {reason}")
        if packed:
            raise ScoringError(
                f"{self.address}: the server packs its answers ({self._shown(packed)}) although "
                "it is asked not to (Accept-Encoding: identity): turn its compression off, or "
                "that of the proxy before it"
            )
        try:
            answer = self._parsed(content)
        except (ValueError, RecursionError):
            raise FailureError("an answer that breaks off, or is no JSON") from None
        if not isinstance(answer, dict):
            raise FailureError("an answer that is no JSON object")
        return answer

    def _excerpt(self, content: bytes, packed: str) -> str:
        if packed:
            return f"an answer in {self._shown(packed)}"
        return self._shown(content.decode(errors="replace"))

    def _shown(self, text: str) -> str:
        """The beginning of what a server said, without the key, which some repeat."""
        line = " ".join(self.hide(text).split())
        return line if len(line) <= _CUT else line[: _CUT - 1] + "…"


def _packed(response: httpx.Response) -> str:
    """How an answer is compressed; nothing where it is not."""
    named: str = response.headers.get("content-encoding", "").strip()
    return "" if named.lower() == "identity" else named


def _seconds(header: str | None) -> float | None:
    """The seconds that a ``Retry-After`` names; None for a date or anything else."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
