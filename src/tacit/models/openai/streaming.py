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
        check: Called before results are yielded, and at the end; None checks nothing.

    ``abandoned`` is set when nothing else is to be begun or tried again, ``interrupted`` when
    nobody waits for what is under way either.
    """

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
        """Yields what was finished since the last part, each result with its item's index.

        No result waits longer than ``seconds`` to be yielded while the consumer asks for parts.
        Where an item or the check fails, no other item is begun. The items under way are waited for
        and yielded, and then the error is raised. After an ``UnreliableError`` nothing else is
        yielded. When a person interrupts, or the generator is closed, the requests under way are
        hung up on; an interruption is raised when the finished results have been yielded.

        Args:
            several: How many threads.
            seconds: How long results are collected.
        """
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
        """Keeps results until they are yielded; returns when the first of them was there."""
        finished = [one for one in arrived if one]
        self._waiting += [(one.index, one.result) for one in finished]
        return min((one.at for one in finished), default=math.inf)

    def _part(self) -> Generator[list[tuple[int, Result]]]:
        """Yields the results that were kept, if there are any and they can be relied on."""
        part, self._waiting = self._waiting, []
        if part and not any(map(_is_unreliable, self._failures)):
            yield part

    def _checked(self) -> None:
        """Checks; a failure that says nothing against the results is raised after them."""
        if self._check is None:
            return
        try:
            self._check()
        except UnreliableError:
            raise
        except Exception as error:  # noqa: BLE001 - raised when the results have been yielded
            self.abandoned, self._check = True, None
            self._failures.append(error)

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


def _is_unreliable(error: BaseException) -> bool:
    return isinstance(error, UnreliableError)
