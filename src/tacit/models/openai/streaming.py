"""A thread pool that processes items continuously and yields results in batches."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

from tacit.errors import UnreliableError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

_MOMENT = 0.05
"""Seconds between two attempts to close the connections of running threads."""


@dataclass(frozen=True, slots=True)
class _Finished(Generic[Result]):
    """The result of one item, and the time at which the item was finished."""

    index: int
    result: Result
    at: float


class Stream(Generic[Item, Result]):
    """A stream of items that several threads process."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        hang_up: Callable[[], None],
        check: Callable[[], None] | None = None,
    ) -> None:
        self.abandoned = self.interrupted = False
        self._work, self._hang_up, self._check = work, hang_up, check
        self._items = enumerate(items)
        self._lock = threading.Lock()
        self._finished: SimpleQueue[_Finished[Result] | None] = SimpleQueue()
        self._waiting: list[tuple[int, Result]] = []
        self._failures: list[BaseException] = []

    def parts(self, several: int, seconds: float) -> Generator[list[tuple[int, Result]]]:
        """Yield batches of pairs of an input item's index and the item's result."""
        threads: list[Future[None]] = []
        with ThreadPoolExecutor(several) as pool:
            try:
                threads.extend(pool.submit(self._carry_out) for _ in range(several))
                yield from self._collected(several, seconds)
            except KeyboardInterrupt:
                self._end(threads)
                self._take(self._arrived(0.0))
                yield from self._part()
                raise
            except BaseException:
                self._end(threads)
                raise
        if self._failures:
            raise next(filter(_is_unreliable, self._failures), self._failures[0])

    def _carry_out(self) -> None:
        """Process items in one thread, and put None in the result queue when the thread ends."""
        try:
            while not self.abandoned:
                with self._lock:
                    taken = next(self._items, None)
                if taken is None:
                    break
                index, item = taken
                result = self._work(item)
                self._finished.put(_Finished(index, result, time.monotonic()))
        except BaseException as error:  # noqa: BLE001 - raised again for the consumer
            self.abandoned = True
            self._failures.append(error)
        finally:
            self._finished.put(None)

    def _collected(self, several: int, seconds: float) -> Generator[list[tuple[int, Result]]]:
        due = math.inf
        while several:
            arrived = self._arrived(due)
            several -= arrived.count(None)
            due = min(due, self._take(arrived) + seconds)
            self._raise_interruption()
            if time.monotonic() >= due:
                self._checked()
                yield from self._part()
                due = math.inf
        self._checked()
        yield from self._part()

    def _take(self, arrived: list[_Finished[Result] | None]) -> float:
        """Store results to yield later; return the finish time of the earliest result."""
        finished = [one for one in arrived if one]
        self._waiting += [(one.index, one.result) for one in finished]
        return min((one.at for one in finished), default=math.inf)

    def _part(self) -> Generator[list[tuple[int, Result]]]:
        """Yield the finished results that are not yet yielded, as one batch."""
        part, self._waiting = self._waiting, []
        if part and not any(map(_is_unreliable, self._failures)):
            yield part

    def _checked(self) -> None:
        """Call the function ``check``, if one was given."""
        if self._check is None:
            return
        try:
            self._check()
        except UnreliableError:
            raise
        except Exception as error:  # noqa: BLE001 - raised after the results are yielded
            self.abandoned, self._check = True, None
            self._failures.append(error)

    def _arrived(self, due: float) -> list[_Finished[Result] | None]:
        """Return the results in the queue; if the queue is empty, wait for one until ``due``."""
        left = min(max(0.0, due - time.monotonic()), threading.TIMEOUT_MAX)
        try:
            first = self._finished.get(timeout=left)
        except Empty:
            return []
        # No other thread takes entries out of the queue.
        return [first, *(self._finished.get() for _ in range(self._finished.qsize()))]

    def _raise_interruption(self) -> None:
        """Raise a stored KeyboardInterrupt or SystemExit without waiting for pending items."""
        for error in self._failures:
            if not isinstance(error, Exception):
                raise error

    def _end(self, threads: list[Future[None]]) -> None:
        """Close the connections of the threads repeatedly until all threads have ended."""
        self.abandoned = self.interrupted = True
        while wait(threads, 0).not_done:
            self._hang_up()
            wait(threads, _MOMENT)


def _is_unreliable(error: BaseException) -> bool:
    return isinstance(error, UnreliableError)
