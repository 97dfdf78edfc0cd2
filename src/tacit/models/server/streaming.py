"""Threads that work on items without a pause, while their results are given in parts."""

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
"""Seconds between two times that a thread that is still under way is hung up on."""


@dataclass(frozen=True, slots=True)
class _Finished(Generic[Result]):
    """A result, and when it was there."""

    index: int
    result: Result
    at: float


class Stream(Generic[Item, Result]):
    """Some items that several threads work on.

    Args:
        work: What is done with each item.
        items: Taken one by one, whenever a thread is free.
        hang_up: Ends the requests under way, so that the threads that wait for them go on.

    ``abandoned`` is set when nothing else is to be begun or tried again, ``interrupted`` when
    nobody waits for what is under way either.
    """

    def __init__(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        hang_up: Callable[[], None],
    ) -> None:
        self.abandoned = self.interrupted = False
        self._work, self._hang_up = work, hang_up
        self._items = enumerate(items)
        self._lock = threading.Lock()
        self._finished: SimpleQueue[_Finished[Result] | None] = SimpleQueue()
        self._failures: list[BaseException] = []

    def parts(self, several: int, seconds: float) -> Generator[list[tuple[int, Result]]]:
        """Yields what was finished since the last part, each result with its item's index.

        No result waits longer than ``seconds`` to be yielded while the consumer asks for parts.
        Where an item fails, no other is begun; those under way are waited for and yielded, unless
        the error says that they cannot be relied on, and then the error is raised. When the
        generator is closed, or a person interrupts, what is under way is hung up on.

        Args:
            several: How many threads.
            seconds: How long results are collected.
        """
        threads: list[Future[None]] = []
        with ThreadPoolExecutor(several) as pool:
            try:
                threads.extend(pool.submit(self._carry_out) for _ in range(several))
                yield from self._collected(several, seconds)
            except BaseException:
                self._end(threads)
                raise
        if self._failures:
            raise self._failures.pop(0)

    def _carry_out(self) -> None:
        """What each thread does; it puts None when it ends."""
        try:
            while not self.abandoned:
                with self._lock:
                    taken = next(self._items, None)
                if taken is None:
                    break
                index, item = taken
                result = self._work(item)
                self._finished.put(_Finished(index, result, time.monotonic()))
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for the results
            self.abandoned = True
            self._failures.append(error)
        finally:
            self._finished.put(None)

    def _collected(self, several: int, seconds: float) -> Generator[list[tuple[int, Result]]]:
        part: list[tuple[int, Result]] = []
        due = math.inf
        while several:
            for one in self._arrived(due):
                if one is None:
                    several -= 1
                    continue
                part.append((one.index, one.result))
                due = min(due, one.at + seconds)
            self._raise_interruption()
            if time.monotonic() >= due:
                yield part
                part, due = [], math.inf
        if part and not any(isinstance(error, UnreliableError) for error in self._failures):
            yield part

    def _arrived(self, due: float) -> list[_Finished[Result] | None]:
        """What has come; waits for something until it is due."""
        left = min(max(0.0, due - time.monotonic()), threading.TIMEOUT_MAX)
        try:
            first = self._finished.get(timeout=left)
        except Empty:
            return []
        # Nobody else takes anything out.
        return [first, *(self._finished.get() for _ in range(self._finished.qsize()))]

    def _raise_interruption(self) -> None:
        """Raises what is no failure of an item, such as KeyboardInterrupt, without waiting."""
        for error in self._failures:
            if not isinstance(error, Exception):
                raise error

    def _end(self, threads: list[Future[None]]) -> None:
        """Hangs up until all threads have ended: one may just be about to begin a request."""
        self.abandoned = self.interrupted = True
        while wait(threads, 0).not_done:
            self._hang_up()
            wait(threads, _MOMENT)
