"""Threads that work off items, and the background event loop that their requests share."""

from __future__ import annotations

import asyncio
import math
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from tacit.errors import UnreliableError

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Loop(asyncio.SelectorEventLoop):
    async def getaddrinfo(self, *where: Any, **how: Any) -> Any:  # noqa: ANN401 - as the base class
        """Look a name up in a daemon thread, so that a hanging look-up delays no exit."""
        found: Future[Any] = Future()
        found.set_running_or_notify_cancel()  # it is not cancelled, only awaited no longer

        def resolve() -> None:
            try:
                found.set_result(socket.getaddrinfo(*where, **how))
            except (OSError, UnicodeError) as error:
                found.set_exception(OSError(str(error)))

        threading.Thread(target=resolve, daemon=True).start()
        return await asyncio.wrap_future(found)


def background() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process's requests, which runs in a daemon thread."""
    with _starting:
        return _started()


_starting = threading.Lock()


@cache
def _started() -> asyncio.AbstractEventLoop:
    loop = _Loop()
    loop.set_exception_handler(lambda *_: None)  # nobody waits for a cancelled request's error
    threading.Thread(target=loop.run_forever, daemon=True, name="requests to servers").start()
    return loop


_thread = threading.local()


def waited(request: Coroutine[Any, Any, Result]) -> Result:
    """Run a request in the background; an interruption, or its stream's end, cancels it."""
    pending = asyncio.run_coroutine_threadsafe(request, background())
    stream: Stream[Any, Any] | None = getattr(_thread, "stream", None)
    try:
        if stream:
            stream.add(pending)
        return pending.result()
    finally:
        pending.cancel()
        if stream:
            stream.pending.discard(pending)


class Stream(Generic[Item, Result]):
    """Items that several threads work off; the first failure ends all of them."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        concurrency: int,
        seconds: float = math.inf,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.pending: set[Future[Any]] = set()
        self._work, self._items = work, enumerate(items)
        self._concurrency, self._seconds, self._check = concurrency, seconds, check
        self._lock = threading.Lock()
        self._finished: SimpleQueue[tuple[int, Result] | None] = SimpleQueue()
        self._part: list[tuple[int, Result]] = []
        self._due = math.inf
        self._failures: list[BaseException] = []
        self._ended = False

    def parts(self) -> Generator[list[tuple[int, Result]]]:
        """Yield pairs of an item's index and its result, about every ``seconds``.

        After a failure or an interruption, what is finished is still yielded, but not if the
        answers turned out to be unreliable.
        """
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                threads = [pool.submit(self._work_off) for _ in range(self._concurrency)]
                at_work = len(threads)
                while at_work:
                    at_work -= self._collect()
                    if time.monotonic() >= self._due or not at_work:
                        yield from self._checked()
            finally:
                self._end()
        if self._failures:
            raise next(filter(_is_unreliable, self._failures), self._failures[0])

    def add(self, request: Future[Any]) -> None:
        """Add a request under way, which is cancelled when the stream ends."""
        self.pending.add(request)
        if self._ended:
            request.cancel()

    def _work_off(self) -> None:
        """Process items in one thread, and put None in the queue when the thread ends."""
        _thread.stream = self
        try:
            while not self._ended:
                with self._lock:
                    taken = next(self._items, None)
                if taken is None:
                    break
                index, item = taken
                self._finished.put((index, self._work(item)))
        except BaseException as error:  # noqa: BLE001 - raised again for the consumer
            self._fail(error)
        finally:
            self._finished.put(None)

    def _collect(self) -> bool:
        """Wait for a result, at most until a part is due; return whether a thread ended instead."""
        left = min(max(0.0, self._due - time.monotonic()), threading.TIMEOUT_MAX)
        try:
            finished = self._finished.get(timeout=left)
        except Empty:
            return False
        except KeyboardInterrupt as interruption:
            self._fail(interruption)
            return False
        if finished is None:
            return True
        self._part.append(finished)
        self._due = min(self._due, time.monotonic() + self._seconds)
        return False

    def _checked(self) -> Generator[list[tuple[int, Result]]]:
        """Yield the finished results as one part, if the check finds nothing against them."""
        if self._check and not self._failures:
            try:
                self._check()
            except BaseException as error:  # noqa: BLE001 - raised when the results are yielded
                self._fail(error)
        part, self._part, self._due = self._part, [], math.inf
        if part and not any(map(_is_unreliable, self._failures)):
            yield part

    def _fail(self, error: BaseException) -> None:
        self._failures.append(error)
        self._end()

    def _end(self) -> None:
        """Begin nothing more, and cancel the requests under way."""
        self._ended = True
        for request in list(self.pending):
            request.cancel()


def at_once(
    work: Callable[[Item], Result], items: Sequence[Item], concurrency: int
) -> list[Result]:
    """Return ``work(item)`` for each item, in order; items are processed concurrently."""
    found: dict[int, Result] = {}
    for part in Stream(work, items, max(1, min(concurrency, len(items)))).parts():
        found.update(part)
    return [found[index] for index in range(len(items))]


def _is_unreliable(error: BaseException) -> bool:
    return isinstance(error, UnreliableError)
